package compose

import (
	"strings"
	"testing"
)

const urlContract = `contract: 1
name: worker
keys:
  RQ_REDIS_URL: {type: redis_url, topic: redis, required: true}
  REDIS_URL: {type: redis_url}
  ALIGN: {type: bool, default: "true"}
rules:
  - {code: differ, when: ALIGN, aligned: [RQ_REDIS_URL, REDIS_URL], ignore: [db]}
`

func TestAlignedKeys(t *testing.T) {
	const url = "redis://redis:6379/0"
	pair := func(a, b string) map[string]string { return envStack("RQ_REDIS_URL: " + a + "\nREDIS_URL: " + b) }
	differ, drift := []string{"SG301 error [differ] @REDIS_URL"}, []string{"SG301 warning [differ] @REDIS_URL"}
	must := func(more ...string) []string { return append(more, "SG105 info @RQ_REDIS_URL") }
	for _, c := range []envCase{
		{name: "equal", files: pair(url, url)},
		{name: "an ignored part", files: pair(url, "redis://redis:6379/9")},
		{name: "another spelling", files: pair(url, "redis://default:@REDIS/1")},
		{name: "another port", files: pair(url, "redis://redis:6380/0"), want: append([]string{"SG309 error @REDIS_URL"}, differ...)},
		{name: "only one", files: envStack("RQ_REDIS_URL: " + url)},
		{name: "the rule does not apply", files: envStack("ALIGN: \"false\"\nRQ_REDIS_URL: ${A:-" + url + "}\nREDIS_URL: ${B:-" + url + "}")},
		{name: "one variable", files: pair("${A:?m}", "${A:?m}"), want: must()},
		{name: "one variable in two forms", files: pair("${A:?m}", "$A"), want: must()},
		{name: "one variable, another default", files: pair("${A:-"+url+"}", "${A:-redis://redis:6380/0}"), want: append([]string{"SG309 error @REDIS_URL"}, differ...)},
		{name: "one variable, another default, set here", files: pair("${A:-"+url+"}", "${A:-redis://redis:6380/0}"), environ: []string{"A=" + url}, want: differ},
		{name: "two variables", files: pair("${A:?m}", "${B:?m}"), want: append(must("SG105 info @REDIS_URL"), drift...)},
		{name: "two variables with one default", files: pair("${A:-"+url+"}", "${B:-"+url+"}"), want: drift},
		{name: "two variables with different defaults", files: pair("${A:-"+url+"}", "${B:-redis://redis:6380/0}"), want: append([]string{"SG309 error @REDIS_URL"}, differ...)},
		{name: "two variables that agree here", files: pair("${A:?m}", "${B:?m}"), environ: []string{"A=" + url, "B=" + url}, want: []string{"SG301 info [differ] @REDIS_URL"}},
		{name: "a variable and a text", files: pair("${A:?m}", url), want: append(must(), drift...)},
		{name: "one host variable", files: pair("redis://${H:-redis}:6379/0", "redis://${H:-redis}:6379/9")},
		{name: "two host variables", files: pair("redis://${H:-redis}:6379/0", "redis://${G:-redis}:6379/0"), want: drift},
		{name: "a database variable, which is ignored", files: pair("redis://redis:6379/${D:?m}", "redis://redis:6379/0"), want: must()},
		{name: "one port variable", files: pair("redis://redis:${P:?m}/0", "redis://redis:${P:?m}/1"), want: must()},
		{name: "two port variables", files: pair("redis://redis:${P:?m}/0", "redis://redis:${Q:?m}/1"), want: append(must("SG105 info @REDIS_URL"), drift...)},
		{name: "a host that differs beside a variable", files: pair("redis://${A:?m}@redis:6379/0", "redis://elsewhere.example.org:6379/0?health_check_interval=9"), want: append(must(), differ...)},
	} {
		c.contract = urlContract
		c.test(t)
	}
}

