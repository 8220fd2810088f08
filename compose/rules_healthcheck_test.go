package compose

import (
	"fmt"
	"strings"
	"testing"
)

// brokerWith is a stack of a broker with a test, and with what else is said.
func brokerWith(test string, more ...string) string {
	return "services:\n  redis:\n    image: redis:7.4\n    healthcheck:\n      test: " + test + "\n" + strings.Join(more, "")
}

func TestBrokerHealthchecks(t *testing.T) {
	const password = "    command: redis-server --requirepass secret\n"
	const port = "    command: [redis-server, --port, '6380']\n"
	var cases []wired
	for _, c := range []struct{ want, test, more string }{
		// The table of redis-cli's answers.
		{"SG504/error", "[CMD, redis-cli, ping]", ""},
		{"SG504/error", "redis-cli ping", ""},
		{"SG504/error", "[CMD-SHELL, redis-cli ping || exit 1]", ""},
		{"SG504/error", "[CMD-SHELL, 'redis-cli ping >/dev/null 2>&1']", ""},
		{"SG504/error", "[CMD, redis-cli, --raw, dbsize]", ""},
		{"SG504/error", "[CMD-SHELL, redis-cli INFO persistence | grep -q loading:0]", ""},
		{"SG504/error", "[CMD, sh, -c, redis-cli ping]", ""},
		{"SG504/error", "[CMD, valkey-cli, ping]", ""},
		{"SG504/error", "[CMD-SHELL, timeout 3 redis-cli -h localhost -p 6379 ping]", ""},
		{"SG504/error", "[CMD-SHELL, nc -z localhost 6379]", ""},
		{"SG504/error", "[CMD, pidof, redis-server]", ""},
		{"SG504/error", "'test \"$(redis-cli ping)\" != \"\"'", ""},
		{"SG504/error", "[CMD-SHELL, redis-cli ping | grep -c .]", ""},
		{"SG504/error SG507/error", "[CMD, redis-cli, --raw, incr, ping]", ""},
		{"SG507/error", "[CMD, redis-cli, -e, set, a, b]", ""},
		{"", "[CMD, redis-cli, -e, ping]", ""},
		{"", "redis-cli ping | grep -qx PONG", ""},
		{"", "redis-cli ping | grep PONG || exit 1", ""},
		{"", `'[ "$(redis-cli ping)" = PONG ]'`, ""},
		{"", `'[ "$$(redis-cli ping)" = "PONG" ] || exit 1'`, ""},
		{"", "'test `redis-cli ping` = PONG'", ""},
		{"", `'redis-cli info persistence | grep -q "^loading:0"'`, ""},
		{"", `"redis-cli info | tr -d '\\r' | grep -qx loading:0"`, ""},
		{"", "'redis-cli ping | grep -q LOADING && exit 1; redis-cli -e ping'", ""},
		{"", "'set -e; redis-cli -e ping; redis-cli info'", ""},
		{"", "[CMD, /startgate, probe]", ""},
		{"", "[CMD, /usr/local/bin/healthcheck.sh]", ""},
		{"", "'if redis-cli ping; then exit 0; fi'", ""},
		{"", "redis-cli -h elsewhere ping", ""},
		{"SG504/error", "[CMD, redis-cli, cluster, info]", ""},
		{"", "'redis-cli cluster info | grep -q cluster_state:ok'", ""},
		{"", "'redis-cli $$OPTIONS ping'", ""},
		{"", "'${CHECK}'", ""},
		{"", "[NONE]", ""},

		// What cannot fail, and what cannot pass.
		{"SG507/error", "redis-cli ping || true", ""},
		{"SG507/error", "redis-cli -e ping; exit 0", ""},
		{"SG507/error", "'redis-cli -e ping || echo down'", ""},
		{"SG507/error", "exit 0", ""},
		{"SG507/error", "[CMD, 'true']", ""},
		{"SG507/error", "[CMD, redis-cli, --version]", ""},
		{"SG507/error", "'redis-cli info persistence | grep -q \"^loading:0$$\"'", ""},
		{"SG507/error", "redis-cli ping | grep -qx pong", ""},
		{"SG507/error", "'redis-cli info persistence | grep -q loading:1 && exit 1 || exit 0'", ""},
		{"SG507/error", "[CMD, /startgate, health]", ""},
		{"", "'redis-cli info persistence | grep -q loading:1 && exit 1; redis-cli -e ping'", ""},

		// Ports.
		{"SG507/error", "[CMD, redis-cli, -e, ping]", port},
		{"SG507/error", "[CMD, redis-cli, -p, '6380', -e, ping]", ""},
		{"SG507/error", "[CMD, redis-cli, -u, 'redis://localhost:6380', -e, ping]", ""},
		{"", "[CMD, redis-cli, -p, '6380', -e, ping]", port},
		{"", "[CMD, redis-cli, -e, ping]", "    command: [redis-server, /etc/redis.conf]\n"},
		{"", "[CMD, redis-cli, -p, '6380', -e, ping]", "    command: [redis-server, /etc/redis.conf]\n"},
		{"", "[CMD, redis-cli, -p, '6380', -e, ping]", "    command: [redis-server, /etc/redis.cfg]\n"},
		{"", "[CMD, redis-cli, -p, '6380', -e, ping]", "    entrypoint: /start.sh\n"},
		{"", "[CMD, redis-cli, -p, '${PORT}', -e, ping]", ""},
		{"", "[CMD, redis-cli, -p, '6390', -e, ping]", "    command: [redis-server, --port, '${PORT}']\n"},
		{"", "[CMD, redis-cli, -s, /run/redis.sock, -e, ping]", ""},

		// Passwords.
		{"SG504/error SG505/error", "[CMD, redis-cli, ping]", password},
		{"SG505/error", "[CMD, redis-cli, -e, ping]", password},
		{"SG505/error", "redis-cli ping | grep PONG", password},
		{"SG505/error", `'[ "$$(redis-cli ping)" = PONG ]'`, password},
		{"SG505/error", "[CMD, redis-cli, -e, ping]", "    command: sh -c 'exec redis-server --requirepass \"$$PW\"'\n    environment: {PW: secret}\n"},
		{"SG505/error", "[CMD, redis-cli, -e, ping]", "    command: ['redis-server', '--requirepass secret']\n"},
		{"SG505/warning", "[CMD, redis-cli, -e, ping]", "    command: redis-server --requirepass ${PW}\n"},
		{"SG505/error", "[CMD, redis-cli, -e, ping]", "    command: redis-server --requirepass ${PW:?}\n"},
		{"", "[CMD, redis-cli, -a, secret, -e, ping]", password},
		{"", "[CMD, redis-cli, --no-auth-warning, --pass, secret, -e, ping]", password},
		{"", "[CMD, redis-cli, -u, 'redis://:secret@localhost', -e, ping]", password},
		{"", "REDISCLI_AUTH=secret redis-cli -e ping", password},
		{"", "[CMD, redis-cli, -e, ping]", password + "    environment: [REDISCLI_AUTH=secret]\n"},
		{"", "[CMD, redis-cli, -e, ping]", password + "    environment: [REDISCLI_AUTH]\n"},
		{"", "[CMD, redis-cli, -e, ping]", password + "    env_file: absent.env\n"},
		{"", "'printf \"AUTH secret\\nPING\" | redis-cli | grep PONG'", password},
		{"", "[CMD, redis-cli, -e, ping]", "    command: [redis-server, --requirepass, '']\n"},
		{"", "[CMD, redis-cli, -e, ping]", "    environment: {REDIS_PASSWORD: secret}\n"},

		// Forms.
		{"SG506/error", "[CMD, redis-cli, ping, '|', grep, PONG]", ""},
		{"SG506/error", "[CMD, redis-cli, ping, '||', exit, '1']", ""},
		{"SG506/error", "[CMD, redis-cli -e ping]", ""},
		{"SG506/error", "[CMD-SHELL, redis-cli, ping]", ""},
		{"SG506/error", "[redis-cli, ping]", ""},
		{"SG506/error", "NONE", ""},
		{"SG506/error", "[]", ""},
		{"SG506/error", "''", ""},
		{"SG506/error", "[CMD]", ""},
		{"SG506/error", "[CMD-SHELL]", ""},
		{"SG506/error", "[CMD, redis-cli, -a, $$REDIS_PASSWORD, -e, ping]", ""},
		{"", "[CMD, sh, -c, 'redis-cli -e ping | grep PONG']", ""},
		{"", "[CMD, python, -c, 'import a; a.b(\"$$x\")']", ""},
	} {
		cases = append(cases, wired{name: c.test, file: brokerWith(c.test, c.more), want: c.want})
	}
	cases = append(cases,
		wired{name: "a sentinel", file: brokerWith("[CMD, redis-cli, -p, '26379', ping]", "    command: [redis-sentinel, /s.conf]\n")},
		wired{name: "a server as sentinel", file: brokerWith("[CMD, redis-cli, -p, '26379', ping]", "    command: [redis-server, /s.conf, --sentinel]\n")},
	)
	runWired(t, "SG50", cases)
}

