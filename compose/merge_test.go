package compose

import (
	"context"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// compareLoader holds the model that files make against the one that
// compose-go's loader makes. It reports whether there was something to compare.
func compareLoader(t *testing.T, files ...string) bool {
	t.Helper()
	s := newStack(files, &Options{})
	var given []*document
	for _, file := range files {
		d, ok := s.read(file, Position{})
		if !ok {
			return false
		}
		s.follow(d, s.dir, nil)
		s.findTwice(d)
		given = append(given, d)
	}
	if s.stuck() {
		return false
	}
	got, ok := merge(given)
	if !ok {
		return false
	}
	want, err := s.loaded(context.Background(), given)
	if err != nil {
		t.Errorf("%v: compose-go says %v", files, err)
	} else if !reflect.DeepEqual(got, want) {
		t.Errorf("%v make\n%v\nwant\n%v", files, got, want)
	}
	return true
}

// TestMergeIsTheLoaders: whatever is merged without compose-go's loader is what
// the loader makes of it. The files are this project's and the loader's own
// ones, each by itself and between others.
func TestMergeIsTheLoaders(t *testing.T) {
	dir := t.TempDir()
	var files []string
	keep := func(text string) {
		file := filepath.Join(dir, itoa(len(files))+".yaml")
		store(t, file, text)
		files = append(files, file)
	}
	for _, r := range Rules() {
		page, _ := Explain(r.ID)
		for _, m := range fence.FindAllStringSubmatch(page, -1) {
			if m[1] == "yaml" {
				keep(m[3])
			}
		}
	}
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/compose-spec/compose-go/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"../examples/*/compose*.yaml", "testdata/*.yaml", "testdata/*/*.yml", strings.TrimSpace(string(module)) + "/*/testdata/*.y*ml", strings.TrimSpace(string(module)) + "/*/testdata/*/*.y*ml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		files = append(files, found...)
	}
	short, long := filepath.Join(dir, "short"), filepath.Join(dir, "long")
	store(t, short, shortForms)
	store(t, long, longForms)
	for _, stack := range [][]string{{short}, {long}, {short, long}, {long, short}, {long, long}} {
		if !compareLoader(t, stack...) {
			t.Errorf("%v are left to the loader", stack)
		}
	}
	empty := filepath.Join(dir, "empty")
	store(t, empty, "services:\n")
	if compareLoader(t, short, empty) {
		t.Error("services that are none are merged, and compose-go refuses them")
	}
	compared := 0
	for _, file := range files {
		for _, stack := range [][]string{{file}, {short, file}, {file, long, short}} {
			if compareLoader(t, stack...) {
				compared++
			}
		}
	}
	if compared < len(files) {
		t.Errorf("of %d files %d stacks are compared", len(files), compared)
	}
}

// shortForms has each short form of the Compose specification.
const shortForms = `services:
  worker:
    build: .
    command: [rq, worker]
    depends_on: [redis, redis]
    networks: [a, b]
    env_file: a.env
    label_file: labels
    ports: ["80:80", "127.0.0.1:9000-9002:9000-9002/udp", 443]
    expose: [80, "81"]
    volumes: [data:/data, ./x:/x:ro, /y]
    secrets: [token]
    configs: [token]
    environment: [A=1, B, A=2]
    labels: [a=b, a=c]
    dns: 1.1.1.1
    dns_search: [a, ""]
    devices: [/dev/a:/dev/b]
    ulimits: {nofile: 10, nproc: {soft: 1, hard: 2}}
    gpus: all
    tmpfs: /t
    extra_hosts: ["a:1.1.1.1"]
    sysctls: [a=1]
    profiles: [a, a]
    models: [m]
    healthcheck: {test: [CMD, a, a]}
    logging: {driver: json-file, options: {a: b}}
    deploy: {labels: [a=b, a=c], replicas: 2}
    develop: {watch: [{path: ., action: sync, target: /x, ignore: a}]}
    pre_start: [{command: a, env_file: b.env, volumes: [x:/x]}]
  redis: {}
  web: {build: {context: ., args: [A=1, A=2], secrets: [token], ssh: [default], ulimits: {nofile: 3}, additional_contexts: [a=b]}}
networks: {a: , b: {external: true}}
volumes: {data: }
secrets: {token: {file: ./token}}
x-more: {services: {a: {ports: [1]}}}
`

// longForms is the same in the long ones, with other values.
const longForms = `services:
  worker:
    build: {context: ., dockerfile: D}
    command: rq worker other
    depends_on: {redis: {condition: service_healthy}}
    networks: {a: {aliases: [x, x]}}
    env_file: [{path: a.env, required: false}, b.env]
    ports: [{target: 80, published: "80"}]
    volumes: [{type: bind, source: ./z, target: /x}]
    secrets: [{source: token, target: /t}]
    environment: {A: 3, B: null, C: 1.10, D: 0x1F, E: 2024-01-01, F: "${F:-x}"}
    labels: {a: d}
    dns: [8.8.8.8]
    ulimits: {nofile: {soft: 3, hard: 4}}
    healthcheck: {test: a, interval: 3s}
    logging: {driver: syslog}
  web: &web {image: web, build: {args: {A: 3}}, <<: {init: true}}
  other: {<<: [*web, {image: other, user: me}], user: you}
secrets: {token: {environment: A}}
---
services: {worker: {environment: {G: "1"}, entrypoint: [], command: ""}}
`