// TestAlignedKeysOfTheContract: what the contract compares in another order
// than the keys are written in is not lost.
func TestAlignedKeysOfTheContract(t *testing.T) {
	const contract = "contract: 1\nname: worker\nkeys:\n" +
		"  A_URL: {type: redis_url, fallback: [F_URL]}\n  B_URL: {type: redis_url}\n  C_URL: {type: redis_url}\n  F_URL: {type: redis_url}\n" +
		"rules:\n  - {code: differ, aligned: [A_URL, B_URL, C_URL]}\n"
	for _, c := range []envCase{
		{name: "a fallback", files: envStack("F_URL: redis://one.example.org/0?health_check_interval=9\nB_URL: redis://two.example.org/0?health_check_interval=9"), want: []string{"SG301 error [differ] @B_URL"}},
		{name: "an equal fallback", files: envStack("F_URL: redis://one.example.org/0?health_check_interval=9\nB_URL: redis://one.example.org/0?health_check_interval=9")},
		{name: "one that is not known, and two that differ", files: envStack("A_URL: ${A}\nB_URL: redis://redis/0\nC_URL: redis://redis/1"), want: []string{
			"SG301 warning [differ] @B_URL", "SG301 warning [differ] @C_URL", "SG301 error [differ] @B_URL"}},
	} {
		c.contract = contract
		c.test(t)
	}
}

