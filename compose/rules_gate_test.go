package compose

import (
	"strings"
	"testing"
)

// started is a stack of one worker that starts like this.
func started(how ...string) string {
	return "services:\n  worker:\n    image: app:1\n    init: true\n    environment: {RQ_REDIS_URL: redis://cache.example:6379/0}\n" + strings.Join(how, "")
}

func TestThroughTheGate(t *testing.T) {
	const command = "    command: [rq, worker]\n"
	image := func(facts string) wiring { return wiring{config: "version: 1\nimages: {app:1: {" + facts + "}}\n"} }
	runWired(t, "SG40", []wired{
		{name: "through it", file: started("    entrypoint: [/startgate, --]\n", command)},
		{name: "string", file: started("    entrypoint: /usr/local/bin/startgate --timeout 60s --\n    command: rq worker\n")},
		{name: "run", file: started("    entrypoint: [/startgate, run, -timeout=60s, --]\n", command)},
		{name: "as command", file: started("    command: [/startgate, --, rq, worker]\n")},
		{name: "behind an init", file: started("    entrypoint: [tini, -g, --, /startgate, --]\n", command), want: "SG405/info"},
		{name: "behind gosu", file: started("    entrypoint: [gosu, app, /startgate, --]\n", command)},
		{name: "behind setpriv", file: started("    entrypoint: [setpriv, --reuid, '1000', --regid=1000, --clear-groups, /startgate, --]\n", command)},
		{name: "behind a wait tool", file: started("    entrypoint: [wait-for-it.sh, 'db:5432', --, /startgate, --]\n", command)},
		{name: "behind a script of the image", file: started("    entrypoint: [/docker-entrypoint.sh, /startgate, --]\n", command)},
		{name: "not", file: started("    entrypoint: [env]\n", command), want: "SG401/error"},
		{name: "the image decides", file: started(command), want: "SG401/warning"},
		{name: "the image has it", file: started(command), wiring: image("entrypoint: [/startgate, --]")},
		{name: "the image has it not", file: started(command), wiring: image("entrypoint: [tini, --]"), want: "SG401/error"},
		{name: "the image's script", file: started("    entrypoint: [/docker-entrypoint.sh]\n", command), want: "SG401/warning"},
		{name: "a variable", file: started("    entrypoint: ${ENTRYPOINT}\n", command), want: "SG401/error"},
		{name: "without a contract", file: started(command), wiring: wiring{bare: true}},
		{name: "in a service of its own", file: started("    entrypoint: [env]\n", command, "    depends_on: {gate: {condition: service_completed_successfully}}\n  gate: {image: app, entrypoint: [/startgate, wait]}\n"), want: "SG401/warning"},
		{name: "an init container that copies it", file: "services:\n  copy: {image: gate, command: [cp, /startgate, /to]}\n"},
		{name: "another verb", file: "services:\n  check: {image: gate, entrypoint: [/startgate, check]}\n"},

		{name: "no command", file: started("    entrypoint: [/startgate, --]\n"), want: "SG402/error"},
		{name: "no command but the image's", file: started("    entrypoint: [/startgate, --]\n"), wiring: image("cmd: [rq, worker]"), want: "SG402/error"},
		{name: "empty command", file: started("    entrypoint: [/startgate, --]\n    command: []\n"), want: "SG402/error"},
		{name: "worker in the entrypoint", file: started("    entrypoint: [/startgate, --, rq, worker]\n")},
		{name: "command in a second file", file: started("    entrypoint: [/startgate, --]\n"), wiring: wiring{files: map[string]string{"override.yaml": "services:\n  worker:\n    command: [rq, worker]\n"}}},
		{name: "command by a variable", file: started("    entrypoint: [/startgate, --]\n    command: ${WORKER}\n")},
		{name: "no dashes", file: started("    entrypoint: [/startgate]\n", command), want: "SG402/error"},
		{name: "no dashes behind a flag", file: started("    entrypoint: [/startgate, --timeout, 60s]\n", command), want: "SG402/error"},
		{name: "image has gate and worker", file: "services:\n  worker:\n    image: app:1\n    init: true\n", wiring: wiring{config: "version: 1\nimages: {app:1: {entrypoint: [/startgate, --], cmd: [rq, worker]}}\n"}},

		{name: "cleared", file: started("    entrypoint: []\n", command), wiring: image("entrypoint: [/startgate, --]"), want: "SG406/error"},
		{name: "cleared by a string", file: started("    entrypoint: ''\n", command), wiring: image("entrypoint: [/startgate, --]"), want: "SG406/error"},
		{name: "cleared and written", file: started("    entrypoint: []\n    command: [/startgate, --, rq, worker]\n"), wiring: image("entrypoint: [/startgate, --]")},
		{name: "null clears nothing", file: started("    entrypoint:\n", command), wiring: image("entrypoint: [/startgate, --]")},
		{name: "cleared, image not known", file: started("    entrypoint: []\n", command), want: "SG401/error"},
	})
}

