package compose

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// here marks, in what is planted, the line at which it is to be found.
const here = "¦"

// plantedFault is a fault in a stack that has none: new text instead of old.
type plantedFault struct {
	rule, dir, file string
	old, new        string
	at              string            // what is found begins in its line, where new has no mark
	also            string            // other rules that the fault breaks
	beside          map[string]string // more files
}

// planted are one fault for each rule that finds errors or warnings.
var planted = []plantedFault{
	{rule: "SG101", old: "[queue:/data]", new: "[queue:/data\n    " + here + "restart: unless-stopped"},
	{rule: "SG102", old: "init: true", new: here + "inti: true"},
	{rule: "SG103", old: "services:\n", new: "include: [" + here + "gone.yaml]\nservices:\n"},
	{rule: "SG106", old: "    command: [rq, worker, batch]\n", new: "    command: [rq, worker, batch]\n    " + here + "profiles: [batch]\n"},
	{rule: "SG107", file: ConfigName, old: "version: 1\n", new: "version: 1\nservices: {" + here + "gone: {role: worker}}\n"},
	{rule: "SG108", old: "init: true", new: "init: true " + here + "# sg:ignore SG405"},
	{rule: "SG109", file: ConfigName, old: "version: 1\n", new: "version: 1\n" + here + "nope: 1\n"},

	{rule: "SG201", old: "environment: &environment\n      RQ_REDIS_URL: redis://redis:6379/0\n", new: here + "environment: &environment\n"},
	{rule: "SG202", file: "compose.worker.yaml", old: "RQ_REDIS_URL: ${RQ_REDIS_URL:?is the URL of the queue}\n", new: here + "RQ_REDIS_URL: ${RQ_REDIS_URL}\n"},
	{rule: "SG203", old: "      RQ_REDIS_URL: redis://redis:6379/0\n      REDIS_URL: redis://redis:6379/1", new: "      " + here + "RQ_REDIS_URL: ${QUEUE_URL:-redis://cache:6379/0}\n      REDIS_URL: ${QUEUE_URL:-redis://cache:6379/0}"},
	{rule: "SG204", file: "compose.worker.yaml", old: "RQ_REDIS_URL: ${RQ_REDIS_URL:?is the URL of the queue}\n", new: here + "RQ_REDIS_URL: ${RQ_REDIS_URL?is the URL of the queue}\n"},
	{rule: "SG205", old: `RQ_REDIS_WAIT_TIMEOUT_SECONDS: "600"`, new: here + "RQ_REDIS_WAIT_TIMEOUT_SECONDS: soon"},
	{rule: "SG206", old: "STARTGATE_REFUSE_AFTER: 60s\n", new: "STARTGATE_REFUSE_AFTER: 60s\n      " + here + "POSTGRES_USER:\n"},
	{rule: "SG207", old: "STARTGATE_REFUSE_AFTER: 60s\n", new: "STARTGATE_REFUSE_AFTER: 60s\n      " + here + "LEVEL: ${LOGGED}\n    env_file: x.env\n", beside: map[string]string{"x.env": "LOGGED=1\n"}},
	{rule: "SG208", old: "    volumes: [queue:/data]\n", new: "    volumes: [queue:/data]\n    environment:\n      - " + here + "LEVEL=\"info\"\n"},
	{rule: "SG209", old: "STARTGATE_REFUSE_AFTER: 60s\n", new: "STARTGATE_REFUSE_AFTER: 60s\n      " + here + "LEVEL: 010\n"},
	{rule: "SG210", file: "compose.worker.yaml", old: "    environment:\n      RQ_REDIS_URL: ${RQ_REDIS_URL:?is the URL of the queue}\n", new: "    env_file: x.env\n    environment:\n      " + here + "RQ_REDIS_URL: ${RQ_REDIS_URL}\n", also: "SG207", beside: map[string]string{"x.env": "RQ_REDIS_URL=redis://redis.example:6379/0\n"}},
	{rule: "SG211", old: "RQ_REDIS_WAIT_TIMEOUT_SECONDS", new: here + "RQ_REDIS_WAIT_TIMEOUT_SECOND", also: "SG603"},
	{rule: "SG213", old: "    environment: &environment\n", new: "    volumes: [./key:/run/key]\n    environment: &environment\n      OPENTOPOGRAPHY_API_KEY: ${KEY:?m}\n      " + here + "OPENTOPOGRAPHY_API_KEY_FILE: /run/key\n", beside: map[string]string{".env": "KEY=3f9ab27c55d1\n"}},
	{rule: "SG214", old: "STARTGATE_REFUSE_AFTER: 60s\n", new: "STARTGATE_REFUSE_AFTER: 60s\n      " + here + "OPENTOPOGRAPHY_API_KEY_FILE: /run/secrets/key\n"},
	{rule: "SG216", dir: "bullmq", old: `OUTBOX_DISPATCHER_REQUIRED: "true"`, new: here + `OUTBOX_DISPATCHER_REQUIRED: "false"`},

	{rule: "SG301", file: "compose.worker.yaml", old: " REDIS_URL: ${RQ_REDIS_URL:", new: " " + here + "REDIS_URL: ${REDIS_URL:"},
	{rule: "SG302", old: "STARTGATE_REFUSE_AFTER: 60s\n", new: "STARTGATE_REFUSE_AFTER: 60s\n      " + here + "SESSION_REDIS_URL: redis://redis:6379/x\n"},
	{rule: "SG303", old: "STARTGATE_REFUSE_AFTER: 60s\n", new: "STARTGATE_REFUSE_AFTER: 60s\n      " + here + "SESSION_REDIS_URL: redis://localhost:6379/3\n"},
	{rule: "SG304", old: "STARTGATE_REFUSE_AFTER: 60s\n", new: "STARTGATE_REFUSE_AFTER: 60s\n      " + here + "SESSION_REDIS_URL: redis://cache:6379/3\n"},
	{rule: "SG305", old: "STARTGATE_REFUSE_AFTER: 60s\n", new: "STARTGATE_REFUSE_AFTER: 60s\n      " + here + "SESSION_REDIS_URL: redis://:${PASSWORD:?m}@redis:6379/3\n", also: "SG309"},
	{rule: "SG308", old: "services:\n  redis:\n", new: "networks: {back: }\nservices:\n  redis:\n    networks: [back]\n", at: "  rq-worker:"},
	{rule: "SG309", old: "STARTGATE_REFUSE_AFTER: 60s\n", new: "STARTGATE_REFUSE_AFTER: 60s\n      " + here + "SESSION_REDIS_URL: redis://redis:6380/3\n"},

	{rule: "SG401", old: "    command: [rq, worker, batch]\n", new: "    " + here + "entrypoint: [rq, worker, batch]\n", also: "SG503"},
	{rule: "SG402", old: "    build: .\n", new: "    build: .\n    " + here + "entrypoint: [/startgate, --]\n"},
	{rule: "SG403", old: "    command: [rq, worker, batch]\n", new: "    " + here + "entrypoint: sh -c '/startgate -- rq worker batch; true'\n"},
	{rule: "SG404", old: "    command: [rq, worker, batch]\n", new: "    " + here + "command: sh -c 'rq worker batch; true'\n"},
	{rule: "SG406", old: "    command: [rq, worker, batch]\n", new: "    command: [rq, worker, batch]\n    " + here + "entrypoint: []\n", also: "SG503"},
	{rule: "SG407", old: "    command: [rq, worker, batch]\n", new: "    " + here + "command: sh -c 'exec rq worker $STARTGATE_REFUSE_AFTER'\n"},
	{rule: "SG411", old: "    command: [rq, worker, batch]\n", new: "    " + here + "entrypoint: [wait-for-it.sh, \"redis:6379\", --, rq, worker, batch]\n", also: "SG401 SG503"},
	{rule: "SG412", old: "STARTGATE_REFUSE_AFTER: 60s\n", new: "STARTGATE_REFUSE_AFTER: 60s\n      " + here + "STARTGATE_MODE: observe\n"},

	{rule: "SG501", dir: deployment, file: workersAlone, old: "weppcloudr: {condition: service_healthy}", new: here + "weppcloudr: {condition: service_started}"},
	{rule: "SG502", dir: deployment, file: workersAlone, old: "      weppcloudr: {condition: service_healthy}\n  weppcloudr:\n    image: example/weppcloudr:1.4\n    healthcheck: {test: [CMD, curl, -f, \"http://localhost:8050/health\"], start_period: 30s}\n", new: "      " + here + "weppcloudr: {condition: service_healthy}\n  weppcloudr:\n    image: example/weppcloudr:1.4\n"},
	{rule: "SG503", dir: deployment, file: workersAlone, old: "    depends_on:\n      weppcloudr: {condition: service_healthy}\n", new: "", at: "  rq-worker:"},
	{rule: "SG504", old: "test: [CMD, redis-cli, -e, ping]", new: here + "test: [CMD, redis-cli, ping]"},
	{rule: "SG505", old: "\"no\"]", new: "\"no\", --requirepass, \"${PASSWORD:?m}\"]", also: "SG309", at: "test: [CMD, redis-cli, -e"},
	{rule: "SG506", old: "test: [CMD, redis-cli, -e, ping]", new: here + "test: [CMD-SHELL, redis-cli, -e, ping]"},
	{rule: "SG507", old: "test: [CMD, redis-cli, -e, ping]", new: here + "test: redis-cli -e ping || true"},
	{rule: "SG508", file: ConfigName, old: "images:", new: "images:\n  redis: {tools: [sh]}\n#", at: "test: [CMD, redis-cli"},
	{rule: "SG509", old: "  rq-worker: &worker\n    build: .\n", new: "  web: {image: rq-worker, entrypoint: [python3, web.py]}\n\n  " + here + "rq-worker: &worker\n    image: rq-worker\n"},
	{rule: "SG511", old: "    stop_grace_period: 1m", new: "    depends_on:\n      " + here + "redis: {condition: service_healthy, required: false}\n    stop_grace_period: 1m", also: "SG601"},
	{rule: "SG512", old: "    volumes: [queue:/data]\n", new: "    volumes: [queue:/data]\n    " + here + "profiles: [redis]\n"},
	{rule: "SG515", old: "  rq-worker: &worker\n", new: "  migrate: {image: app, " + here + "restart: always}\n  rq-worker: &worker\n    depends_on: {migrate: {condition: service_completed_successfully}}\n"},
	{rule: "SG518", dir: deployment, file: "docker-compose.prod.yml", old: "    command: [rq, worker-pool, --num-workers, \"1\", batch]\n", new: "    command: [rq, worker-pool, --num-workers, \"1\", batch]\n    " + here + "depends_on: {weppcloudr: {condition: service_healthy}}\n"},
	{rule: "SG519", old: "    healthcheck:\n      test: [CMD, redis-cli, -e, ping] # -e fails while Redis loads\n      interval: 5s\n      start_period: 300s\n", new: "", at: "  redis:"},

	{rule: "SG601", dir: deployment, file: "docker-compose.prod.yml", old: "interval: 5s, start_period: 310s", new: here + "interval: 5s, start_period: 30s"},
	{rule: "SG602", old: "      start_period: 300s\n", new: "", at: "healthcheck:"},
	{rule: "SG603", old: "start_period: 640s", new: here + "start_period: 10s"},
	{rule: "SG604", old: "    stop_grace_period: 1m # a worker finishes its job\n", new: "", at: "  rq-worker:"},
	{rule: "SG605", old: "      STARTGATE_REFUSE_AFTER: 60s\n", new: "", at: "restart: unless-stopped\n    stop_grace_period"},
	{rule: "SG606", old: "init: true\n    restart: unless-stopped\n", new: "init: true\n", at: "  rq-worker:"},
	{rule: "SG608", old: `RQ_REDIS_WAIT_TIMEOUT_SECONDS: "600"`, new: here + `RQ_REDIS_WAIT_TIMEOUT_SECONDS: "1"`},

	{rule: "SG701", dir: "bullmq", file: ConfigName, old: "webhook, plugin]", new: "webhook, plugin, " + here + "other]"},
	{rule: "SG702", dir: "bullmq", old: `WORKER_HEALTH_PORT: "9103"`, new: here + `WORKER_HEALTH_PORT: "9102"`, also: "SG216"},
	{rule: "SG703", dir: "celery", old: "      CELERY_HEARTBEAT_FILE: /tmp/celery-heartbeat\n", new: "      CELERY_HEARTBEAT_FILE: /tmp/celery-heartbeat\n      WORKER_HEALTH_PORT: \"9100\"\n      " + here + "WORKER_ADMIN_PORT: \"9100\"\n"},
	{rule: "SG704", dir: "bullmq", old: "  worker-mail:\n", new: "  worker-mail:\n    healthcheck: {" + here + "test: [CMD, curl, -f, \"http://localhost:9999/readyz\"], start_period: 330s}\n"},
	{rule: "SG705", old: "    command: [rq, worker, batch]\n", new: "    command: [rq, worker, batch]\n    " + here + "ports: [\"8000:8000\"]\n"},
	{rule: "SG706", old: "    command: [rq, worker, batch]\n", new: "    command: [rq, worker, batch]\n    " + here + "container_name: batch\n"},
	{rule: "SG707", dir: "celery", old: "  beat:\n", new: "  beat:\n    " + here + "scale: 2\n"},
	{rule: "SG708", old: "    command: [rq, worker, batch]\n", new: "    command: [rq, worker, batch]\n    " + here + "scale: 2\n"},
	{rule: "SG713", dir: "bullmq", old: "  worker-general:\n", new: "  web: {image: web, entrypoint: [node, web.js], environment: {BULLMQ_REDIS_URL: \"redis://redis:6379/0\", " + here + "WORKER_ENABLED: \"true\"}}\n  worker-general:\n"},
	{rule: "SG714", dir: "celery", old: "  worker:\n", new: "  worker:\n    scale: 2\n    " + here + "command: [celery, --app, tasks, worker, -n, w1]\n"},

	{rule: "SG801", old: "STARTGATE_REFUSE_AFTER: 60s\n", new: "STARTGATE_REFUSE_AFTER: 60s\n      " + here + "OPENTOPOGRAPHY_API_KEY: 3f9ab27c55d1\n"},
	{rule: "SG802", old: "STARTGATE_REFUSE_AFTER: 60s\n", new: "STARTGATE_REFUSE_AFTER: 60s\n      " + here + "DATABASE_URL: postgres://app:3f9ab27c@db.example/app\n"},
	{rule: "SG803", old: "    volumes: [queue:/data]\n", new: "    volumes: [queue:/data]\n    " + here + "ports: [\"6379:6379\"]\n", also: "SG804"},
	{rule: "SG804", old: "    volumes: [queue:/data]\n", new: "    volumes: [queue:/data]\n    " + here + "ports: [\"10.0.0.1:6379:6379\"]\n"},
	{rule: "SG805", old: "init: true", new: here + "labels: {api_token: 3f9ab27c55d1}\n    init: true"},
	{rule: "SG807", old: "test: [CMD, redis-cli, -e, ping]", new: here + "test: redis-cli -a $$REDIS_PASSWORD -e ping"},
	{rule: "SG901", old: "\"no\"]", new: "\"no\", " + here + "--maxmemory-policy, allkeys-lru]"},
	{rule: "SG902", old: "--appendonly, \"yes\"", new: "--appendonly, \"no\", " + here + "--save, \"\""},
	{rule: "SG904", old: "image: redis:7", new: here + "image: redis"},
}