func TestHostsOfRedisURLs(t *testing.T) {
	stack := func(rest, more string) map[string]string {
		if !strings.Contains(rest, "command:") {
			rest = "command: rq worker\n" + rest
		}
		return map[string]string{"compose.yaml": "services:\n  worker:\n    image: app\n" + indent(rest, "    ") + more}
	}
	url := func(host string) string { return "environment: {RQ_REDIS_URL: 'redis://" + host + ":6379/0'}\n" }
	const redis = "  redis:\n    image: redis:7\n"
	loop, nobody := []string{"SG303 error @RQ_REDIS_URL"}, []string{"SG304 warning @RQ_REDIS_URL"}
	elsewhere := []string{"SG310 info @RQ_REDIS_URL"}
	for _, c := range []envCase{
		{name: "localhost", files: stack(url("localhost"), redis), want: loop},
		{name: "127.0.0.1", files: stack(url("127.0.0.1"), redis), want: loop},
		{name: "IPv6", files: stack(url("[::1]"), redis), want: loop},
		{name: "REDIS_HOST", files: stack("environment: [REDIS_HOST=localhost]", redis), want: []string{"SG303 error @REDIS_HOST"}},
		{name: "the host's network", files: stack(url("localhost")+"network_mode: host", redis)},
		{name: "another one's network", files: stack(url("localhost")+"network_mode: service:redis", redis)},
		{name: "a network that is not known", files: stack(url("localhost")+"network_mode: '${M:?m}'", redis), want: []string{"SG105 info @network_mode"}},
		{name: "a sidecar", files: stack(url("localhost"), redis+"    network_mode: service:worker\n")},
		{name: "a Redis in the container", files: stack("command: sh -c 'redis-server & rq worker'\n"+url("localhost"), "")},
		{name: "a service that is no worker", files: stack(url("redis"), redis+"  web:\n    image: web\n    environment: {REDIS_URL: 'redis://localhost'}\n"), want: []string{"SG303 warning @REDIS_URL"}},
		{name: "no broker", files: stack("environment: {CELERY_BROKER_URL: 'amqp://localhost'}", "")},

		{name: "nobody", files: stack(url("broker"), redis), want: nobody},
		{name: "nobody, as REDIS_HOST", files: stack("environment: {REDIS_HOST: broker}", redis), want: []string{"SG304 warning @REDIS_HOST"}},
		{name: "nobody, with a service's name at its end", files: stack(url("myredis"), redis), want: nobody},
		{name: "a service", files: stack(url("redis"), redis)},
		{name: "in capitals", files: stack(url("REDIS"), redis)},
		{name: "a container", files: stack(url("broker"), redis+"    container_name: broker\n")},
		{name: "a container of compose", files: stack(url("stack-redis-1"), redis)},
		{name: "a hostname", files: stack(url("broker"), redis+"    hostname: broker\n")},
		{name: "an alias", files: stack(url("broker"), redis+"    networks: {default: {aliases: [broker]}}\n")},
		{name: "a link", files: stack(url("broker")+"links: ['redis:broker']", redis)},
		{name: "an external link", files: stack(url("broker")+"external_links: ['other_redis_1:broker']", redis)},
		{name: "an extra host", files: stack(url("broker")+"extra_hosts: ['broker:10.0.0.1']", redis)},
		{name: "an extra host in a mapping", files: stack(url("broker")+"extra_hosts: {broker: 10.0.0.1}", redis)},
		{name: "an extra host with =", files: stack(url("broker")+"extra_hosts: ['broker=10.0.0.1']", redis)},
		{name: "a network of other stacks", files: stack(url("broker")+"networks: [shared]", "networks: {shared: {external: true}}\n")},
		{name: "the default network is another stack's", files: stack(url("broker"), redis+"networks: {default: {external: true, name: shared}}\n")},
		{name: "a name server", files: stack(url("broker")+"dns: 10.0.0.2", redis)},
		{name: "the host's network again", files: stack(url("broker")+"network_mode: host", redis)},
		{name: "a host that is not known", files: stack(url("${H:?m}"), redis), want: []string{"SG105 info @RQ_REDIS_URL"}},
		{name: "a default that is nobody", files: stack("environment: {RQ_REDIS_URL: '${X:-redis://broker}'}", redis), want: nobody},
		{name: "a list of Celery's", files: stack("command: celery -A app worker\nenvironment: {CELERY_BROKER_URL: 'redis://redis:6379;redis://broker:6379'}", redis), want: []string{"SG304 warning @CELERY_BROKER_URL"}},

		{name: "a sentinel of asynq's", files: stack("command: [/startgate, --, /worker]\nenvironment: {ASYNQ_REDIS_URL: 'redis-sentinel://broker:26379?master=m'}", redis), want: []string{"SG304 warning @ASYNQ_REDIS_URL"}},

		{name: "elsewhere", files: stack(url("redis.example.org"), ""), want: elsewhere},
		{name: "an address", files: stack(url("10.1.2.3"), ""), want: elsewhere},
		{name: "the machine itself", files: stack(url("host.docker.internal"), "")},
		{name: "keepalive of the kernel", files: stack(url("redis.example.org")+"sysctls: {net.ipv4.tcp_keepalive_time: 60}", "")},
		{name: "keepalive of the kernel in a list", files: stack(url("redis.example.org")+"sysctls: [net.ipv4.tcp_keepalive_time=60]", "")},
		{name: "keepalive by a variable", files: stack("environment: {RQ_REDIS_URL: 'redis://redis.example.org', REDIS_SOCKET_KEEPALIVE: '1'}", "")},
		{name: "Celery's own", files: stack("command: celery -A app worker\nenvironment: {CELERY_BROKER_URL: 'redis://redis.example.org'}", "")},
		{name: "keepalive of its own", files: stack("command: bundle exec sidekiq\nenvironment: {REDIS_URL: 'redis://redis.example.org'}", "")},
	} {
		c.test(t)
	}
	const external = "version: 1\nstacks:\n  a: {files: [compose.yaml], "
	for _, c := range []envCase{
		{name: "declared external", files: stack(url("broker"), ""), config: external + "external: [broker]}\n", want: elsewhere},
		{name: "another one declared", files: stack(url("broker"), ""), config: external + "external: [db]}\n", want: nobody},
		{name: "the broker is external", files: stack(url("broker"), ""), config: external + "broker: external}\n", want: elsewhere},
	} {
		c.test(t)
	}
}

func TestDefaultThatLeadsNowhere(t *testing.T) {
	stack := func(value string) map[string]string {
		return map[string]string{"compose.yaml": "services:\n  worker:\n    image: app\n    command: rq worker\n    environment: {RQ_REDIS_URL: '" + value + "'}\n  db:\n    image: postgres\n"}
	}
	for _, c := range []envCase{
		{name: "nobody", files: stack("${X:-redis://redis:6379/9}"), want: []string{"SG203 warning @RQ_REDIS_URL"}},
		{name: "nobody, set here", files: stack("${X:-redis://redis:6379/9}"), environ: []string{"X=redis://db"}, want: []string{"SG203 warning @RQ_REDIS_URL"}},
		{name: "a host by default", files: stack("redis://${H:-redis}:6379/9"), want: []string{"SG203 warning @RQ_REDIS_URL"}},
		{name: "a service", files: stack("${X:-redis://db:6379/9}")},
		{name: "no default", files: stack("redis://redis:6379/9"), want: []string{"SG304 warning @RQ_REDIS_URL"}},
		{name: "localhost", files: stack("${X:-redis://localhost}"), want: []string{"SG303 error @RQ_REDIS_URL"}},
	} {
		c.contract = urlContract
		c.test(t)
	}
}

