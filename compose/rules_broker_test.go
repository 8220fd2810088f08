package compose

import "testing"

// What is in a broker's image need not be one.
func TestClientsOfBrokerImages(t *testing.T) {
	for command, want := range map[string]string{
		"redis-cli --cluster create a:1 b:1":           "",
		"[sh, -c, 'until redis-cli ping; do :; done']": "",
		"[sh, -c, 'redis-server & redis-cli info']":    "SG519/warning",
		"redis-server": "SG519/warning",
	} {
		runWired(t, "SG519", []wired{{name: command, file: "services:\n  job:\n    image: redis:7\n    command: " + command + "\n", want: want}})
	}
}

func TestBrokerRules(t *testing.T) {
	const (
		command = `[redis-server, --appendonly, "yes", --maxmemory-policy, noeviction]`
		image   = "    image: redis:7\n"
		volume  = "    volumes: [queue:/data]\n"
		found   = "SG901 error services.redis.command.3"
		cache   = "  cache: {image: 'redis:7', command: [redis-server, --save, '', --maxmemory, 1gb, --maxmemory-policy, allkeys-lru]}\n"
	)
	started := func(with string) []string { return []string{command, with} }
	family := func(key, work string) []string {
		return []string{"RQ_REDIS_URL", key, rqCommand, work, command, "[redis-server, --maxmemory, 1gb, --maxmemory-policy, allkeys-lru]"}
	}
	asked := func(entry string) []string { return []string{refuseAfter, refuseAfter + "      " + entry + "\n"} }
	runCases(t, "SG9", []stackCase{
		{name: "evictions", change: started("[redis-server, --maxmemory, 1gb, --maxmemory-policy, allkeys-lru]"), want: found},
		{name: "evictions, in a string", change: started("redis-server --maxmemory 1gb --maxmemory-policy 'allkeys-lfu'"), want: "SG901 error services.redis.command"},
		{name: "evictions, by a shell", change: started(`[sh, -c, "exec redis-server --maxmemory 1gb --maxmemory-policy allkeys-lru"]`), want: "SG901 error services.redis.command.2"},
		{name: "evictions by default", change: started("redis-server --maxmemory 1gb --maxmemory-policy ${POLICY:-allkeys-lru}"), want: "SG901 error services.redis.command"},
		{name: "evictions of no memory", change: started("[redis-server, --maxmemory-policy, allkeys-lru]"), want: "SG901 warning services.redis.command.1"},
		{name: "evictions beside a file", change: started("[redis-server, /etc/redis.conf, --maxmemory-policy, allkeys-lru]"), want: "SG901 error services.redis.command.2"},
		{name: "evictions of what expires", change: started("[redis-server, --maxmemory, 1gb, --maxmemory-policy, volatile-lru]"), want: "SG901 warning services.redis.command.3"},
		{name: "evictions, for a family that is not known", change: family("REDIS_URL", "[resque:work]"), contract: "none", want: "SG901 warning services.redis.command.3"},
		{name: "evictions, for Sidekiq", change: family("REDIS_URL", "[bundle, exec, sidekiq]"), contract: "none", want: found},
		{name: "evictions, for Celery", change: family("CELERY_BROKER_URL", "celery -A app worker"), contract: "none", want: found},
		{name: "evictions, for BullMQ", change: family("BULLMQ_REDIS_URL", "[node, worker.js]"), contract: "none", config: "services: {worker: {role: worker, client: bullmq}}", want: found},
		{name: "evictions of what expires, for BullMQ", change: append(started("redis-server --maxmemory 1gb --maxmemory-policy volatile-ttl"), "RQ_REDIS_URL", "BULLMQ_REDIS_URL", rqCommand, "[node, worker.js]"),
			contract: "none", config: "services: {worker: {role: worker, client: bullmq}}", want: "SG901 error services.redis.command"},
		{name: "evictions by a variable of the image", change: []string{image, "    image: redis/redis-stack-server:7.2.0-v9\n    environment: {REDIS_ARGS: '--maxmemory 1gb --maxmemory-policy allkeys-lru'}\n"},
			want: "SG901 error services.redis.environment.REDIS_ARGS"},
		{name: "evictions by a configuration", change: []string{image, image + "    configs: [{source: conf, target: /etc/redis.conf}]\n", command, "[redis-server, /etc/redis.conf]", lastLines, "configs:\n  conf:\n    content: |\n      maxmemory 1gb\n      maxmemory-policy allkeys-lru\n" + lastLines},
			want: "SG901 error configs.conf.content"},
		{name: "a policy that is not known", change: started("[redis-server, --maxmemory-policy, '${POLICY:?}']")},
		{name: "a policy in a file", change: started("[redis-server, /etc/redis.conf]")},
		{name: "no policy", change: started("[redis-server, --maxmemory, 1gb]")},
		{name: "no command", change: []string{"    command: " + command + "\n", ""}},
		{name: "another Redis for caches", change: append(asked("CACHE_REDIS_URL: redis://cache:6379"), lastLines, cache+lastLines), contract: "none"},
		{name: "another Redis for the app", change: append(asked("REDIS_URL: redis://cache:6379"), lastLines, cache+lastLines), contract: "none"},
		{name: "another Redis that the contract waits for", change: append(asked("REDIS_URL: redis://cache:6379"), lastLines, cache+lastLines),
			contract: pageContract + "waits: [{redis: REDIS_URL}]\n", want: "SG902 warning services.cache.command.1\nSG901 error services.cache.command.5"},
		{name: "no worker", change: []string{rqCommand, "[gunicorn]", throughGate, "", command, "[redis-server, --maxmemory, 1gb, --maxmemory-policy, allkeys-lru]"}},
		{name: "RabbitMQ beside a cache", change: []string{"RQ_REDIS_URL: redis://redis:6379/0", "CELERY_BROKER_URL: amqp://rabbit\n      CACHE_REDIS_URL: redis://redis:6379/0", rqCommand, "celery -A app worker", command, "[redis-server, --maxmemory-policy, allkeys-lru]"}, contract: "none"},

		{name: "nothing is saved", change: started("redis-server --save ''"), want: "SG902 warning services.redis.command"},
		{name: "nothing is saved, in a list", change: started("[redis-server, --save, '', --appendonly, 'no']"), want: "SG902 warning services.redis.command.1"},
		{name: "nothing is saved, with a password", change: started("[redis-server, --save, '', --requirepass, '${PW:?}']"), want: "SG902 warning services.redis.command.1"},
		{name: "only appended", change: started("redis-server --save '' --appendonly yes")},
		{name: "only snapshots", change: started("redis-server --save 60 1")},
		{name: "a file may say more", change: started("redis-server /etc/redis.conf --save ''")},
		{name: "in memory", change: []string{volume, "    tmpfs: /data\n"}, want: "SG902 warning services.redis.tmpfs"},
		{name: "in memory, by a volume", change: []string{volume, "    volumes: [{type: tmpfs, target: /data}]\n"}, want: "SG902 warning services.redis.volumes.0"},
		{name: "something else in memory, by a volume", change: []string{volume, "    volumes: [{type: tmpfs, target: /tmp}, 'queue:/data']\n"}},
		{name: "something else in memory", change: []string{volume, volume + "    tmpfs: [/tmp]\n"}},
		{name: "no volume", change: []string{volume, ""}, want: "SG902 info services.redis"},

		{name: "no tag", change: []string{image, "    image: redis\n"}, want: "SG904 warning services.redis.image"},
		{name: "the latest", change: []string{image, "    image: registry.example:5000/valkey:latest\n"}, want: "SG904 warning services.redis.image"},
		{name: "any Alpine", change: []string{image, "    image: redis:alpine\n"}, want: "SG904 warning services.redis.image"},
		{name: "a tag with a number", change: []string{image, "    image: redis:7-alpine\n"}},
		{name: "a digest", change: []string{image, "    image: redis@sha256:1b0a6a7b0c8ed4a6ba5a6e3f16b83d6d1a9b8ed5e1bd3b7f6c2e9cf2d7a5b3c1\n"}},
		{name: "a tag that is not known", change: []string{image, "    image: redis:${REDIS_VERSION:?}\n"}},
		{name: "an image of one's own", change: []string{image, "    build: redis\n    image: redis\n"}},
	})
}
