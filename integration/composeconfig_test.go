package integration

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	checker "github.com/startgate/startgate/compose"
)

// What docker compose config -q refuses, the checker finds, at its place. What
// an environment that is not here may heal is only a remark.
func TestCheckerFindsWhatComposeRefuses(t *testing.T) {
	program := needCompose(t)
	const web = "services:\n  web:\n    image: x\n"
	for _, c := range []struct{ name, file, want string }{
		{"nothing is wrong", web, ""},

		{"a text with a NUL", web + "    command: \"rq \\0 x\"\n    environment: {A: \"\\0\"}\n", ""},

		{"an unknown service", web + "    depends_on: [gone]\n", "SG102 4:18"},
		{"an unknown service, in the long form", web + "    depends_on: {gone: {condition: service_healthy, required: false}}\n", "SG102 4:18"},
		{"a link to an unknown service", web + "    links: ['gone:alias']\n", "SG102 4:13"},
		{"volumes from an unknown service", web + "    volumes_from: ['gone:ro']\n", "SG102 4:20"},
		{"the network of an unknown service", web + "    network_mode: service:gone\n", "SG102 4:5"},
		{"an unknown network", web + "    networks: [gone]\n", "SG102 4:16"},
		{"an unknown volume", web + "    volumes: ['/a:/b', 'gone:/x']\n", "SG102 4:24"},
		{"an unknown secret", web + "    secrets: [gone]\n", "SG102 4:15"},
		{"an unknown secret of a build", "services:\n  web:\n    build: {context: ., secrets: [gone]}\n", "SG102 3:35"},
		{"an unknown config", web + "    configs: [gone]\n", "SG102 4:15"},
		{"an unknown base", web + "    extends: gone\n", "SG102 4:5"},
		{"a base that the file names as its own", web + "  b: {extends: {file: compose.yaml, service: web}}\n", ""},
		{"a base in a circle of one file", web + "  b: {extends: {file: compose.yaml, service: b}}\n", "SG102 4:7"},
		{"bases in a circle", "services:\n  a: {image: x, extends: b}\n  b: {image: x, extends: a}\n", "SG102 2:17"},
		{"a circle", "services:\n  a: {image: x, depends_on: [b]}\n  b: {image: x, links: [a]}\n", "SG102 3:25"},
		{"a service that needs itself", web + "    depends_on: [web]\n", "SG102 4:18"},

		{"no image", "services:\n  web: {command: a}\n", "SG102 2:3"},
		{"an empty image", "services:\n  web: {image: '${A:-}'}\n", "SG102 2:3"},
		{"a base in a profile", "services:\n  base: {profiles: [a], environment: {A: b}, networks: [gone], depends_on: [gone]}\n  web: {extends: base, image: x, profiles: !reset [], networks: !reset [], depends_on: !reset []}\n", ""},
		{"a circle in a profile", web + "  a: {image: x, profiles: [a], depends_on: [b]}\n  b: {image: x, profiles: [a], depends_on: [a]}\n", ""},
		{"a number below 0 in a profile", "services:\n  web: {image: x}\n  base: {profiles: [a], healthcheck: {test: a, retries: -1}}\n", "SG102 3:48"},
		{"replicas below 0 in a profile", "services:\n  web: {image: x}\n  base: {profiles: [a], deploy: {replicas: -1}}\n", ""},
		{"devices of two kinds in a profile", "services:\n  web: {image: x}\n  base: {profiles: [a], deploy: {resources: {reservations: {devices: [{capabilities: [gpu], count: 1, device_ids: ['0']}]}}}}\n", "SG102 3:71"},
		{"two networks", web + "    network_mode: host\n    networks: [default]\n", "SG102 4:5"},
		{"two containers of one name", web + "    scale: 2\n    container_name: one\n", "SG706 5:5"},
		{"a secret of two sources", web + "secrets:\n  s: {file: a, environment: B}\n", "SG102 5:3"},
		{"a secret of none", web + "secrets:\n  s: {}\n", "SG102 5:3"},

		{"a list for a text", web + "    hostname: [a]\n", "SG102 4:5"},
		{"a mapping for a command", web + "    command: {a: b}\n", "SG102 4:5"},
		{"a number in a list of names", web + "    depends_on: [1]\n", "SG102 4:18"},
		{"a text for a bool", web + "    init: maybe\n", "SG102 4:5"},
		{"a text for a number", web + "    deploy: {replicas: x}\n", "SG102 4:14"},
		{"no port", web + "    ports: ['x:y']\n", "SG102 4:13"},
		{"a duration without a unit", web + "    stop_grace_period: 10\n", "SG102 4:5"},
		{"no duration", web + "    healthcheck: {test: a, interval: soon}\n", "SG102 4:28"},
		{"no size", web + "    mem_limit: lots\n", "SG102 4:5"},
		{"no condition", web + "    depends_on: {a: {condition: ready}}\n  a: {image: x}\n", "SG102 4:22"},
		{"an unknown key", web + "    nope: 1\n", "SG102 4:5"},
		{"a key twice", web + "    image: y\n", "SG102 4:5"},
		{"no YAML", "services:\n\tweb: {}\n", "SG101 2:1"},
		{"a service that is nothing", "services:\n  web:\n", "SG102 2:3"},

		{"a limit of two numbers", web + "    cpus: 1\n    deploy: {resources: {limits: {cpus: '2'}}}\n", "SG102 4:5"},
		{"a limit that the others lack", web + "    mem_limit: 1g\n    deploy: {resources: {limits: {cpus: '2'}}}\n", "SG102 4:5"},
		{"a reservation of two sizes", web + "    mem_reservation: 1g\n    deploy: {resources: {reservations: {memory: 2g}}}\n", "SG102 4:5"},
		{"processes of two numbers", web + "    pids_limit: 5\n    deploy: {resources: {limits: {pids: 6}}}\n", "SG102 4:5"},
		{"limits of one size in other words", web + "    mem_limit: 1g\n    cpus: 0.5\n    deploy: {resources: {limits: {memory: 1024m, cpus: '0.50'}}}\n", ""},
		{"a limit beside a reservation", web + "    mem_limit: 1g\n    deploy: {resources: {reservations: {memory: 1m}}}\n", ""},
		{"a number below 0", web + "    healthcheck: {test: a, retries: -1}\n", "SG102 4:28"},
		{"no number of processors", web + "    deploy: {resources: {limits: {cpus: a}}}\n", "SG102 4:35"},
		{"no size of a mount", web + "    volumes: [{type: tmpfs, target: /a, tmpfs: {size: lots}}]\n", "SG102 4:49"},
		{"a quote that does not end", web + "    command: a \"b\n", "SG102 4:5"},
		{"a host without an address", web + "    extra_hosts: [a]\n", "SG102 4:19"},
		{"hosts by name", web + "    extra_hosts: {a: 127.0.0.1, b: host-gateway}\n", ""},
		{"two Dockerfiles", "services:\n  web:\n    build: {context: ., dockerfile: D, dockerfile_inline: FROM x}\n", "SG102 3:40"},
		{"a build for other platforms", "services:\n  web:\n    platform: linux/amd64\n    build: {context: ., platforms: [linux/arm64]}\n", "SG102 4:25"},
		{"a context that is no service", "services:\n  web:\n    build: {context: ., additional_contexts: {b: service:gone}}\n", "SG102 3:47"},
		{"a context that nobody builds", "services:\n  b: {image: x}\n  web:\n    build: {context: ., additional_contexts: {b: service:b}}\n", "SG102 4:47"},
		{"a context that is a service", "services:\n  b: {build: .}\n  web:\n    build: {context: ., additional_contexts: {b: service:b}}\n", ""},
		{"files for nowhere", web + "    develop: {watch: [{path: ., action: sync}]}\n", "SG102 4:23"},
		{"files of nowhere", web + "    develop: {watch: [{path: '', action: rebuild}]}\n", "SG102 4:24"},
		{"files that are built", web + "    develop: {watch: [{path: ., action: rebuild}]}\n", ""},
		{"devices of two kinds", web + "    deploy: {resources: {reservations: {devices: [{capabilities: [gpu], count: 1, device_ids: ['0']}]}}}\n", "SG102 4:51"},
		{"a volume that others make, and its driver", web + "volumes:\n  v: {external: true, driver: local}\n", "SG102 5:3"},
		{"a volume that others make, and its name", web + "volumes:\n  v: {external: true, name: a}\n", ""},
		{"a secret of a driver alone", web + "secrets:\n  s: {driver: a}\n", "SG102 5:3"},
		{"a secret that nobody makes", web + "secrets:\n  s: {external: false}\n", "SG102 5:3"},

		{"a variable that compose cannot read", web + "    environment: {A: '${A!x}'}\n", "SG102 4:19"},
		{"a variable that does not end", web + "    environment: {A: '${A'}\n", "SG102 4:19"},
		{"a file that is not there", web + "    extends: {file: gone.yaml, service: a}\n", "SG103 4:21"},
		{"an include that is not there", "include: [gone.yaml]\n" + web, "SG103 1:11"},
		{"an env_file that is not there", web + "    env_file: gone.env\n", "SG104 4:5"},
		{"a variable that must be set", "services:\n  web: {image: '${STARTGATE_UNSET:?m}'}\n", "SG105 2:9"},
		{"a variable that must be set, in an extension", "x-a: ${STARTGATE_UNSET?m}\n" + web, "SG105 1:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "compose.yaml")
			if err := os.WriteFile(file, []byte(c.file), 0o666); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(program[0], append(program[1:len(program):len(program)], "--file", file, "config", "--quiet")...)
			cmd.Env = slices.DeleteFunc(os.Environ(), func(e string) bool {
				return strings.HasPrefix(e, "COMPOSE_") || strings.HasPrefix(e, "A=") || strings.HasPrefix(e, "B=")
			})
			if out, err := cmd.CombinedOutput(); (err != nil) != (c.want != "") {
				t.Errorf("compose: %v %s", err, out)
			}
			r, err := checker.Check(context.Background(), []string{file}, checker.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, f := range r.Findings {
				if f.Severity == checker.Error || f.Rule == "SG104" || f.Rule == "SG105" {
					found = append(found, fmt.Sprintf("%s %d:%d", f.Rule, f.Position.Line, f.Position.Column))
				}
			}
			if c.want == "" && len(found) > 0 || c.want != "" && !slices.Contains(found, c.want) {
				t.Errorf("the checker finds %q, want %q", found, c.want)
			}
		})
	}
}
