package compose

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

// soundStack is a stack in which nothing is found. The tests of the rules about
// budgets, the fleet, secrets and the broker change it.
const soundStack = `services:
  redis:
    image: redis:7
    command: [redis-server, --appendonly, "yes", --maxmemory-policy, noeviction]
    volumes: [queue:/data]
    restart: unless-stopped
    healthcheck:
      test: [CMD, redis-cli, -e, ping]
      interval: 5s
      start_period: 300s
  worker:
    image: app
    entrypoint: [/startgate, --]
    command: [rq, worker, default]
    init: true
    restart: unless-stopped
    stop_grace_period: 1m
    environment:
      RQ_REDIS_URL: redis://redis:6379/0
      STARTGATE_REFUSE_AFTER: 60s
    depends_on:
      redis: {condition: service_healthy}
    healthcheck:
      test: [CMD, /startgate, health]
      start_period: 330s
volumes:
  queue:
`

// stackCase is a change of soundStack, and what is found then.
type stackCase struct {
	name     string
	change   []string          // old and new, one after the other
	files    map[string]string // beside compose.yaml; every .yaml among them is one of the stack's
	config   string            // of startgate.compose.yaml, without its version
	contract string            // pageContract when it is empty, none for none
	environ  []string
	want     string // rule, severity and path of each finding of the family, by lines
}

