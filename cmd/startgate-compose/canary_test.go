package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The canary suite is the proof that no value of a compose file is printed. It
// starts the built binary, with a random text somewhere in what it reads, in
// every format. CANARY in these files stands for that text.

// canaryWorker is a stack in which nearly everything is wrong.
const canaryWorker = `services:
  redis:
    image: redis:7
    command: redis-server --requirepass $UNSET_PASSWORD
    ports: ["6379:6379"]
    healthcheck: {test: [CMD, redis-cli, ping], interval: 5s, retries: 3}
  worker:
    image: registry/CANARY:CANARY
    container_name: CANARY
    hostname: CANARY
    command: sh -c "rq worker CANARY --url redis://:CANARY@redis"
    entrypoint: [/startgate, --, CANARY]
    build: {context: ./CANARY, args: {PASSWORD: CANARY, CANARY: x}, labels: {CANARY: CANARY, a: CANARY}}
    labels: {CANARY: CANARY, app.token: CANARY}
    depends_on: [redis]
    user: CANARY
    working_dir: /CANARY
    # CANARY
    healthcheck: {test: "pgrep -f CANARY || exit 1", interval: 5s}
    ports: ["0.0.0.0:9100:9100"]
    volumes: ["./CANARY:/CANARY", "CANARY:/data"]
    environment:
      RQ_REDIS_URL: redis://user:CANARY@CANARY:6379/0
      REDIS_URL: redis://:${PW-CANARY}@redis:63799/x?CANARY=CANARY
      CELERY_BROKER_URL: "redis://:CANARY@localhost:port/0"
      API_TOKEN: CANARY
      DB_PASSWORD: ${DB_PASSWORD:-CANARY}
      REDIS_PASSWORD_FILE: /run/secrets/CANARY
      WORKER_HEALTH_PORT: CANARY
      QUOTED: "'CANARY'"
      aCANARY: CANARY
      ERROR: ${E:?CANARY}
      PLUS: ${E:+CANARY}
`

