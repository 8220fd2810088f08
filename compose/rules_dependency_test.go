package compose

import (
	"strings"
	"testing"
)

// workerOf is a stack of a Redis, an RQ worker that does not start through the
// gate, and more.
func workerOf(worker string, more ...string) string {
	return `services:
  redis:
    image: redis:7.4
    healthcheck: {test: [CMD, redis-cli, -e, ping]}
  worker:
    image: app
    entrypoint: [tini, --]
    command: [rq, worker]
    environment: {RQ_REDIS_URL: redis://redis:6379/0}
` + worker + strings.Join(more, "")
}

func TestDependencies(t *testing.T) {
	const healthy = "    depends_on: {redis: {condition: service_healthy}}\n"
	through := func(s string) string { return strings.Replace(s, "tini", "/startgate", 1) }
	imageDecides := func(s string) string { return strings.Replace(s, "    entrypoint: [tini, --]\n", "", 1) }
	runWired(t, "SG5", []wired{
		{name: "healthy", file: workerOf(healthy)},
		{name: "list", file: workerOf("    depends_on: [redis]\n"), want: "SG501/error"},
		{name: "in capitals", file: strings.NewReplacer("  redis:\n", "  Redis:\n", "[redis]", "[Redis]").Replace(workerOf("    depends_on: [redis]\n")), want: "SG501/error"},
		{name: "mapping", file: workerOf("    depends_on: {redis: {condition: service_started}}\n"), want: "SG501/error"},
		{name: "ended", file: workerOf("    depends_on: {redis: {condition: service_completed_successfully}}\n"), want: "SG501/error"},
		{name: "condition not known", file: workerOf("    depends_on: {redis: {condition: '${C:-service_healthy}'}}\n")},
		{name: "none", file: workerOf(""), want: "SG503/error"},
		{name: "list behind the gate", file: through(workerOf("    depends_on: [redis]\n")), want: "SG501/info"},
		{name: "none behind the gate", file: through(workerOf("")), want: "SG503/info"},
		{name: "the image decides", file: imageDecides(workerOf("")), want: "SG503/warning"},
		{name: "mended by a second file", file: workerOf("    depends_on: [redis]\n"), wiring: wiring{files: map[string]string{"override.yaml": "services:\n  worker:\n" + healthy}}},
		{name: "broken by a second file", file: workerOf(healthy), wiring: wiring{files: map[string]string{"override.yaml": "services:\n  worker:\n    depends_on: {redis: {condition: service_started}}\n"}}, want: "SG501/error"},
		{name: "extended", file: workerOf("    extends: {file: base.yaml, service: base}\n"), wiring: wiring{files: map[string]string{"base.yaml": "services:\n  base:\n    depends_on: {redis: {condition: service_healthy}}\n"}}},
		{name: "through another", file: workerOf("    depends_on: [web]\n", "  web:\n    image: web\n"+healthy), want: "SG503/info"},
		{name: "through another that does not wait", file: workerOf("    depends_on: [web]\n", "  web:\n    image: web\n    depends_on: [redis]\n"), want: "SG503/error"},
		{name: "external", file: "services:\n  worker:\n    image: app\n    entrypoint: [rq, worker]\n    environment: {RQ_REDIS_URL: 'redis://cache.example:6379'}\n"},
		{name: "another Redis than the stack's", file: strings.Replace(workerOf(""), "redis://redis:", "redis://cache.example:", 1)},
		{name: "RabbitMQ by URL", file: `services:
  redis: {image: redis, healthcheck: {test: [CMD, redis-cli, -e, ping]}}
  worker:
    image: app
    entrypoint: [celery, worker]
    environment: {CELERY_BROKER_URL: 'amqp://rabbit'}
`},
		{name: "RabbitMQ beside it", file: `services:
  redis: {image: redis, healthcheck: {test: [CMD, redis-cli, -e, ping]}}
  rabbit: {image: rabbitmq}
  worker: {image: app, entrypoint: [celery, worker]}
`},
		{name: "no URL says which", file: "services:\n  redis: {image: redis, healthcheck: {test: [CMD, redis-cli, -e, ping]}}\n  worker: {image: app, entrypoint: [rq, worker]}\n", want: "SG503/warning"},
		{name: "no Redis", file: "services:\n  web: {image: app, depends_on: [db]}\n  db: {image: postgres}\n"},
		{name: "by another name", file: strings.Replace(strings.Replace(workerOf(""), "    healthcheck", "    hostname: cache\n    healthcheck", 1), "redis://redis", "redis://cache", 1), want: "SG503/error"},

		// Optional, and in a profile.
		{name: "optional", file: workerOf("    depends_on: {redis: {condition: service_healthy, required: false}}\n"), want: "SG511/warning"},
		{name: "optional behind the gate", file: through(workerOf("    depends_on: {redis: {condition: service_healthy, required: false}}\n")), want: "SG511/info"},
		{name: "profile", file: profiled(workerOf(healthy), "p"), want: "SG512/error"},
		{name: "the same profile", file: profiled(workerOf(healthy+"    profiles: [p]\n"), "p")},
		{name: "more profiles", file: profiled(workerOf(healthy+"    profiles: [p]\n"), "p, q")},
		{name: "one profile without it", file: profiled(workerOf(healthy+"    profiles: [p, q]\n"), "p"), want: "SG512/error"},
		{name: "profile that is active", file: profiled(workerOf(healthy), "p"), wiring: wiring{environ: []string{"COMPOSE_PROFILES=a,p"}}},
		{name: "profile and another Redis by default", file: strings.Replace(profiled(workerOf(""), "p"), "redis://redis:6379/0", "'${RQ_REDIS_URL:-redis://redis:6379/0}'", 1), want: "SG503/error SG512/warning"},

		// Health that is none.
		{name: "no healthcheck", file: unchecked(workerOf(healthy), ""), want: "SG502/error"},
		{name: "switched off", file: unchecked(workerOf(healthy), "    healthcheck: {disable: true}\n"), want: "SG502/error"},
		{name: "switched off by a list", file: unchecked(workerOf(healthy), "    healthcheck: {test: [NONE]}\n"), want: "SG502/error"},
		{name: "times only", file: unchecked(workerOf(healthy), "    healthcheck: {retries: 9}\n"), want: "SG502/error"},
		{name: "optional and none", file: unchecked(through(workerOf("    depends_on: {redis: {condition: service_healthy, required: false}}\n")), ""), want: "SG502/warning SG511/info"},
		{name: "image not known", file: strings.Replace(unchecked(workerOf(healthy), ""), "redis:7.4", "example/redis", 1), want: "SG502/warning"},
		{name: "built", file: strings.Replace(unchecked(workerOf(healthy), ""), "redis:7.4", "redis\n    build: .", 1), want: "SG502/warning"},
		{name: "image that has one", file: strings.Replace(unchecked(workerOf(healthy), ""), "redis:7.4", "example/redis", 1), wiring: wiring{config: "version: 1\nimages: {example/redis: {healthcheck: true}}\n"}},
		{name: "Dragonfly has one", file: strings.Replace(unchecked(workerOf(healthy), ""), "redis:7.4", "docker.dragonflydb.io/dragonflydb/dragonfly:v1", 1)},
		{name: "nobody waits for it", file: unchecked(through(workerOf("    depends_on: [redis]\n")), ""), want: "SG501/info SG519/warning"},
		{name: "nobody waits for it, built", file: strings.Replace(unchecked(through(workerOf("    depends_on: [redis]\n")), ""), "image: redis:7.4", "build: redis", 1), wiring: wiring{config: "version: 1\nservices: {redis: {role: broker}}\n"}, want: "SG501/info SG519/info"},
	})
}

