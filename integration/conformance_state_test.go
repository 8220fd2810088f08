package integration

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// stateRows are servers that answer and are of no use to a worker, now.
func stateRows() []row {
	return []row{
		// Redis 7.0 takes 127.0.0.1 and ::1 alone for local, and the gate always connects from the address that it
		// connects to: so the server listens on another address of this machine. Redis 6 protects only a server that was
		// not told where to listen.
		{"25", "protected mode, from another own address", "", func(t testing.TB) call {
			s := startRedis(t, redisOptions{host: ownAddress(t), everywhere: isRedis6(t)})
			return at(s.url("", ""))
		}, isRefused("redis_protected_mode")},
		{"26", "max clients", "", func(t testing.TB) call {
			s := startRedis(t, redisOptions{args: []string{"--maxclients", "1"}})
			takeOnlyPlace(t, s)
			return at(s.url("", ""))
		}, isRetried("redis_max_clients")},
		{"27", "busy with a script", "", func(t testing.TB) call {
			s := startRedis(t, redisOptions{args: []string{"--lua-time-limit", "20"}})
			runScript(t, s)
			eventually(t, "BUSY", func() error {
				if reply, err := s.try("PING"); err != nil || reply[:5] != "-BUSY" {
					return fmt.Errorf("%q, %v", reply, err)
				}
				return nil
			})
			return at(s.url("", ""))
		}, isRetried("redis_busy")},
		{"28", "runs a script, not yet busy", "", func(t testing.TB) call {
			s := startRedis(t, redisOptions{args: []string{"--lua-time-limit", "60000"}})
			runScript(t, s)
			return at(s.url("", ""))
		}, isRetried("redis_reply_timeout")},
		{"29", "snapshot failed: data directory gone", "", func(t testing.TB) call {
			return at(startFailingSnapshot(t).url("", ""))
		}, isRetried("redis_persistence_failing")},
		{"31", "same, stop-writes-on-bgsave-error no", "", func(t testing.TB) call {
			s := startFailingSnapshot(t)
			s.do("CONFIG", "SET", "stop-writes-on-bgsave-error", "no")
			return at(s.url("", ""))
		}, isReady("redis_persistence_warning")},
		{"30", "AOF on a full disk", "", func(t testing.TB) call {
			return at(startFullDisk(t).url("", ""))
		}, isRetried("redis_persistence_failing")},
		{"32", "out of memory", "", func(t testing.TB) call {
			return at(startRedis(t, redisOptions{args: []string{"--maxmemory", "1"}}).url("", ""))
		}, isRetried("redis_out_of_memory")},
		{"32a", "out of memory, require=ping", "", func(t testing.TB) call {
			return at(startRedis(t, redisOptions{args: []string{"--maxmemory", "1"}}).url("", ""), "--require", "ping")
		}, isReady()},
		{"32b", "out of memory, oom: warn", "", func(t testing.TB) call {
			s := startRedis(t, redisOptions{args: []string{"--maxmemory", "1"}})
			return under(t, "redis: REDIS_URL, oom: warn", s.env()...)
		}, isReady("redis_out_of_memory")},
		{"33", "too few replicas", "", func(t testing.TB) call {
			return at(startRedis(t, redisOptions{args: []string{"--min-replicas-to-write", "1"}}).url("", ""))
		}, isRetried("redis_not_enough_replicas")},
		{"34", "CLIENT PAUSE WRITE", "", func(t testing.TB) call {
			s := startRedis(t, redisOptions{})
			s.do("CLIENT", "PAUSE", "60000", "WRITE")
			return at(s.url("", ""))
		}, isRetried("redis_write_paused")},
		{"35", "CLIENT PAUSE ALL", "", func(t testing.TB) call {
			s := startRedis(t, redisOptions{})
			s.do("CLIENT", "PAUSE", "60000") // of all, a word that came with 6.2
			return at(s.url("", ""))
		}, isRetried("redis_reply_timeout")},
		{"35a", "process stopped", "", func(t testing.TB) call {
			s := startRedis(t, redisOptions{})
			suspend(t, s.cmd.Process)
			return at(s.url("", ""))
		}, isRetried("redis_reply_timeout")},
	}
}

// takeOnlyPlace connects as the one client that s allows.
func takeOnlyPlace(t testing.TB, s *redisServer) {
	eventually(t, "the place is free", func() error {
		c, err := s.dial()
		if err != nil {
			return err
		}
		if reply, err := c.ask("PING"); err != nil || reply != "PONG" {
			c.close()
			return fmt.Errorf("%q, %v", reply, err)
		}
		t.Cleanup(c.close)
		return nil
	})
}

// runScript has s run a script that does not end, and returns when it runs.
// The script takes one processor, as long as the server lives.
func runScript(t testing.TB, s *redisServer) {
	c, err := s.dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	// The server reads both at once, and answers the first when it is in the second.
	if err := c.send("EVAL", "while true do end", "0"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the script runs", func() error {
		other, err := s.dial()
		if err != nil {
			return err
		}
		defer other.close()
		other.conn.SetDeadline(time.Now().Add(50 * time.Millisecond))
		if reply, err := other.ask("PING"); err == nil && reply == "PONG" {
			return errNotYet
		}
		return nil
	})
}

// startFailingSnapshot starts a server whose last snapshot has failed, for
// want of the directory to put it in.
func startFailingSnapshot(t testing.TB) *redisServer {
	s := startRedis(t, redisOptions{args: []string{"--save", "3600", "1"}})
	s.do("SET", "a", "b")
	if err := os.RemoveAll(s.o.dir); err != nil {
		t.Fatal(err)
	}
	s.try("BGSAVE")
	s.awaitInfo("persistence", "rdb_last_bgsave_status", "err")
	return s
}

// startFullDisk starts a server whose append-only file is on a file system of
// 256 KiB, in a mount namespace that ends with the server, and fills it.
func startFullDisk(t testing.TB) *redisServer {
	s := startRedis(t, redisOptions{
		through: tinyFileSystem(t),
		args:    []string{"--appendonly", "yes", "--auto-aof-rewrite-percentage", "0"},
	})
	for range 8 {
		if reply, _ := s.try("SET", "big", fmt.Sprintf("%0100000d", 0)); reply != "OK" {
			break
		}
	}
	s.awaitInfo("persistence", "aof_last_write_status", "err")
	return s
}
