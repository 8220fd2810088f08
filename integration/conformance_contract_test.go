package integration

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// under is a call under a contract whose only wait has these fields. Its keys
// are REDIS_URL, REDIS_PASSWORD and SENTINELS.
func under(t testing.TB, wait string, env ...string) call {
	t.Helper()
	path := filepath.Join(t.TempDir(), "contract.yaml")
	text := "contract: 1\nname: conformance\nkeys: {REDIS_URL: {type: redis_url}, REDIS_PASSWORD: {secret: true}, SENTINELS: {type: list}}\n" +
		"waits: [{" + wait + "}]\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return call{env: append([]string{"STARTGATE_CONTRACT=" + path}, env...)}
}

// needRows are what a contract needs of a server beside its being ready.
func needRows() []row {
	on := func(args []string, wait string) func(t testing.TB) call {
		return func(t testing.TB) call {
			return under(t, "redis: REDIS_URL, "+wait, startRedis(t, redisOptions{args: args}).env()...)
		}
	}
	evicts := []string{"--maxmemory", "1gb", "--maxmemory-policy", "allkeys-lru"}
	return []row{
		{"68", "require: noeviction, evicts", "", on(evicts, "require: [write, noeviction]"), isRefused("redis_eviction_policy")},
		{"68a", "require: noeviction, does not evict", "", on(nil, "require: [write, noeviction]"), isReady()},
		{"68b", "prefer: noeviction and version>=9.0, has neither", "", on(evicts, "prefer: [noeviction, version>=9.0]"),
			isReady("redis_eviction_policy", "redis_version_too_old")},
		// Valkey counts with its own version, though its INFO says redis_version 7.2.4.
		{"68c", "require: version>=8.0", "", on(nil, "require: [version>=8.0]"), isReady()},
		{"69", "client: sidekiq", "", on(nil, "client: sidekiq"), isReady()},
		{"69a", "client: bullmq, evicts", "", on(evicts, "client: bullmq"), isReady("redis_eviction_policy")},
		{"70", "client: bullmq, user without EVAL", "", func(t testing.TB) call {
			s := startRedis(t, redisOptions{})
			s.do("ACL", "SETUSER", "worker", "on", ">user-password", "~*", "+@all", "-eval")
			return under(t, "redis: REDIS_URL, client: bullmq", redisURL(s.url("worker:user-password@", ""))...)
		}, isRefused("redis_scripts_forbidden")},
		{"71", "require: reachable, password missing", "", on([]string{"--requirepass", "right-password"}, "require: [reachable]"), isReady()},
		{"71a", "require: reachable, loads", "", func(t testing.TB) call {
			c := under(t, "redis: REDIS_URL, require: [reachable]", startLoading(t, 3*time.Millisecond).env()...)
			c.flags = []string{"--reply-timeout", "1"}
			return c
		}, isReady()},
	}
}