// run holds the changed stack against all rules and compares what those find
// whose identifiers start with family.
func (c stackCase) run(t *testing.T, family string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, old := range slices.Collect(slices.Chunk(c.change, 2)) {
		if !strings.Contains(soundStack, old[0]) {
			t.Fatalf("the stack has no %q", old[0])
		}
	}
	stack := strings.NewReplacer(c.change...).Replace(soundStack)
	names := []string{"compose.yaml"}
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("compose.yaml", stack)
	for _, name := range sortedKeys(c.files) {
		write(name, c.files[name])
		if filepath.Ext(name) == ".yaml" {
			names = append(names, name)
		}
	}
	o := Options{Environ: c.environ}
	if c.config != "" {
		write(ConfigName, "version: 1\n"+c.config)
		config, found := LoadConfig(ConfigName)
		if len(found) > 0 {
			t.Fatalf("the configuration: %v", found)
		}
		o.Config = config
		if len(config.Stacks) > 0 {
			names = nil
		}
	}
	if c.contract == "" {
		c.contract = pageContract
	}
	if c.contract != "none" {
		contract, faults := envcheck.Load(strings.NewReader(c.contract))
		if len(faults) > 0 {
			t.Fatalf("the contract: %v", faults)
		}
		o.Contract = contract
	}
	r, err := Check(context.Background(), names, o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.Findings {
		if f.Unjudged {
			t.Errorf("not judged: %v", f)
		}
		if strings.HasPrefix(f.Rule, family) {
			got = append(got, f.Rule+" "+string(f.Severity)+" "+f.Path)
		}
		if f.Position.Line == 0 {
			t.Errorf("%s has no line", f.Rule)
		}
	}
	if got := strings.Join(got, "\n"); got != c.want {
		t.Errorf("found\n%s\nwant\n%s", got, c.want)
	}
}

func runCases(t *testing.T, family string, cases []stackCase) {
	for _, c := range append(cases, stackCase{name: "nothing is wrong"}) {
		t.Run(c.name, func(t *testing.T) { c.run(t, family) })
	}
}

const (
	brokerTimes = "      interval: 5s\n      start_period: 300s\n"
	workerTimes = "      start_period: 330s\n"
	refuseAfter = "      STARTGATE_REFUSE_AFTER: 60s\n"
	workerStart = "    restart: unless-stopped\n    stop_grace_period: 1m\n"
	throughGate = "    entrypoint: [/startgate, --]\n"
)

// settingsContract has keys that steer the gate.
const settingsContract = `contract: 1
name: worker
keys:
  RQ_REDIS_URL: {type: redis_url}
  WAIT: {type: seconds, default: "60"}
  PAUSE: {type: seconds, default: "1"}
settings: {timeout: WAIT, interval_max: PAUSE}
`

func TestBudgetRules(t *testing.T) {
	short := "      interval: 10s\n      retries: 5\n      start_period: 5s\n"
	runCases(t, "SG6", []stackCase{
		{name: "a window that is too short", change: []string{brokerTimes, short},
			want: "SG601 warning services.redis.healthcheck.start_period"},
		{name: "for a budget that is short as well", change: []string{brokerTimes, short, refuseAfter, refuseAfter + "      STARTGATE_TIMEOUT: 50\n"}},
		{name: "a budget that a flag sets", change: []string{brokerTimes, short, "[/startgate, --]", "[/startgate, --timeout=50s, --]"}},
		{name: "a budget that a flag sets, in two words", change: []string{brokerTimes, short, "[/startgate, --]", "/startgate run --timeout 50s --"}},
		{name: "a budget that a flag sets, behind an init", change: []string{brokerTimes, short, "[/startgate, --]", "[tini, --, /startgate, --timeout=50s, --]"}},
		{name: "a budget that a flag sets, in a shell", change: []string{brokerTimes, short, throughGate, "", rqCommand, "sh -c 'exec /startgate --timeout 50s -- rq worker'"}},
		{name: "a budget that a flag sets, of a gate that only waits", change: []string{brokerTimes, short, throughGate, "", rqCommand, "sh -c '/startgate wait --timeout=50s && exec rq worker'"}},
		{name: "a budget of the deployment", change: []string{brokerTimes, short, refuseAfter, refuseAfter + "      STARTGATE_TIMEOUT: ${BUDGET:?}\n"}},
		{name: "a budget that this environment has", change: []string{brokerTimes, short, refuseAfter, refuseAfter + "      STARTGATE_TIMEOUT: ${BUDGET:?}\n"},
			environ: []string{"BUDGET=500s"}, want: "SG601 warning services.redis.healthcheck.start_period\nSG603 warning services.worker.healthcheck.start_period"},
		{name: "a budget in a file that is not here", change: []string{brokerTimes, short, throughGate, throughGate + "    env_file: secret.env\n"}},
		{name: "a budget in a file", change: []string{brokerTimes, short, throughGate, throughGate + "    env_file: w.env\n"},
			files: map[string]string{"w.env": "STARTGATE_TIMEOUT=50\n"}},
		{name: "the contract's budget", change: []string{brokerTimes, short}, contract: settingsContract,
			want: "SG601 warning services.redis.healthcheck.start_period"},
		{name: "the contract's budget, shorter", change: []string{brokerTimes, short, refuseAfter, refuseAfter + "      WAIT: 40\n"}, contract: settingsContract},
		{name: "who waits only for the start", change: []string{brokerTimes, short, "{condition: service_healthy}", "{condition: service_started}"}},
		{name: "a variable in the times", change: []string{brokerTimes, "      start_period: ${START:?}\n"}},
		{name: "a default in the times", change: []string{brokerTimes, "      interval: 5s\n      start_period: ${START:-20s}\n"},
			want: "SG601 warning services.redis.healthcheck.start_period"},
		{name: "a second file that gives the time", change: []string{brokerTimes, short},
			files: map[string]string{"over.yaml": "services: {redis: {healthcheck: {start_period: 10m}}}"}},
		{name: "no gate, no budget", change: []string{brokerTimes, short, throughGate, ""}, contract: "none"},
		{name: "a load time", change: []string{brokerTimes, "      start_period: 60s\n"}, config: "services: {redis: {load_time: 120s}}",
			want: ""}, // 60 s and 3 times 30 s
		{name: "a load time that is longer", change: []string{brokerTimes, "      start_period: 60s\n"}, config: "services: {redis: {load_time: 200s}}",
			want: "SG601 error services.redis.healthcheck.start_period"},
		{name: "a load time without start_period", change: []string{brokerTimes, "      interval: 5s\n"}, config: "services: {redis: {load_time: 200s}}",
			want: "SG601 error services.redis.healthcheck"},
		{name: "a load time beyond the budget", change: []string{brokerTimes, "      start_period: 20m\n"}, config: "services: {redis: {load_time: 10m}}",
			want: "SG601 warning services.worker"},

		{name: "no start_period", change: []string{brokerTimes, "      interval: 5s\n"}, want: "SG602 warning services.redis.healthcheck"},
		{name: "a start_period of nothing", change: []string{brokerTimes, "      start_period: 0s\n"}, want: "SG602 warning services.redis.healthcheck"},
		{name: "no start_period, many retries", change: []string{brokerTimes, "      interval: 5s\n      retries: 60\n"}},
		{name: "a cache", change: []string{brokerTimes, "      interval: 5s\n", "redis://redis:6379/0", "redis://elsewhere.example/0"}},
		{name: "a disabled check", change: []string{brokerTimes, "      disable: true\n"}},
		{name: "the image's own check", change: []string{"      test: [CMD, redis-cli, -e, ping]\n" + brokerTimes, "      interval: 5s\n"}},

		{name: "the worker's check counts too early", change: []string{workerTimes, "      start_period: 200s\n"},
			want: "SG603 warning services.worker.healthcheck.start_period"},
		{name: "no start_period of the worker's check", change: []string{workerTimes, "      timeout: 2s\n"}, want: "SG603 warning services.worker.healthcheck"},
		{name: "a delay", change: []string{refuseAfter, refuseAfter + "      STARTGATE_DELAY: 3m\n"}, want: "SG603 warning services.worker.healthcheck.start_period"},
		{name: "an unknown delay", change: []string{refuseAfter, refuseAfter + "      STARTGATE_DELAY: ${DELAY}\n", workerTimes, ""}},
		{name: "a check of liveness", change: []string{workerTimes, "", "/startgate, health]", "/startgate, health, --liveness]"}},
		{name: "a check of liveness, in a string", change: []string{workerTimes, "", "[CMD, /startgate, health]", "/startgate health --liveness"}},
		{name: "a worker without the gate", change: []string{workerTimes, "", throughGate, "    entrypoint: [/entry]\n"}},
		{name: "a worker whose image decides", change: []string{workerTimes, "", throughGate, ""}, want: "SG603 warning services.worker.healthcheck"},
		{name: "the image has no gate", change: []string{workerTimes, "", throughGate, ""}, config: "images: {app: {entrypoint: [/entry]}}"},

		{name: "no stop_grace_period", change: []string{"    stop_grace_period: 1m\n", ""}, want: "SG604 warning services.worker"},
		{name: "a drain time that is longer", config: "services: {worker: {drain: 2m}}", want: "SG604 error services.worker.stop_grace_period"},
		{name: "a drain time as long", config: "services: {worker: {drain: 1m}}", want: "SG604 warning services.worker.stop_grace_period"},
		{name: "a drain time without stop_grace_period", change: []string{"    stop_grace_period: 1m\n", ""}, config: "services: {worker: {drain: 30s}}", want: "SG604 error services.worker"},
		{name: "a short drain time", change: []string{"    stop_grace_period: 1m\n", ""}, config: "services: {worker: {drain: 3s}}"},
		{name: "a scheduler", change: []string{"    stop_grace_period: 1m\n", "", "[rq, worker, default]", "[rqscheduler]"}},
		{name: "an app called worker", change: []string{"    stop_grace_period: 1m\n", "", rqCommand, "celery -A worker flower", throughGate, ""}},
		{name: "a scheduler of an app called worker", change: []string{"    stop_grace_period: 1m\n", "", rqCommand, "celery --app worker beat"}},
		{name: "a worker of an app called worker", change: []string{"    stop_grace_period: 1m\n", "", rqCommand, "celery -A worker worker"}, want: "SG604 warning services.worker"},
		{name: "an unknown stop_grace_period", change: []string{"stop_grace_period: 1m", "stop_grace_period: ${GRACE}"}, config: "services: {worker: {drain: 1m}}"},

		{name: "some restarts", change: []string{workerStart, strings.Replace(workerStart, "unless-stopped", "on-failure:5", 1), refuseAfter, ""},
			want: "SG605 warning services.worker.restart"},
		{name: "restarts for ever", change: []string{refuseAfter, ""}, want: "SG605 warning services.worker.restart"},
		{name: "deploy", change: []string{workerStart, "    stop_grace_period: 1m\n    deploy: {restart_policy: {condition: on-failure, max_attempts: 5}}\n", refuseAfter, ""},
			want: "SG605 warning services.worker.deploy.restart_policy"},
		{name: "deploy, without a condition", change: []string{workerStart, workerStart + "    deploy: {restart_policy: {delay: 5s}}\n", refuseAfter, ""}},
		{name: "deploy says none", change: []string{workerStart, workerStart + "    deploy: {restart_policy: {condition: none}}\n", refuseAfter, ""}},
		{name: "refusals are retried, by a flag", change: []string{refuseAfter, "", "[/startgate, --]", "[/startgate, --refuse-after, 60s, --]"}},
		{name: "refusals are retried, by a flag behind an init", change: []string{refuseAfter, "", "[/startgate, --]", "[tini, --, /startgate, --refuse-after=60s, --]"}},
		{name: "refusals may be retried", change: []string{refuseAfter, "      STARTGATE_REFUSE_AFTER: ${PATIENCE:?}\n"}},
		{name: "refusals may be retried, by a file", change: []string{refuseAfter, "", throughGate, throughGate + "    env_file: w.env\n"}},
		{name: "only observed", change: []string{refuseAfter, "      STARTGATE_MODE: observe\n"}},
		{name: "no gate that refuses", change: []string{refuseAfter, "", throughGate, "    entrypoint: [/entry]\n"}},
		{name: "an unknown policy", change: []string{workerStart, strings.Replace(workerStart, "unless-stopped", "${RESTART:?}", 1), refuseAfter, ""}},

		{name: "no policy", change: []string{workerStart, "    stop_grace_period: 1m\n"}, want: "SG606 warning services.worker"},
		{name: "no policy is chosen", change: []string{workerStart, strings.Replace(workerStart, "unless-stopped", "no", 1)}},
		{name: "a burst", change: []string{workerStart, "    stop_grace_period: 1m\n", "default]", "--burst, default]"}},
		{name: "a burst in a shell", change: []string{workerStart, "    stop_grace_period: 1m\n", rqCommand, "sh -c 'exec rq worker --burst'"}},
		{name: "it is to end", change: []string{workerStart, "    stop_grace_period: 1m\n", "volumes:\n  queue:", "  web: {image: web, depends_on: {worker: {condition: service_completed_successfully}}}\nvolumes:\n  queue:"}},
		{name: "a policy by a merge key", change: []string{workerStart, "    stop_grace_period: 1m\n    <<: *policy\n", "services:\n", "x-policy: &policy {restart: always}\nservices:\n"}},

		{name: "a pause beyond the budget", change: []string{refuseAfter, refuseAfter + "      STARTGATE_INTERVAL_MAX: 10m\n"},
			want: "SG608 warning services.worker.environment.STARTGATE_INTERVAL_MAX"},
		{name: "a timeout by a flag", change: []string{"[/startgate, --]", "[/startgate, --dial-timeout, 10m, --]"}, want: "SG608 warning services.worker.entrypoint"},
		{name: "a budget below the defaults", change: []string{refuseAfter, refuseAfter + "      STARTGATE_TIMEOUT: 1s\n"}},
		{name: "one attempt", change: []string{refuseAfter, refuseAfter + "      STARTGATE_TIMEOUT: 0\n      STARTGATE_INTERVAL_MAX: 2\n"}},
		{name: "a key of the worker", change: []string{refuseAfter, refuseAfter + "      PAUSE: 100\n"}, contract: settingsContract,
			want: "SG608 warning services.worker.environment.PAUSE"},
		{name: "a key of the worker, with a rule", change: []string{refuseAfter, refuseAfter + "      PAUSE: 100\n"},
			contract: settingsContract + "rules: [{code: pause_too_long, less: [PAUSE, WAIT]}]\n", want: "SG608 error services.worker.environment.PAUSE"},
		{name: "a key of the worker, with a rule that warns", change: []string{refuseAfter, refuseAfter + "      WAIT: 1\n"},
			contract: settingsContract + "rules: [{code: pause_too_long, level: warn, less: [PAUSE, WAIT]}]\n", want: "SG608 warning services.worker.environment.WAIT"},
		{name: "an unknown key of the worker", change: []string{refuseAfter, refuseAfter + "      PAUSE: ${PAUSE}\n"},
			contract: settingsContract + "rules: [{code: pause_too_long, less: [PAUSE, WAIT]}]\n"},

		{name: "late checks", change: []string{workerTimes, workerTimes + "      interval: 2m\n"}, want: "SG609 info services.worker.healthcheck.interval"},
		{name: "late checks, but for the start", change: []string{workerTimes, workerTimes + "      interval: 2m\n      start_interval: 2s\n"}},
		{name: "many checks", change: []string{"interval: 5s", "interval: 500ms"}, want: "SG609 info services.redis.healthcheck.interval"},

		{name: "another broker", change: []string{workerStart, workerStart, "image: redis:7", "image: rabbitmq:3", brokerTimes, "", "[redis-server, --appendonly, \"yes\", --maxmemory-policy, noeviction]", "[rabbitmq-server]",
			"RQ_REDIS_URL: redis://redis:6379/0", "RQ_REDIS_URL: amqp://redis"}, contract: "none"},
	})
}