// What the image says changes what a check means.
func TestBrokerImages(t *testing.T) {
	of := func(image, test string) string {
		return strings.Replace(brokerWith(test), "redis:7.4", image, 1)
	}
	runWired(t, "SG50", []wired{
		{name: "no -e", file: of("redis:6.0-alpine", "[CMD, redis-cli, -e, ping]"), want: "SG507/error"},
		{name: "6 is 6.2", file: of("redis:6", "[CMD, redis-cli, -e, ping]")},
		{name: "6.2", file: of("redis:6.2.14", "[CMD, redis-cli, -e, ping]")},
		{name: "no async_loading before 7", file: of("redis:6.2", "redis-cli info persistence | grep -q loading:0")},
		{name: "KeyDB", file: of("eqalpha/keydb", "[CMD, keydb-cli, -e, ping]"), want: "SG504/error"},
		{name: "KeyDB's INFO", file: of("eqalpha/keydb", "'keydb-cli info persistence | grep -q ^loading:0'")},
		{name: "unknown image", file: of("${IMAGE:-redis}", "[CMD, redis-cli, ping]"), want: "SG504/error"},
		{name: "nothing to load", file: brokerWith("redis-cli ping", "    command: [redis-server, --save, '', --maxmemory-policy, noeviction]\n"), want: "SG504/warning"},
		{name: "bitnami", file: strings.Replace(brokerWith("[CMD, redis-cli, -e, ping]", "    environment: {REDIS_PASSWORD: secret}\n"), "redis:7.4", "bitnami/redis:7.4", 1), want: "SG505/error"},
	})
}