func TestShells(t *testing.T) {
	const role = "version: 1\nservices: {worker: {role: worker}}\n"
	run := func(shell, script string) string {
		return started("    command: [" + shell + ", -c, '" + script + "']\n")
	}
	runWired(t, "SG40", []wired{
		{name: "exec", file: run("sh", "umask 027; exec /startgate -- rq worker")},
		{name: "alone in dash", file: run("dash", "/startgate -- rq worker"), want: "SG403/error"},
		{name: "alone in some shell", file: run("sh", "/startgate -- rq worker"), want: "SG403/warning"},
		{name: "alone in bash", file: run("bash", "/startgate -- rq worker")},
		{name: "last in bash", file: run("bash", "cd /app && /startgate -- rq worker")},
		{name: "last in sh", file: run("sh", "cd /app && /startgate -- rq worker"), want: "SG403/error"},
		{name: "with more behind", file: run("bash", "/startgate -- rq worker; rq worker"), want: "SG403/error"},
		{name: "piped", file: run("sh", "exec /startgate -- rq worker | tee log"), want: "SG403/error"},
		{name: "beside", file: run("sh", "/startgate -- rq worker & rq worker"), want: "SG403/error"},
		{name: "behind an init", file: started("    entrypoint: [tini, --]\n    command: sh -c \"/startgate -- rq worker; true\"\n"), want: "SG403/error SG405/info"},
		{name: "alpine", file: strings.Replace(run("sh", "/startgate -- rq worker"), "app:1", "app:1-alpine", 1)},
		{name: "wait and then", file: run("sh", "/startgate wait && exec rq worker")},
		{name: "wait with -e", file: run("sh", "set -e; /startgate wait; exec rq worker")},
		{name: "wait or end", file: run("sh", "/startgate wait || exit 1; exec rq worker")},
		{name: "unless wait then end", file: run("sh", "if ! /startgate wait; then exit 1; fi; exec rq worker")},
		{name: "until probe", file: run("sh", "until /startgate probe; do sleep 1; done; exec rq worker"), want: "SG401/warning"},
		{name: "wait and go on", file: run("sh", "/startgate wait; exec rq worker"), want: "SG403/error"},
		{name: "wait or go on", file: run("sh", "/startgate wait || true; exec rq worker"), want: "SG403/error"},
		{name: "-ec", file: started("    command: [sh, -ec, '/startgate wait; exec rq worker']\n")},
		{name: "-ce", file: started("    command: [sh, -ce, '/startgate wait; exec rq worker']\n"), wiring: wiring{config: role}},
		{name: "-euo pipefail", file: started("    command: [bash, -euo, pipefail, -c, 'exec /startgate -- rq worker']\n"), wiring: wiring{config: role}},
		{name: "-o errexit", file: started("    command: [bash, -o, errexit, -c, '/startgate wait; exec rq worker']\n"), wiring: wiring{config: role}},
		{name: "more behind -o pipefail", file: started("    command: [bash, -o, pipefail, -c, '/startgate -- rq worker; true']\n"), want: "SG403/error"},
		{name: "--noprofile", file: started("    command: [bash, --noprofile, -c, '/startgate wait; exec rq worker']\n"), want: "SG403/error"},
		{name: "set -o errexit", file: run("sh", "set -o errexit; /startgate wait; exec rq worker")},

		{name: "worker in a shell", file: run("sh", "rq worker"), want: "SG401/warning SG404/warning"},
		{name: "worker behind the gate in a shell", file: started("    entrypoint: [/startgate, --]\n    command: [sh, -c, 'umask 7; rq worker']\n"), want: "SG404/warning"},
		{name: "worker with exec", file: started("    entrypoint: [/startgate, --]\n    command: [sh, -c, 'umask 7; exec rq worker']\n")},
		{name: "worker in bash", file: started("    entrypoint: [/startgate, --]\n    command: [bash, -c, 'umask 7; rq worker']\n")},
		{name: "trap", file: started("    entrypoint: [/startgate, --]\n    command: [sh, -c, 'trap stop TERM; rq worker & wait']\n")},
		{name: "string without a shell", file: started("    entrypoint: [/startgate, --]\n    command: rq worker\n")},
	})
}

