package compose

import (
	"strings"
	"testing"
)

// another is a second worker like that of soundStack, at the end of its
// services. It is made of old and new parts.
func another(name string, parts ...string) string {
	_, worker, _ := strings.Cut(soundStack, "  worker:\n")
	worker, _, _ = strings.Cut(worker, "volumes:\n  queue:")
	return "  " + name + ":\n" + strings.NewReplacer(parts...).Replace(worker)
}

const (
	lastLines = "volumes:\n  queue:"
	initLine  = "    init: true\n"
	rqCommand = "[rq, worker, default]"
	gateCheck = "[CMD, /startgate, health]"
)

// groupContract has ports with defaults.
const groupContract = `contract: 1
name: worker
keys:
  RQ_REDIS_URL: {type: redis_url}
  GROUP: {enum: [mail, import, other]}
  WORKER_HEALTH_PORT: {type: port, default: "9100"}
  WORKER_ADMIN_PORT: {type: port, default: "9101"}
rules: [{code: ports_not_distinct, distinct: [WORKER_HEALTH_PORT, WORKER_ADMIN_PORT]}]
`

func TestFleetRulesOfGroups(t *testing.T) {
	config := "groups: {key: GROUP, all: [mail, import], distinct: [WORKER_HEALTH_PORT]}"
	env := func(lines string) string {
		return refuseAfter + "      " + strings.ReplaceAll(lines, "; ", "\n      ") + "\n"
	}
	pair := func(a, b string) []string {
		return []string{refuseAfter, env(a), lastLines, another("second", refuseAfter, env(b)) + lastLines}
	}
	runCases(t, "SG7", []stackCase{
		{name: "as it should be", change: pair("GROUP: mail; WORKER_HEALTH_PORT: 9201", "GROUP: import"), config: config, contract: groupContract},
		{name: "without a contract", change: pair("GROUP: mail", "GROUP: import"), config: config, contract: "none"},
		{name: "no group at all", config: config},
		{name: "a group twice", change: pair("GROUP: mail; WORKER_HEALTH_PORT: 9201", "GROUP: mail"), config: config, contract: groupContract,
			want: "SG701 error services.second.environment.GROUP\nSG701 error groups.all.1"},
		{name: "an unlisted group", change: pair("GROUP: mail; WORKER_HEALTH_PORT: 9201", "GROUP: other"), config: config, contract: groupContract,
			want: "SG701 error services.second.environment.GROUP\nSG701 error groups.all.1"},
		{name: "a group that is not known", change: pair("GROUP: mail; WORKER_HEALTH_PORT: 9201", "GROUP: ${GROUP:?}"), config: config, contract: groupContract},
		{name: "a group that a file may have", change: []string{refuseAfter, env("GROUP: mail"), lastLines, another("second", throughGate, throughGate+"    env_file: second.env\n") + lastLines}, config: config},
		{name: "a group that the image has", change: []string{refuseAfter, env("GROUP: mail"), lastLines, another("second", "image: app", "image: importer") + lastLines},
			config: config + "\nimages: {importer: {entrypoint: [/startgate, --], env: {GROUP: import}}}"},
		{name: "a group without containers", change: []string{refuseAfter, env("GROUP: mail"), lastLines, another("second", refuseAfter, env("GROUP: import"), initLine, initLine+"    scale: 0\n") + lastLines}, config: config,
			want: "SG701 error groups.all.1"},
		{name: "one service with replicas", change: []string{refuseAfter, env("GROUP: mail; WORKER_HEALTH_PORT: 9201"), initLine, initLine + "    scale: 3\n", lastLines, another("second", refuseAfter, env("GROUP: import")) + lastLines}, config: config, contract: groupContract},
		{name: "one port", change: pair("GROUP: mail; WORKER_HEALTH_PORT: 9201", "GROUP: import; WORKER_HEALTH_PORT: 9201"), config: config, contract: groupContract,
			want: "SG702 error services.second.environment.WORKER_HEALTH_PORT"},
		{name: "the default's port", change: pair("GROUP: mail", "GROUP: import; WORKER_HEALTH_PORT: 9100"), config: config, contract: groupContract,
			want: "SG702 error services.second.environment.WORKER_HEALTH_PORT"},
		{name: "both the default's port", change: pair("GROUP: mail", "GROUP: import"), config: config, contract: groupContract, want: "SG702 error services.second"},
		{name: "the image's port", change: pair("GROUP: mail; WORKER_HEALTH_PORT: 9300", "GROUP: import"), contract: "none",
			config: config + "\nimages: {app: {entrypoint: [/startgate, --], env: {WORKER_HEALTH_PORT: '9300'}}}", want: "SG702 error services.second.environment.WORKER_HEALTH_PORT"},
		{name: "an unknown port", change: pair("GROUP: mail; WORKER_HEALTH_PORT: ${A}", "GROUP: import; WORKER_HEALTH_PORT: ${A}"), config: config, contract: groupContract},
	})
}