const (
	deployment   = "../compose/testdata/deployment"
	workersAlone = "docker-compose.prod.worker.yml"
)

// TestPlantedFaults: each rule finds its fault in a stack of the project, at its
// line, and no other rule finds one.
func TestPlantedFaults(t *testing.T) {
	for _, c := range planted {
		t.Run(c.rule, func(t *testing.T) {
			dir := t.TempDir()
			from := filepath.Join("../examples", c.dir)
			if c.dir == "" {
				from = "../examples/rq"
			}
			if c.dir == deployment {
				from = "testdata/deployment"
			}
			copyStack(t, from, dir)
			file := c.file
			if file == "" {
				file = "compose.yaml"
			}
			text := strings.Replace(read(t, filepath.Join(dir, file)), c.old, c.new, 1)
			if !strings.Contains(text, c.new) {
				t.Fatalf("%q is not in %s", c.old, file)
			}
			store(t, filepath.Join(dir, file), strings.Replace(text, here, "", 1))
			if c.at != "" && file == ConfigName {
				file = "compose.yaml"
				text = read(t, filepath.Join(dir, file))
			}
			before, _, marked := strings.Cut(text, cmp.Or(c.at, here))
			if !marked {
				t.Fatalf("%q is not in %s", c.at, file)
			}
			line := 1 + strings.Count(before, "\n")
			for name, text := range c.beside {
				store(t, filepath.Join(dir, name), text)
			}
			config, found := LoadConfig(filepath.Join(dir, ConfigName))
			if len(found) == 0 {
				r, err := Check(context.Background(), nil, Options{Config: config})
				if err != nil {
					t.Fatal(err)
				}
				found = r.Findings
			}
			there := false
			for _, f := range found {
				there = there || f.Rule == c.rule && f.Position.Line == line && filepath.Base(f.Position.File) == file
				if f.Severity.AtLeast(Warn) && f.Rule != c.rule && !strings.Contains(c.also, f.Rule) {
					t.Errorf("there is also %s at %s: %s", f.Rule, f.Position, f.Message)
				}
			}
			if !there {
				t.Errorf("nothing is found at line %d of %s; all that is found is %+v", line, file, found)
			}
		})
	}
	for _, r := range Rules() {
		if r.Severity != Info && !slices.ContainsFunc(planted, func(c plantedFault) bool { return c.rule == r.ID }) {
			t.Errorf("no fault is planted for %s", r.ID)
		}
	}
}