func TestForks(t *testing.T) {
	of := func(command, more string) string {
		return "services:\n  w:\n    image: app\n    entrypoint: [/startgate, --]\n    command: " + command + "\n" + more
	}
	runWired(t, "SG405", []wired{
		{name: "rq", file: of("rq worker", ""), want: "SG405/info"},
		{name: "celery", file: of("celery -A app worker", ""), want: "SG405/info"},
		{name: "prefork", file: of("celery -A app worker --pool=prefork", ""), want: "SG405/info"},
		{name: "init", file: of("rq worker", "    init: true\n")},
		{name: "two inits", file: strings.Replace(of("rq worker", "    init: true\n"), "/startgate", "tini, --, /startgate", 1), want: "SG405/info"},
		{name: "tini", file: strings.Replace(of("rq worker", ""), "/startgate", "tini, --, /startgate", 1)},
		{name: "threads", file: of("celery -A app worker -P threads", "")},
		{name: "simple", file: of("rq worker -w rq.SimpleWorker", "")},
		{name: "sidekiq", file: of("bundle exec sidekiq", "")},
		{name: "beat", file: of("celery -A app beat", "")},
		{name: "a variable", file: of("rq worker", "    init: ${INIT}\n")},
		{name: "the image decides", file: "services:\n  w: {image: app, command: rq worker}\n"},
	})
}

func TestTooEarly(t *testing.T) {
	of := func(command, more string) string {
		return "services:\n  redis:\n    image: redis\n    command: " + command + "\n" + more
	}
	const set = "    environment: {PW: secret}\n"
	runWired(t, "SG407", []wired{
		{name: "in the environment", file: of("redis-server --requirepass $PW", set), want: "SG407/warning"},
		{name: "in a list", file: of("[redis-server, --requirepass, '${PW}']", set), want: "SG407/warning"},
		{name: "in an env_file", file: of("redis-server --requirepass $PW", "    env_file: r.env\n"), wiring: wiring{files: map[string]string{"r.env": "PW=a\n"}}, want: "SG407/warning"},
		{name: "in a healthcheck", file: of("redis-server", set+"    healthcheck: {test: redis-cli -a $PW -e ping}\n"), want: "SG407/warning"},
		{name: "set by the script", file: of("sh -c 'for p in 1 2; do redis-server --port $p; done'", ""), want: "SG407/warning"},
		{name: "set by the script and outside", file: of("sh -c 'A=1; echo $A'", ""), wiring: wiring{environ: []string{"A=2"}}, want: "SG407/warning"},
		{name: "set by the script to compose's", file: of("sh -c 'A=${A:-1}; B=\"$B\" exec redis-server --port $$A'", "")},
		{name: "set by the script to compose's, and then used", file: of("sh -c 'A=${A:-1}; exec redis-server --port $A'", ""), want: "SG407/warning"},
		{name: "host name", file: "services:\n  w:\n    image: a\n    command: celery worker -n w@$HOSTNAME\n", want: "SG407/warning"},
		{name: "output", file: of("redis-server", "    healthcheck: {test: '[ \"$(redis-cli ping)\" = PONG ]'}\n"), want: "SG407/info"},
		{name: "doubled", file: of("sh -c 'exec redis-server --requirepass \"$$PW\"'", set)},
		{name: "doubled output", file: of("redis-server", "    healthcheck: {test: '[ \"$$(redis-cli ping)\" = PONG ]'}\n")},
		{name: "known to compose", file: of("redis-server --requirepass $PW", set), wiring: wiring{environ: []string{"PW=a"}}},
		{name: "in .env", file: of("redis-server --requirepass $PW", "    env_file: .env\n"), wiring: wiring{files: map[string]string{".env": "PW=a\n"}}},
		{name: "the same variable", file: of("redis-server --requirepass $PW", "    environment: {PW: '${PW}'}\n")},
		{name: "passed on", file: of("redis-server --requirepass $PW", "    environment: [PW]\n")},
		{name: "of the deployment", file: of("redis-server --requirepass ${PW:?}", "")},
		{name: "no Redis", file: "services:\n  w: {image: a, command: serve $PORT, environment: {PORT: '80'}}\n"},
	})
}