func TestWorkerHealthchecks(t *testing.T) {
	of := func(test string) string {
		return "services:\n  w:\n    image: app\n    entrypoint: [/startgate, --]\n    command: [celery, -A, app, worker]\n    healthcheck:\n      test: " + test + "\n"
	}
	var cases []wired
	for test, want := range map[string]string{
		"pgrep -f celery || exit 1":                         "SG507/error",
		"pgrep -f celery > /dev/null":                       "SG507/error",
		"pgrep -f celery":                                   "SG507/warning",
		"ps aux | grep celery":                              "SG507/error",
		"celery inspect ping || true":                       "SG507/error",
		"kill -0 1":                                         "SG507/error",
		"exec pgrep -f celery":                              "",
		"ps aux | grep '[c]elery'":                          "",
		"ps aux | grep celery | grep -v grep":               "",
		"pgrep -f '[c]elery' || exit 1":                     "",
		"pgrep celery || exit 1":                            "",
		"[CMD, pgrep, -f, celery]":                          "",
		"celery inspect ping -d celery@$$HOSTNAME":          "",
		"celery inspect ping || exit 1":                     "",
		"curl -fsS http://localhost:9100/healthz":           "",
		"wget -qO- http://localhost:9100/healthz | grep ok": "",
		"[CMD, /startgate, health]":                         "",
		"/startgate health || exit 1":                       "",
		"redis-cli -h redis ping":                           "",
		"[NONE]":                                            "",
	} {
		cases = append(cases, wired{name: test, file: of(test), want: want})
	}
	runWired(t, "SG507", cases)
}

func TestToolsOfImages(t *testing.T) {
	const config = "version: 1\nimages:\n  app: {tools: [/usr/bin/python3, rq, redis-cli]}\nservices: {w: {role: worker}}\n"
	var cases []wired
	for test, want := range map[string]string{
		"[CMD, curl, http://localhost]":            "SG508/warning",
		"[CMD, sh, -c, 'exit 1']":                  "SG508/warning",
		"'exit 1'":                                 "SG508/warning",
		"[CMD, python3, -c, 'x = (1 | 2) > 0']":    "",
		"[CMD, rq, info]":                          "",
		"[CMD, /startgate, health]":                "",
		"[CMD, timeout, '5', redis-cli, -e, ping]": "",
	} {
		cases = append(cases, wired{name: test, wiring: wiring{config: config}, want: want, file: "services:\n  w:\n    image: app\n    healthcheck: {test: " + test + "}\n"})
	}
	cases = append(cases, wired{name: "nothing is said", file: "services:\n  w:\n    image: app\n    command: rq worker\n    healthcheck: {test: curl localhost}\n"})
	runWired(t, "SG508", cases)
}

func TestInheritedHealthchecks(t *testing.T) {
	stack := func(worker string) string {
		return fmt.Sprintf("services:\n  web: {image: app, command: gunicorn}\n  w:\n    image: app\n    command: rq worker\n%s", worker)
	}
	const has = "version: 1\nimages: {app: {healthcheck: true}}\n"
	runWired(t, "SG509", []wired{
		{name: "shared", file: stack(""), wiring: wiring{config: has}, want: "SG509/warning"},
		{name: "times only", file: stack("    healthcheck: {retries: 5}\n"), wiring: wiring{config: has}, want: "SG509/warning"},
		{name: "own", file: stack("    healthcheck: {test: [CMD, /startgate, health]}\n"), wiring: wiring{config: has}},
		{name: "off", file: stack("    healthcheck: {disable: true}\n"), wiring: wiring{config: has}},
		{name: "not known", file: stack("")},
		{name: "has none", file: stack(""), wiring: wiring{config: "version: 1\nimages: {app: {healthcheck: false}}\n"}},
	})
}

// No other service's check is this program's business.
func TestOtherHealthchecks(t *testing.T) {
	runWired(t, "SG5", []wired{
		{name: "no Redis", file: "services:\n  web: {image: app, healthcheck: {test: NONE}}\n  db: {image: postgres, healthcheck: {test: pg_isready || true}}\n"},
	})
}