// profiled puts the broker in profiles.
func profiled(stack, profiles string) string {
	return strings.Replace(stack, "    image: redis:7.4\n", "    image: redis:7.4\n    profiles: ["+profiles+"]\n", 1)
}

// unchecked gives the broker another healthcheck, or none.
func unchecked(stack, instead string) string {
	return strings.Replace(stack, "    healthcheck: {test: [CMD, redis-cli, -e, ping]}\n", instead, 1)
}

func TestNeeds(t *testing.T) {
	const config = "version: 1\nservices: {worker: {needs: [weppcloudr, gone]}}\n"
	const service = "  weppcloudr:\n    image: r\n    healthcheck: {test: [CMD, /up]}\n"
	on := func(more string) string {
		return "    depends_on:\n      redis: {condition: service_healthy}\n" + more
	}
	through := func(s string) string { return strings.Replace(s, "tini", "/startgate", 1) }
	w := wiring{config: config}
	runWired(t, "SG5", []wired{
		{name: "healthy", file: workerOf(on("      weppcloudr: {condition: service_healthy}\n"), service), wiring: w},
		{name: "started", file: workerOf(on("      weppcloudr: {condition: service_started}\n"), service), wiring: w, want: "SG501/error"},
		{name: "not at all", file: workerOf(on(""), service), wiring: w, want: "SG503/error"},
		{name: "the gate does not wait for it", file: through(workerOf(on(""), service)), wiring: w, want: "SG503/error"},
		{name: "a one-shot", file: workerOf(on("      weppcloudr: {condition: service_completed_successfully}\n"), service), wiring: w},
		{name: "not in this stack", file: workerOf(on("")), wiring: w},
	})
}

func TestBrokersByHost(t *testing.T) {
	of := func(host string) string {
		return "services:\n  horizon:\n    image: app\n    command: php artisan horizon\n    environment: {REDIS_HOST: " + host + "}\n  redis: {image: redis}\n  cache: {image: redis}\n"
	}
	one := func(stack string) string { return strings.Replace(stack, "  cache: {image: redis}\n", "", 1) }
	runWired(t, "SG503", []wired{
		{name: "elsewhere", file: one(of("cache.example"))},
		{name: "the only one", file: one(of("redis")), want: "SG503/warning"},
		{name: "one of two", file: of("cache"), want: "SG503/warning"},
		{name: "not known", file: one(of("'${HOST:?}'")), want: "SG503/warning"},
	})
}