func TestPortWaits(t *testing.T) {
	of := func(how string, more ...string) string {
		return `services:
  redis: {image: redis, healthcheck: {test: [CMD, redis-cli, -e, ping]}}
  worker:
    image: app
    environment: {RQ_REDIS_URL: redis://redis:6379/0}
` + how + strings.Join(more, "")
	}
	runWired(t, "SG411", []wired{
		{name: "wait-for-it", file: of("    command: [./wait-for-it.sh, 'redis:6379', --, rq, worker]\n"), want: "SG411/warning"},
		{name: "nc", file: of("    command: sh -c 'until nc -z redis 6379; do sleep 1; done; exec rq worker'\n"), want: "SG411/warning"},
		{name: "dev tcp", file: of("    command: bash -c 'until (echo > /dev/tcp/redis/6379) 2>/dev/null; do sleep 1; done; exec rq worker'\n"), want: ""},
		{name: "dockerize", file: of("    command: dockerize -wait tcp://redis:6379 rq worker\n"), want: "SG411/warning"},
		{name: "a variable", file: of("    command: sh -c 'wait-for $$REDIS_HOST:6379 && exec rq worker'\n"), want: "SG411/warning"},
		{name: "ping", file: of("    command: sh -c 'until redis-cli -h redis ping; do sleep 1; done; exec rq worker'\n"), want: "SG411/warning"},
		{name: "another service", file: of("    command: [wait-for-it.sh, 'postgres:5432', --, rq, worker]\n"), want: "SG411/warning"},
		{name: "another service, and Redis is healthy", file: of("    command: [wait-for-it.sh, 'postgres:5432', --, rq, worker]\n", "    depends_on: {redis: {condition: service_healthy}}\n")},
		{name: "strict ping", file: of("    command: sh -c 'until redis-cli -h redis -e ping; do sleep 1; done; exec rq worker'\n")},
		{name: "grep", file: of("    command: sh -c 'until redis-cli -h redis ping | grep -q PONG; do sleep 1; done; exec rq worker'\n")},
		{name: "behind the gate", file: of("    entrypoint: [/startgate, --]\n    command: [wait-for-it.sh, 'postgres:5432', --, rq, worker]\n")},
		{name: "before the gate", file: of("    entrypoint: [wait-for-it.sh, 'redis:6379', --, /startgate, --]\n    command: [rq, worker]\n")},
		{name: "wait of the shell", file: of("    command: sh -c 'rq worker & wait'\n")},
		{name: "wait4x redis", file: of("    command: wait4x redis redis://redis:6379 -- rq worker\n")},
		{name: "no worker", file: of("    entrypoint: [rq, worker]\n", "  web: {image: web, command: [wait-for-it.sh, 'redis:6379', --, serve]}\n")},
	})
}

func TestModes(t *testing.T) {
	of := func(mode string) string {
		return "services:\n  w:\n    image: app\n    entrypoint: [/startgate, --]\n    command: [rq, worker]\n    environment: {STARTGATE_MODE: " + mode + "}\n"
	}
	runWired(t, "SG412", []wired{
		{name: "observe", file: of("observe"), want: "SG412/warning"},
		{name: "off", file: of("'off'"), want: "SG412/warning"},
		{name: "no mode", file: of("on"), want: "SG412/error"},
		{name: "enforce", file: of("enforce")},
		{name: "empty", file: of("''")},
		{name: "not known", file: of("'${MODE}'")},
		{name: "by default", file: of("'${MODE:-observe}'"), want: "SG412/warning"},
		{name: "flag", file: strings.Replace(of("enforce"), "/startgate,", "/startgate, --mode=observe,", 1), want: "SG412/error"},
		{name: "no gate", file: strings.Replace(of("observe"), "/startgate, --", "env", 1)},
		{name: "env_file", file: strings.Replace(of("observe"), "environment: {STARTGATE_MODE: observe}", "env_file: w.env", 1), wiring: wiring{files: map[string]string{"w.env": "STARTGATE_MODE=off\n"}}, want: "SG412/warning"},
	})
}
