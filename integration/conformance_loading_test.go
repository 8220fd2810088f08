package integration

import (
	"testing"
	"time"
)

// loadingRows are servers that load their data set.
func loadingRows() []row {
	return []row{
		{"4", "loads an AOF", "", func(t testing.TB) call {
			return at(startLoadingAOF(t, 100_000).url("", ""), "--reply-timeout", "1")
		}, isRetried("redis_loading")},
		{"5", "loads a snapshot, answers between chunks", "", func(t testing.TB) call {
			return at(startLoading(t, 3*time.Millisecond).url("", ""), "--reply-timeout", "1")
		}, isRetried("redis_loading")},
		{"6", "loads, its event loop stalled", "", func(t testing.TB) call {
			s := startRedis(t, redisOptions{dir: dataSet(t), args: stallArgs(10 * time.Millisecond), stalled: true})
			return at(s.url("", ""))
		}, isRetried("redis_reply_timeout")},
	}
}

// startLoadingAOF starts a server that loads an append-only file that it has
// written before. The loader answers every 1024 commands; a negative delay has
// it sleep for the shortest time after one command in three only, for 20 µs or
// more of each key. Redis 6 knows positive ones alone.
func startLoadingAOF(t testing.TB, keys int) *redisServer {
	t.Helper()
	args := []string{"--appendonly", "yes", "--aof-use-rdb-preamble", "no"}
	s := startRedis(t, redisOptions{args: args})
	write(t, s, keys, 40)
	s.kill()
	delay := "-3"
	if isRedis6(t) {
		delay = "1"
	}
	s.start(append(args, "--key-load-delay", delay)...)
	return s
}