func TestOneShots(t *testing.T) {
	of := func(migrate string) string {
		return "services:\n  web:\n    image: app\n    depends_on: {migrate: {condition: service_completed_successfully}}\n  api:\n    image: app\n    depends_on: {migrate: {condition: service_completed_successfully}}\n  migrate:\n    image: app\n" + migrate
	}
	runWired(t, "SG515", []wired{
		{name: "always", file: of("    restart: always\n"), want: "SG515/warning"},
		{name: "unless-stopped", file: of("    restart: unless-stopped\n"), want: "SG515/warning"},
		{name: "any", file: of("    deploy: {restart_policy: {condition: any}}\n"), want: "SG515/warning"},
		{name: "no", file: of("    restart: no\n")},
		{name: "always, and none under deploy", file: of("    restart: always\n    deploy: {restart_policy: {condition: none}}\n")},
		{name: "no, and any under deploy", file: of("    restart: no\n    deploy: {restart_policy: {condition: any}}\n"), want: "SG515/warning"},
		{name: "on-failure", file: of("    restart: on-failure:3\n")},
		{name: "none", file: of("")},
		{name: "not known", file: of("    restart: ${RESTART}\n")},
	})
}

func TestMergeKeys(t *testing.T) {
	of := func(worker string) string {
		return `x-worker: &worker
  image: app
  entrypoint: [/startgate, --]
  command: [rq, worker]
  environment: &env
    RQ_REDIS_URL: redis://redis:6379/0
    OTHER: a
  depends_on: &needs
    redis: {condition: service_healthy}
    mail: {condition: service_started}
services:
  mail: {image: mail}
  redis:
    image: redis
    healthcheck: {test: [CMD, redis-cli, -e, ping]}
  worker:
` + worker
	}
	runWired(t, "SG518", []wired{
		{name: "nothing of its own", file: of("    <<: *worker\n")},
		{name: "list", file: of("    <<: *worker\n    depends_on: [mail]\n"), want: "SG518/warning"},
		{name: "merge key behind", file: of("    depends_on: [mail]\n    <<: *worker\n"), want: "SG518/warning"},
		{name: "of several", file: of("    <<: [*worker, {init: true}]\n    depends_on: [mail]\n"), want: "SG518/warning"},
		{name: "merged below", file: of("    <<: *worker\n    depends_on:\n      <<: *needs\n      mail: {condition: service_started}\n")},
		{name: "what is lost is not needed", file: of("    <<: *worker\n    depends_on: {redis: {condition: service_healthy}}\n")},
		{name: "key of the contract", file: of("    <<: *worker\n    environment: {OTHER: b}\n"), want: "SG518/warning"},
		{name: "key from an env_file", file: of("    <<: *worker\n    env_file: w.env\n    environment: {OTHER: b}\n"), wiring: wiring{files: map[string]string{"w.env": "RQ_REDIS_URL=redis://redis:6379/0\n"}}},
		{name: "env_file not here", file: of("    <<: *worker\n    env_file: w.env\n    environment: {OTHER: b}\n")},
		{name: "environment merged below", file: of("    <<: *worker\n    environment: {<<: *env, OTHER: b}\n")},
		{name: "given by a second file", file: of("    <<: *worker\n    depends_on: [mail]\n"), wiring: wiring{files: map[string]string{"override.yaml": "services:\n  worker:\n    depends_on: [redis]\n"}}},
	})
}

// What the gate itself waits for, compose need not.
func TestNeedsOfTheContract(t *testing.T) {
	const contract = "contract: 1\nname: w\nkeys:\n  RQ_REDIS_URL: {type: redis_url, topic: redis, required: true}\n  R_URL: {type: http_url, topic: r, required: true}\nwaits:\n  - redis: RQ_REDIS_URL\n  - http: R_URL\n    path: /healthz\n"
	file := strings.Replace(workerOf("", "  weppcloudr:\n    image: r\n    healthcheck: {test: [CMD, /up]}\n"), "tini", "/startgate", 1)
	file = strings.Replace(file, "6379/0}", "6379/0, R_URL: 'http://weppcloudr:80'}", 1)
	w := wiring{bare: true, files: map[string]string{"w.contract.yaml": contract}, config: "version: 1\ncontract: w.contract.yaml\nservices: {worker: {needs: [weppcloudr]}}\n"}
	runWired(t, "SG50", []wired{
		{name: "the wait is for it", file: file, wiring: w, want: "SG503/info SG503/info"},
		{name: "the wait is for something else", file: strings.Replace(file, "http://weppcloudr", "http://elsewhere", 1), wiring: w, want: "SG503/error SG503/info"},
	})
}