func TestFleetRulesOfPorts(t *testing.T) {
	env := func(lines string) []string { return []string{refuseAfter, refuseAfter + lines} }
	check := func(test string) []string {
		return []string{refuseAfter, refuseAfter + "      WORKER_HEALTH_PORT: 9201\n      WORKER_ADMIN_PORT: 9202\n", gateCheck, test}
	}
	ports := func(list string) []string { return []string{initLine, initLine + "    ports: " + list + "\n"} }
	const published = " services.worker.ports.0"
	runCases(t, "SG7", []stackCase{
		{name: "health and admin", change: env("      HEALTH_PORT: 80\n      METRICS_PORT: 80\n"), want: "SG703 error services.worker.environment.METRICS_PORT"},
		{name: "distinct", change: env("      HEALTH_PORT: 80\n      METRICS_PORT: 81\n      REDIS_PORT: 80\n")},
		{name: "by the contract's default", change: env("      WORKER_HEALTH_PORT: 9101\n"), contract: strings.Split(groupContract, "rules:")[0], want: "SG703 error services.worker.environment.WORKER_HEALTH_PORT"},
		{name: "what the contract's rule says", change: env("      WORKER_HEALTH_PORT: 80\n      WORKER_ADMIN_PORT: 80\n"), contract: groupContract},
		{name: "unknown ports", change: env("      WORKER_HEALTH_PORT: ${A}\n      WORKER_ADMIN_PORT: ${A}\n")},

		{name: "the right port", change: check("[CMD, curl, -f, 'http://localhost:9201/']")},
		{name: "the admin port", change: check("curl -f http://localhost:9202/")},
		{name: "another port", change: check("curl -f http://localhost:9203/"), want: "SG704 warning services.worker.healthcheck.test"},
		{name: "another port by address", change: check("[CMD-SHELL, 'curl -f http://[::1]:9203/']"), want: "SG704 warning services.worker.healthcheck.test"},
		{name: "another host", change: check("curl -f http://web:9203/")},
		{name: "the variable", change: check("curl -f http://localhost:$$WORKER_HEALTH_PORT/")},
		{name: "an unknown port", change: check("curl -f http://localhost:${PORT:?}/")},
		{name: "no key", change: []string{gateCheck, "curl -f http://localhost:9203/"}},
		{name: "the gate's port", change: []string{refuseAfter, refuseAfter + "      WORKER_HEALTH_PORT: 9201\n      STARTGATE_HEALTH_LISTEN: 0.0.0.0:9203\n", gateCheck, "curl -f http://localhost:9203/"}},

		{name: "published", change: ports("['9101:9101']"), want: "SG705 error" + published},
		{name: "published at any port", change: ports("[9101]"), want: "SG705 error" + published},
		{name: "published in the long form", change: ports("[{target: 9101}]"), want: "SG705 error" + published},
		{name: "published at loopback", change: ports("['127.0.0.1:9101:9101']"), want: "SG705 warning" + published},
		{name: "published at loopback of version 6", change: ports("['[::1]:9101:9101']"), want: "SG705 warning" + published},
		{name: "published at loopback, in the long form", change: ports("[{target: 9101, host_ip: 127.0.0.1}]"), want: "SG705 warning" + published},
		{name: "published where a variable says", change: ports("['${A:?}:9101:9101']"), want: "SG705 warning" + published},
		{name: "published at loopback by default", change: ports("['${A:-127.0.0.1}:9101:9101']"), want: "SG705 warning" + published},
		{name: "published, without a contract", change: ports("['9101:9101']"), contract: "none"},
		{name: "no ports", change: ports("!reset []")},
		{name: "published in a second file", files: map[string]string{"over.yaml": "services: {worker: {ports: ['1:1']}}"}, want: "SG705 error" + published},
	})
}

