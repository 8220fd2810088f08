package integration

import (
	"fmt"
	"testing"
	"time"
)

// replicaRows are servers that follow another one.
func replicaRows() []row {
	return []row{
		{"7", "replica, loads beside its old data", "", func(t testing.TB) call {
			return at(startAsyncLoading(t).url("", ""), "--reply-timeout", "1")
		}, isRetried("redis_loading")},
		{"8", "replica, loads a full sync", "", func(t testing.TB) call {
			dir, args := slowLoad(t, 3*time.Millisecond)
			// Redis 6 answers between chunks of what it receives, which must not be small then.
			sync := []string{"--repl-diskless-sync-delay", "0", "--rdbcompression", yesNo(!isRedis6(t))}
			master := startRedis(t, redisOptions{dir: dir, args: sync})
			s := startRedis(t, redisOptions{args: append(args, replicaOf(master.port)...)})
			s.awaitInfo("persistence", "loading", "1")
			return at(s.url("", ""), "--reply-timeout", "1")
		}, isRetried("redis_loading")},
		{"9", "replica, master down, serves old data", "", func(t testing.TB) call {
			return at(startRedis(t, redisOptions{args: replicaOf(freePort(t))}).url("", ""))
		}, isRetried("redis_read_only")},
		{"10", "replica, master down, serves none", "", func(t testing.TB) call {
			args := append(replicaOf(freePort(t)), "--replica-serve-stale-data", "no")
			return at(startRedis(t, redisOptions{args: args}).url("", ""))
		}, isRetried("redis_master_down")},
		{"11", "replica, link up", "", func(t testing.TB) call {
			master := startRedis(t, redisOptions{args: []string{"--repl-diskless-sync-delay", "0"}})
			s := startRedis(t, redisOptions{args: replicaOf(master.port)})
			s.awaitInfo("replication", "master_link_status", "up")
			return at(s.url("", ""))
		}, isRetried("redis_read_only")},
	}
}

func replicaOf(port string) []string { return []string{"--replicaof", "127.0.0.1", port} }

// startAsyncLoading starts a replica that has lost its place in the master's
// backlog and loads the data set anew, beside the one that it serves.
func startAsyncLoading(t testing.TB) *redisServer {
	t.Helper()
	master := startRedis(t, redisOptions{dir: dataSet(t), args: []string{
		"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0", "--repl-backlog-size", "16kb",
	}})
	s := startRedis(t, redisOptions{args: append(replicaOf(master.port), "--repl-diskless-load", "swapdb")})
	s.awaitInfo("replication", "master_link_status", "up")
	s.do("CONFIG", "SET", "key-load-delay", "3000")
	s.do("CONFIG", "SET", "loading-process-events-interval-bytes", "1024")
	resume := suspend(t, s.cmd.Process)
	master.do("CLIENT", "KILL", "TYPE", "replica")
	for i := range 20 {
		master.do("SET", fmt.Sprintf("big:%d", i), fmt.Sprintf("%0100000d", i))
	}
	resume()
	s.awaitInfo("persistence", "async_loading", "1")
	return s
}