var canaryPlaces = []struct {
	name  string
	files map[string]string
	env   []string
	args  []string
}{
	{name: "everywhere in a worker", files: map[string]string{"compose.yaml": canaryWorker}},
	{name: "in list forms", files: map[string]string{"compose.yaml": `services:
  worker:
    image: app
    command: [rq, worker, CANARY]
    environment: ["RQ_REDIS_URL=\"redis://:CANARY@redis\"", CANARY, "a=CANARY", "CANARY=x"]
    labels: [CANARY, "x=CANARY"]
    build: {context: ., args: [CANARY, "CANARY=CANARY"]}
    env_file: [CANARY.env]
    secrets: [{source: s, target: CANARY, uid: CANARY}]
    configs: [{source: c, target: CANARY}]
    healthcheck: {test: [CMD-SHELL, CANARY, CANARY]}
secrets: {s: {file: ./CANARY}}
configs: {c: {content: CANARY}}
`}},
	{name: "in malformed YAML", files: map[string]string{"compose.yaml": "services:\n  worker: {image: CANARY\n    CANARY: [CANARY\n"}},
	{name: "in a bad scalar", files: map[string]string{"compose.yaml": "services:\n  worker:\n    image: \"CANARY\n  CANARY: *CANARY\n"}},
	{name: "in an unknown anchor", files: map[string]string{"compose.yaml": "services:\n  worker: *CANARY\n"}},
	{name: "in a bad tag", files: map[string]string{"compose.yaml": "services: !CANARY\n  worker: !!CANARY {image: !<CANARY> x}\n"}},
	{name: "twice", files: map[string]string{"compose.yaml": "services:\n  worker:\n    CANARY: 1\n    CANARY: 2\n"}},
	{name: "as unknown keys", files: map[string]string{"compose.yaml": "CANARY: 1\nservices:\n  worker:\n    image: app\n    CANARY: CANARY\n    deploy: {CANARY: 1}\n    healthcheck: {CANARY: 2}\nvolumes: {v: {CANARY: x}}\n"}},
	{name: "as values of another type", files: map[string]string{"compose.yaml": "services:\n  worker:\n    image: [CANARY]\n    ports: {CANARY: 1}\n    deploy: CANARY\n    restart: {CANARY: CANARY}\n    healthcheck: {retries: CANARY, interval: CANARY, timeout: 1CANARY}\n    stop_grace_period: CANARY\n"}},
	{name: "as what looks like a path", files: map[string]string{"compose.yaml": "services:\n  worker:\n    image: app\n    volumes: [\"configs.CANARY::/x\"]\nconfigs: {c: {content: x}}\n"}},
	{name: "not compose", files: map[string]string{"compose.yaml": "CANARY: CANARY\n"}},
	{name: "no mapping", files: map[string]string{"compose.yaml": "CANARY\n"}},
	{name: "bad interpolation", files: map[string]string{"compose.yaml": "services:\n  worker:\n    image: ${CANARY\n    command: ${1CANARY} $CANARY ${X:?CANARY} ${Y!CANARY}\n"}},
	{name: "services that are no names", files: map[string]string{"compose.yaml": "services:\n  \"CANARY CANARY\": {image: app}\n  worker: {image: app, depends_on: [\"CANARY \"]}\n"}},
	{name: "paths of other files", files: map[string]string{"compose.yaml": "include: [CANARY.yaml, {path: CANARY/compose.yaml}, \"${X:-CANARY}.yaml\", \"$CANARY\"]\nservices:\n  worker:\n    extends: {file: CANARY.yaml, service: CANARY}\n    env_file: [{path: CANARY.env}, \"${X:-CANARY}\", \"$CANARY.env\"]\n"}},
	{name: "paths of other files, partial", args: []string{"--allow-partial"}, files: map[string]string{"compose.yaml": "include: [CANARY.yaml, \"${X:-CANARY}.yaml\"]\nservices:\n  worker:\n    extends: {file: CANARY.yaml, service: CANARY}\n    image: app\n    env_file: [CANARY.env]\n"}},
	{name: "a variable that names a file that is there", env: []string{"WHERE=CANARY"}, files: map[string]string{
		"CANARY.yaml": "services: {other: {image: [x]}}\n", "CANARY.env": "A_PASSWORD=CANARY\nREDIS_URL=redis://:CANARY@x:y/z\n# sg:ignore SG104 -- x\n",
		"compose.yaml": "include: [\"${WHERE}.yaml\"]\nservices:\n  worker:\n    image: app\n    command: rq worker\n    env_file: [\"${WHERE}.env\"]\n",
	}},
	{name: "the same, partial", args: []string{"--allow-partial"}, env: []string{"WHERE=CANARY"}, files: map[string]string{
		"CANARY.yaml": "services: {other: {image: [x]}}\n", "CANARY.env": "A_PASSWORD=CANARY\nREDIS_URL=redis://:CANARY@x:y/z\n# sg:ignore SG104 -- x\n",
		"compose.yaml": "include: [\"${WHERE}.yaml\"]\nservices:\n  worker:\n    image: app\n    command: rq worker\n    env_file: [\"${WHERE}.env\"]\n",
	}},
	{name: "env_files", files: map[string]string{
		"compose.yaml": "services:\n  worker:\n    image: app\n    command: rq worker\n    env_file: [a.env, {path: b.env, format: raw}]\n    environment: {RQ_REDIS_URL: \"${RQ_REDIS_URL}\"}\n",
		"a.env":        "RQ_REDIS_URL=redis://:CANARY@CANARY:1/2\nAPI_TOKEN=\"CANARY\" # CANARY\nCANARY=CANARY\n", "b.env": "CANARY\nREDIS_URL='redis://CANARY'\n",
	}},
	{name: "a malformed env_file", files: map[string]string{
		"compose.yaml": "services:\n  worker:\n    image: app\n    env_file: [a.env]\n", "a.env": "A=\"CANARY\nCANARY CANARY\n${CANARY\n",
	}},
	{name: "the project's .env", files: map[string]string{"compose.yaml": canaryWorker, ".env": "PW=CANARY\nDB_PASSWORD=CANARY\nE=CANARY\nUNSET_PASSWORD=CANARY\nCOMPOSE_FILE=CANARY\n"}, args: []string{"-f", "compose.yaml"}},
	{name: "a malformed .env", files: map[string]string{"compose.yaml": cleanStack, ".env": "PW=\"CANARY\nCANARY CANARY\n"}},
	{name: "the environment", files: map[string]string{"compose.yaml": canaryWorker}, env: []string{"PW=CANARY", "E=CANARY", "DB_PASSWORD=CANARY", "UNSET_PASSWORD=CANARY"}},
	{name: "merged of two files that disagree", args: []string{"-f", "a.yaml", "-f", "b.yaml"}, files: map[string]string{
		"a.yaml": "services:\n  worker: {image: app, command: {CANARY: CANARY}}\n", "b.yaml": "services:\n  worker: {image: app, command: [CANARY], environment: CANARY}\nnetworks: CANARY\n",
	}},
	{name: "a configuration", files: map[string]string{"compose.yaml": canaryWorker, "startgate.compose.yaml": "version: 1\nimages: {CANARY: {env: {A: CANARY}, cmd: [CANARY]}}\nservices: {worker: {role: worker, needs: [redis], drain: 60s}}\n"}},
	{name: "a malformed configuration", files: map[string]string{"compose.yaml": cleanStack, "startgate.compose.yaml": "version: 1\nCANARY: CANARY\nimages: {CANARY: {cmd: CANARY, CANARY: 1}}\nservices: {worker: {role: CANARY, drain: CANARY}}\ncontract: CANARY\n"}},
	{name: "a configuration that is no YAML", files: map[string]string{"compose.yaml": cleanStack, "startgate.compose.yaml": "version: [CANARY\nCANARY: \"\n"}},
	{name: "a configuration's paths", files: map[string]string{"startgate.compose.yaml": "version: 1\ncontract: c.yaml\nstacks: {a: {files: [compose.yaml], external: [CANARY]}}\n", "compose.yaml": canaryWorker, "c.yaml": "contract: 1\nname: CANARY\nkeys: {RQ_REDIS_URL: {type: redis_url, required: true}, API_TOKEN: {enum: [CANARY]}}\n"}},
	{name: "a malformed contract", args: []string{"--contract", "c.yaml"}, files: map[string]string{"compose.yaml": canaryWorker, "c.yaml": "contract: CANARY\nCANARY: [CANARY\n"}},
	{name: "a command", args: []string{"CANARY"}},
	{name: "a flag", args: []string{"--CANARY=CANARY"}},
	{name: "a flag's value", args: []string{"--format", "CANARY"}},
	{name: "another flag's value", args: []string{"--fail-on=CANARY"}},
	{name: "a switch's value", args: []string{"--allow-partial=CANARY"}},
}