func TestWhatIsNoRedisURL(t *testing.T) {
	bad, doubtful := []string{"SG302 error @RQ_REDIS_URL"}, []string{"SG302 warning @RQ_REDIS_URL"}
	for value, want := range map[string][]string{
		"redis://redis:6379/x":            bad,
		"redis://redis:0":                 bad,
		"redis://:p#w@redis:6379":         bad,
		"redis:6379":                      doubtful,
		"redis://redis:6379/0":            nil,
		"rediss://u:p@redis:6379/0":       nil,
		"amqp://redis":                    nil,
		"memory://":                       nil,
		"${X}":                            nil,
		"redis://redis:${P}/${D}":         nil,
		"redis://${U}:${P_ENCODED}@redis": nil,
	} {
		envCase{name: value, files: envStack("RQ_REDIS_URL: '" + value + "'"), want: without(want, value)}.test(t)
	}
}

func TestResultBackends(t *testing.T) {
	for value, want := range map[string][]string{
		"django-db":  nil,
		"rpc":        nil,
		"redis:6379": {"SG302 warning @CELERY_RESULT_BACKEND"},
	} {
		envCase{name: value, files: envStack("RQ_REDIS_URL: redis://redis\nCELERY_RESULT_BACKEND: " + value), want: want}.test(t)
	}
}

// without leaves out what another rule says of the same stacks.
func without(want []string, value string) []string {
	if value == "rediss://u:p@redis:6379/0" {
		return append(want, "SG307 warning @RQ_REDIS_URL")
	}
	return want
}

func TestPasswordInURL(t *testing.T) {
	found := []string{"SG305 warning @RQ_REDIS_URL"}
	for _, c := range []envCase{
		{name: "pasted", files: envStack("RQ_REDIS_URL: redis://:${PW}@redis"), want: found},
		{name: "with a user", files: envStack("RQ_REDIS_URL: redis://worker:${PW}@redis"), want: found},
		{name: "without braces", files: envStack("RQ_REDIS_URL: redis://:$PW@redis"), want: found},
		{name: "a default with marks in it", files: envStack("RQ_REDIS_URL: redis://:${PW:-a}@redis"), want: found},
		{name: "in a part of a list", files: envStack("- RQ_REDIS_URL=redis://:${PW}@redis"), want: found},
		{name: "encoded by name", files: envStack("RQ_REDIS_URL: redis://:${PW_URLENCODED}@redis")},
		{name: "plain here", files: envStack("RQ_REDIS_URL: redis://:${PW}@redis"), environ: []string{"PW=abc-123"}},
		{name: "not plain here", files: envStack("RQ_REDIS_URL: redis://:${PW}@redis"), environ: []string{"PW=a%2Fb"}, want: found},
		{name: "a user only", files: envStack("RQ_REDIS_URL: redis://${U}@redis")},
		{name: "a host", files: envStack("RQ_REDIS_URL: redis://${H:-redis}:6379/0")},
		{name: "the whole URL", files: envStack("RQ_REDIS_URL: ${URL:-redis://redis}")},
		{name: "in a default", files: envStack("RQ_REDIS_URL: ${URL:-redis://:${PW}@redis}"), want: found},
		{name: "in a default, plain here", files: envStack("RQ_REDIS_URL: ${URL:-redis://:${PW}@redis}"), environ: []string{"PW=abc"}},
		{name: "no Redis key", files: envStack("DATABASE_URL: postgres://:${PW}@db")},
	} {
		// An image of another make, of which it is not known what it asks for.
		c.files["compose.yaml"] = strings.Replace(c.files["compose.yaml"], "redis:7", "bitnami/redis", 1)
		c.test(t)
	}
}