func TestFleetRulesOfScale(t *testing.T) {
	celery := func(command, more string) []string {
		return []string{"RQ_REDIS_URL", "CELERY_BROKER_URL", rqCommand, command, initLine, initLine + more}
	}
	beat := func(name, app, more string) string {
		return another(name, "RQ_REDIS_URL", "CELERY_BROKER_URL", rqCommand, "celery -A "+app+" beat", initLine, initLine+more)
	}
	const two = "    deploy: {replicas: 2}\n"
	workers := func(n string) string {
		return "stacks: {one: {files: [compose.yaml], workers: {" + n + "}}}"
	}
	skips := `contract: 1
name: worker
keys:
  RQ_REDIS_URL: {type: redis_url}
  ROLE: {enum: [web, worker], default: web}
  WORKER_ENABLED: {type: bool, default: "false"}
skip_when: not WORKER_ENABLED or ROLE == web
`
	web := func(lines string) []string {
		return []string{refuseAfter, refuseAfter + "      WORKER_ENABLED: 'true'\n      ROLE: worker\n", lastLines, "  web:\n    image: app\n" + lines + lastLines}
	}
	const on = "    environment: {WORKER_ENABLED: 'true', ROLE: worker}\n"
	runCases(t, "SG7", []stackCase{
		{name: "a name", change: []string{initLine, initLine + "    container_name: rqw\n"}, want: "SG706 warning services.worker.container_name"},
		{name: "a name with replicas", change: []string{initLine, initLine + "    container_name: rqw\n    scale: 2\n"}, want: "SG706 error services.worker.container_name"},
		{name: "a name of the broker", change: []string{"    image: redis:7\n", "    image: redis:7\n    container_name: redis\n"}},
		{name: "a name of a broker with replicas", change: []string{"    image: redis:7\n", "    image: redis:7\n    container_name: redis\n    scale: 2\n"}, want: "SG706 error services.redis.container_name"},

		{name: "beat with replicas", change: celery("[celery, beat]", two), contract: "none", want: "SG707 error services.worker.deploy.replicas"},
		{name: "beat inside, with replicas", change: celery("celery -A app worker -B", "    scale: 2\n"), contract: "none", want: "SG707 error services.worker.scale"},
		{name: "beat inside", change: celery("celery -A app worker --beat", ""), contract: "none"},
		{name: "beat beside beat inside", change: append(celery("celery -A app worker -B", ""), lastLines, beat("second", "app", "")+lastLines), contract: "none",
			want: "SG707 error services.worker"},
		{name: "two beats", change: []string{lastLines, beat("a", "app", "") + beat("b", "app", "") + lastLines}, contract: "none", want: "SG707 error services.b"},
		{name: "beats of two applications", change: []string{lastLines, beat("a", "app", "") + beat("b", "shop", "") + lastLines}, contract: "none"},
		{name: "beats in two profiles", change: []string{lastLines, beat("a", "app", "    profiles: [a]\n") + beat("b", "app", "    profiles: [b]\n") + lastLines}, contract: "none"},
		{name: "a beat that is off", change: []string{lastLines, beat("a", "app", "") + beat("b", "app", "    scale: 0\n") + lastLines}, contract: "none"},
		{name: "a schedule with a lock", change: celery("celery -A app beat -S redbeat.RedBeatScheduler", two), contract: "none"},
		{name: "unknown replicas", change: celery("[celery, beat]", "    scale: ${N:?}\n"), contract: "none"},
		{name: "another family's scheduler", change: []string{rqCommand, "[rqscheduler]", initLine, initLine + two}},

		{name: "workers as declared", config: workers("worker: 1")},
		{name: "a worker more", config: workers("worker: 1"), change: []string{lastLines, another("second") + lastLines}, want: "SG708 error services.second"},
		{name: "a worker less", config: workers("worker: 1, mail: 1"), want: "SG708 error stacks.one.workers.mail"},
		{name: "another number", config: workers("worker: 2"), want: "SG708 error services.worker"},
		{name: "another number of replicas", config: workers("worker: 3"), change: []string{initLine, initLine + two}, want: "SG708 error services.worker.deploy.replicas"},
		{name: "an unknown number", config: workers("worker: 3"), change: []string{initLine, initLine + "    scale: ${N:?}\n"}},
		{name: "any workers", config: "stacks: {one: {files: [compose.yaml]}}"},

		{name: "the host's network", change: []string{initLine, initLine + "    network_mode: host\n"}, want: "SG711 info services.worker.network_mode"},
		{name: "another's network", change: []string{initLine, initLine + "    network_mode: service:redis\n"}, want: "SG711 info services.worker.network_mode"},
		{name: "no network", change: []string{initLine, initLine + "    network_mode: none\n"}},

		{name: "a web that is on", change: web("    command: [gunicorn]\n" + on), contract: skips, want: "SG713 warning services.web.environment.ROLE"},
		{name: "a web that is on, and the key", change: web("    command: [gunicorn]\n" + on), contract: skips + "skip_key: WORKER_ENABLED\n", want: "SG713 warning services.web.environment.WORKER_ENABLED"},
		{name: "a web that is on, and enqueues", change: web("    command: [gunicorn]\n    environment: {RQ_REDIS_URL: 'redis://redis:6379/0', WORKER_ENABLED: 'true', ROLE: worker}\n"), contract: skips, want: "SG713 warning services.web.environment.ROLE"},
		{name: "a web in the other role", change: web("    command: [gunicorn]\n    environment: {WORKER_ENABLED: 'true'}\n"), contract: skips},
		{name: "a web that is off", change: web("    command: [gunicorn]\n    environment: {WORKER_ENABLED: 'false', ROLE: worker}\n"), contract: skips},
		{name: "a web that may be on", change: web("    command: [gunicorn]\n    environment: {WORKER_ENABLED: '${ON:?}', ROLE: worker}\n"), contract: skips},
		{name: "what the image runs", change: web(on), contract: skips},
		{name: "what the image runs, and is no worker", change: web(on), contract: skips, config: "services: {web: {role: other}}", want: "SG713 warning services.web.environment.ROLE"},
		{name: "one that waits", change: web("    entrypoint: [/startgate, wait]\n" + on), contract: skips},
		{name: "one that ends", change: append(web("    command: [migrate]\n"+on), "redis: {condition: service_healthy}", "redis: {condition: service_healthy}\n      web: {condition: service_completed_successfully}"), contract: skips},
		{name: "a contract that skips nothing", change: web("    command: [gunicorn]\n" + on)},

		{name: "one node name", change: celery("celery -A app worker -n mail", two), contract: "none", want: "SG714 warning services.worker.command"},
		{name: "one node and host name", change: celery("celery -A app worker --hostname=mail@host", two), contract: "none", want: "SG714 warning services.worker.command"},
		{name: "one node name, once", change: celery("celery -A app worker -n mail", ""), contract: "none"},
		{name: "a node name with the host's", change: celery("celery -A app worker -n mail@%h", two), contract: "none"},
		{name: "a node name with a host's", change: celery("celery -A app worker -n mail@", two), contract: "none"},
		{name: "a node name by a shell", change: celery("sh -c 'exec celery -A app worker -n mail@$$HOSTNAME'", two), contract: "none"},
		{name: "one host name", change: celery("celery -A app worker", two+"    hostname: mail\n"), contract: "none", want: "SG714 warning services.worker.hostname"},
		{name: "a host name that Swarm makes", change: celery("celery -A app worker", two+"    hostname: 'w-{{.Task.Slot}}'\n"), contract: "none"},
		{name: "one worker name", change: []string{rqCommand, "[rq, worker, --name, mail]", initLine, initLine + two}, want: "SG714 warning services.worker.command"},
		{name: "no worker name", change: []string{initLine, initLine + two}},
	})
}
