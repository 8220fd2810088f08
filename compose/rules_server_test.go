package compose

import "testing"

func TestBrokerAgainstURL(t *testing.T) {
	stack := func(url, redis string) map[string]string {
		return map[string]string{"compose.yaml": "services:\n  worker:\n    image: app\n    command: rq worker\n    environment: {RQ_REDIS_URL: '" + url + "'}\n  redis:\n" + indent(redis, "    ")}
	}
	const image, url, secret = "image: redis:7.2\n", "redis://redis:6379/0", "redis://:abc@redis:6379/0"
	bad, odd := []string{"SG309 error @RQ_REDIS_URL"}, []string{"SG309 warning @RQ_REDIS_URL"}
	for _, c := range []envCase{
		{name: "neither", files: stack(url, image)},
		{name: "both", files: stack(secret, image+"command: redis-server --requirepass abc")},
		{name: "another password", files: stack(secret, image+"command: redis-server --requirepass abd"), want: bad},
		{name: "required", files: stack(url, image+"command: [redis-server, --requirepass, abc]"), want: bad},
		{name: "required, in one word", files: stack(url, image+"command: [redis-server, '--requirepass abc']"), want: bad},
		{name: "required, by options alone", files: stack(url, image+"command: --requirepass abc"), want: bad},
		{name: "required, in a shell", files: stack(url, image+"command: sh -c 'redis-server --requirepass \"$$PW\"'"), want: bad},
		{name: "required, of any image", files: stack(url, "image: bitnami/redis\ncommand: redis-server --requirepass abc"), want: bad},
		{name: "required by a variable that must be set", files: stack(url, image+"command: redis-server --requirepass ${PW:?m}"), want: append([]string{"SG105 info @command"}, bad...)},
		{name: "required by a variable that may be blank", files: stack(url, image+"command: redis-server --requirepass ${PW}")},
		{name: "required if there is one", files: stack(url, image+"command: redis-server ${PW:+--requirepass $PW}")},
		{name: "a password of the deployment in an env_file", files: map[string]string{
			"compose.yaml": "services:\n  worker:\n    image: app\n    command: rq worker\n    env_file: w.env\n  redis:\n    image: redis:7\n    command: redis-server --requirepass ${PW:?m}\n",
			"w.env":        "RQ_REDIS_URL=redis://:${PW}@redis\n",
		}, want: []string{"SG105 info @command"}},
		{name: "no password in an env_file", files: map[string]string{
			"compose.yaml": "services:\n  worker:\n    image: app\n    command: rq worker\n    env_file: w.env\n  redis:\n    image: redis:7\n    command: redis-server --requirepass ${PW:?m}\n",
			"w.env":        "HOST=redis\nRQ_REDIS_URL=redis://${HOST}\n",
		}, want: append([]string{"SG105 info @command"}, bad...)},
		{name: "an empty default", files: stack(url, image+"command: redis-server --requirepass '${PW:-}'")},
		{name: "the password of a key of its own", files: map[string]string{"compose.yaml": "services:\n  worker:\n    image: app\n    command: rq worker\n    environment: {RQ_REDIS_URL: '" + url + "', REDIS_PASSWORD: abc}\n  redis:\n    image: redis:7\n    command: redis-server --requirepass abc\n"}},
		{name: "the password of a key of another name", files: map[string]string{"compose.yaml": "services:\n  worker:\n    image: app\n    command: rq worker\n    environment: {RQ_REDIS_URL: '" + url + "', VALKEY_AUTH: abc}\n  redis:\n    image: redis:7\n    command: redis-server --requirepass abc\n"}},
		{name: "users of its own", files: stack("redis://worker:abc@redis", image+"command: redis-server --user worker")},
		{name: "not required", files: stack(secret, image), want: odd},
		{name: "not required, with options", files: stack(secret, image+"command: redis-server --appendonly yes"), want: odd},
		{name: "a configuration file", files: stack(secret, image+"command: redis-server /etc/redis.conf")},
		{name: "a configuration file of another name", files: stack(secret, image+"command: [redis-server, redis.cfg]")},
		{name: "an image of another make", files: stack(secret, "image: bitnami/redis\n")},
		{name: "an image of one's own", files: stack(secret, "build: .\ncommand: redis-server\n")},
		{name: "an entrypoint of one's own", files: stack(secret, image+"entrypoint: /start.sh")},
		{name: "flags in the environment", files: stack(secret, "image: valkey/valkey\nenvironment: {VALKEY_EXTRA_FLAGS: --requirepass abc}\n")},
		{name: "a URL that is not known", files: stack("${X}", image+"command: redis-server --requirepass abc")},

		{name: "the published port", files: stack("redis://redis:6380/0", image+"ports: ['6380:6379']"), want: bad},
		{name: "another port", files: stack(url, image+"command: redis-server --port 6380"), want: bad},
		{name: "the same other port", files: stack("redis://redis:6380", image+"command: redis-server --port 6380")},
		{name: "a port of another make", files: stack("redis://redis:6380", "image: bitnami/redis\n")},
		{name: "a port of a configuration file", files: stack("redis://redis:6380", image+"command: redis-server /usr/local/etc/redis/redis.conf")},
		{name: "ports that are not known", files: stack("redis://redis:${P}", image+"command: redis-server --port ${Q:-6379}")},
		{name: "TLS without a TLS port", files: stack("rediss://redis:6379", image), want: []string{"SG307 warning @RQ_REDIS_URL"}},
		{name: "TLS with a TLS port", files: stack("rediss://redis:6380", image+"command: redis-server --port 0 --tls-port 6380")},
		{name: "Azure's TLS port", files: stack("redis://x.example.org:6380?health_check_interval=9", image), want: []string{"SG307 info @RQ_REDIS_URL"}},
	} {
		c.test(t)
	}
}

func TestNetworksOfWorkerAndBroker(t *testing.T) {
	stack := func(worker, redis, networks string) map[string]string {
		return map[string]string{"compose.yaml": "services:\n  worker:\n    image: app\n    command: rq worker\n    environment: {RQ_REDIS_URL: 'redis://redis'}\n" +
			indent(worker, "    ") + "  redis:\n    image: redis:7\n" + indent(redis, "    ") + networks}
	}
	const two = "networks: {a: {}, b: {}}\n"
	apart := []string{"SG308 error @networks"}
	for _, c := range []envCase{
		{name: "default", files: stack("", "", "")},
		{name: "one leaves the default", files: stack("networks: [a]", "", two), want: apart},
		{name: "two", files: stack("networks: [a]", "networks: [b]", two), want: apart},
		{name: "one in common", files: stack("networks: [a, b]", "networks: {b: {}}", two)},
		{name: "default by name", files: stack("networks: [default, a]", "", two)},
		{name: "one network by two keys", files: stack("networks: [a]", "networks: [b]", "networks: {a: {name: x}, b: {name: x, external: true}}\n")},
		{name: "an external one by its key", files: stack("networks: [a]", "networks: [b]", "networks: {a: {external: true}, b: {name: a}}\n")},
		{name: "a name that is not known", files: stack("networks: [a]", "networks: [b]", "networks: {a: {name: '${N:?m}'}, b: {}}\n"), want: []string{"SG105 info @name"}},
		{name: "the host's network", files: stack("network_mode: host", "", "")},
		{name: "a broker in the host's network", files: stack("", "network_mode: host", "")},
		{name: "a link", files: stack("networks: [a]\nextra_hosts: ['redis:10.0.0.1']", "", two)},
	} {
		c.test(t)
	}
}
