package integration

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// socketRows are URLs of unix sockets, in the dialect of RQ: generic takes
// none, since clients do not read them alike.
func socketRows() []row {
	through := func(t testing.TB, path, tail string) call {
		return under(t, "redis: REDIS_URL, client: rq", redisURL("unix://"+path+tail)...)
	}
	return []row{
		{"57", "socket missing", "nobody", func(t testing.TB) call {
			return through(t, filepath.Join(shortDir(t), "absent.sock"), "")
		}, isRetried("redis_socket_missing")},
		{"57a", "socket stale: its server was killed", "", func(t testing.TB) call {
			s, path := startOnSocket(t)
			s.kill()
			return through(t, path, "")
		}, isRetried("redis_refused")},
		{"57b", "not a socket", "nobody", func(t testing.TB) call {
			path := filepath.Join(shortDir(t), "plain-file")
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			return through(t, path, "")
		}, isRetried("redis_refused")},
		{"57c", "path longer than an address holds", "nobody", func(t testing.TB) call {
			return through(t, filepath.Join(shortDir(t), strings.Repeat("long", 30)), "")
		}, verdict{exit: 78, code: "redis_url_parse_failed", reason: "socket_path_invalid"}},
		{"57d", "socket denied", "", func(t testing.TB) call {
			_, path := startOnSocket(t)
			if err := os.Chmod(path, 0); err != nil {
				t.Fatal(err)
			}
			c := through(t, path, "")
			c.through = withoutOverride(t)
			return c
		}, isRefused("redis_socket_denied")},
		{"57e", "socket of a healthy server, database 3", "", func(t testing.TB) call {
			_, path := startOnSocket(t)
			return through(t, path, "?db=3")
		}, isReady()},
		{"57f", "socket, the client takes none", "nobody", func(t testing.TB) call {
			return at("unix:///run/redis.sock")
		}, isInvalid("socket_not_supported")},
	}
}

// shortDir returns a new directory whose path leaves room for a socket in it:
// a socket's address holds 107 bytes.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "startgate-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// startOnSocket starts a server that also listens on a socket.
func startOnSocket(t testing.TB) (s *redisServer, path string) {
	t.Helper()
	path = filepath.Join(shortDir(t), "redis.sock")
	s = startRedis(t, redisOptions{args: []string{"--unixsocket", path}})
	eventually(t, "the socket is there", func() error {
		conn, err := net.Dial("unix", path)
		if err == nil {
			conn.Close()
		}
		return err
	})
	return s, path
}
