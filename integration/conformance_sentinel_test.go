package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sentinelRows are Sentinels in a Redis's place, and in their own.
func sentinelRows() []row {
	const wait = "redis: {sentinels: SENTINELS, master: mymaster, password: REDIS_PASSWORD}"
	ask := func(t testing.TB, sentinels ...*redisServer) call {
		var addresses []string
		for _, s := range sentinels {
			addresses = append(addresses, s.addr())
		}
		return under(t, wait, "SENTINELS="+strings.Join(addresses, ","))
	}
	return []row{
		{"58", "sentinel", "", func(t testing.TB) call {
			return at(startSentinel(t, nil).url("", ""))
		}, isRefused("redis_is_sentinel")},
		{"59", "sentinel, database 1", "", func(t testing.TB) call {
			return at(startSentinel(t, nil).url("", "/1"))
		}, isRefused("redis_is_sentinel")},
		{"60", "sentinel does not know the master", "", func(t testing.TB) call {
			return ask(t, startSentinel(t, nil))
		}, isRetried("redis_sentinel_no_master")},
		{"61", "sentinel down", "", func(t testing.TB) call {
			return ask(t, newRedis(t, redisOptions{}))
		}, isRetried("redis_sentinel_unreachable")},
		{"61a", "one sentinel down, the other well", "", func(t testing.TB) call {
			return ask(t, newRedis(t, redisOptions{}), startSentinel(t, startRedis(t, redisOptions{})))
		}, isReady()},
		{"62", "sentinel is a plain Redis", "", func(t testing.TB) call {
			return ask(t, startRedis(t, redisOptions{}))
		}, isRefused("redis_not_a_sentinel")},
		{"63", "sentinel fine, master dead", "", func(t testing.TB) call {
			master := startRedis(t, redisOptions{})
			sentinel := startSentinel(t, master)
			master.kill()
			return ask(t, sentinel)
		}, isRetried("redis_refused")},
		{"63a", "sentinel fine, master well", "", func(t testing.TB) call {
			return ask(t, startSentinel(t, startRedis(t, redisOptions{})))
		}, isReady()},
		{"63b", "sentinel fine, master wants a password", "", func(t testing.TB) call {
			return ask(t, startSentinel(t, startRedis(t, redisOptions{args: []string{"--requirepass", "right-password"}})))
		}, isRefused("redis_auth_required")},
		{"63c", "same, with the password", "", func(t testing.TB) call {
			c := ask(t, startSentinel(t, startRedis(t, redisOptions{args: []string{"--requirepass", "right-password"}})))
			c.env = append(c.env, "REDIS_PASSWORD=right-password")
			return c
		}, isReady()},
		{"63d", "sentinel fine, master has become a replica", "", func(t testing.TB) call {
			master := startRedis(t, redisOptions{})
			sentinel := startSentinel(t, master)
			master.do("REPLICAOF", "127.0.0.1", freePort(t))
			return ask(t, sentinel)
		}, isRetried("redis_read_only")},
		{"63e", "master dies, a replica takes its place", "", func(t testing.TB) call {
			master := startRedis(t, redisOptions{args: []string{"--repl-diskless-sync-delay", "0"}})
			replica := startRedis(t, redisOptions{args: replicaOf(master.port)})
			replica.awaitInfo("replication", "master_link_status", "up")
			sentinel := startSentinel(t, master, "down-after-milliseconds mymaster 200", "failover-timeout mymaster 3000")
			eventually(t, "the sentinel knows the replica", func() error {
				if reply, _ := sentinel.try("SENTINEL", "REPLICAS", "mymaster"); !strings.Contains(reply, replica.port) {
					return errNotYet
				}
				return nil
			})
			master.kill()
			return ask(t, sentinel)
		}, isReady()},
	}
}

// startSentinel starts a sentinel that watches a master, nil for none. Alone,
// it can replace the master; it does so after 30 s unless more settings say
// when. It wants a file that it can write.
func startSentinel(t testing.TB, master *redisServer, more ...string) *redisServer {
	t.Helper()
	var config strings.Builder
	if master != nil {
		fmt.Fprintf(&config, "sentinel monitor mymaster 127.0.0.1 %s 1\n", master.port)
	}
	for _, setting := range more {
		fmt.Fprintf(&config, "sentinel %s\n", setting)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "sentinel.conf")
	if err := os.WriteFile(path, []byte(config.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return startRedis(t, redisOptions{dir: dir, config: path, args: []string{"--sentinel"}})
}