// canaryContract judges the stacks that bring none.
const canaryContract = `contract: 1
name: worker
keys:
  RQ_REDIS_URL: {type: redis_url, topic: redis, purpose: queue config, required: true}
  REDIS_URL: {type: redis_url, required: true}
  API_TOKEN: {enum: [a, b]}
  WORKER_HEALTH_PORT: {type: port}
rules:
  - {code: redis_urls_differ, aligned: [RQ_REDIS_URL, REDIS_URL]}
`

func TestCanary(t *testing.T) {
	judged := 0
	for _, place := range canaryPlaces {
		t.Run(place.name, func(t *testing.T) {
			canary := newCanary()
			put := func(s string) string { return strings.ReplaceAll(s, "CANARY", canary) }
			dir := t.TempDir()
			write := func(name, text string) {
				if err := os.WriteFile(dir+"/"+name, []byte(put(text)), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			write("contract.canary.yaml", canaryContract)
			for name, text := range place.files {
				write(put(name), text)
			}
			for _, format := range [...]string{"text", "json", "sarif", "junit", "github"} {
				args := []string{"check", "--fail-on", "info", "--format", format}
				if place.files["c.yaml"] == "" && place.files["startgate.compose.yaml"] == "" {
					args = append(args, "--contract", "contract.canary.yaml")
				}
				for _, arg := range place.args {
					args = append(args, put(arg))
				}
				if len(place.args) == 1 && len(place.files) == 0 && !strings.HasPrefix(place.args[0], "-") {
					args = []string{put(place.args[0])}
				}
				cmd := exec.Command(checker, args...)
				cmd.Dir = dir
				cmd.Env = []string{"PATH=/nowhere"}
				for _, entry := range place.env {
					cmd.Env = append(cmd.Env, put(entry))
				}
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				var exit *exec.ExitError
				if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				if strings.Contains(out.String(), "error internal") {
					t.Errorf("%s: the program panicked", format)
				}
				if found := leaks(out.Bytes(), canary); len(found) > 0 {
					t.Errorf("%s leaks as %v:\n%s", format, found, strings.ReplaceAll(out.String(), canary, "<LEAK>"))
				}
				judged++
			}
		})
	}
	if judged < 100 {
		t.Errorf("%d runs were judged", judged)
	}
}
