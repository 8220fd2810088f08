package integration

import (
	"strings"
	"testing"
)

// TestGreeting checks what the gate takes a server's HELLO to say: its own
// version, which is not what a Valkey's INFO has under redis_version, its mode
// and its role, to a user without any right.
func TestGreeting(t *testing.T) {
	for _, server := range programs(t) {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			on := onServer{t, server}
			master := startRedis(on, redisOptions{})
			_, version, _ := strings.Cut(server.name, " ")
			for _, c := range []struct {
				mode, role string
				server     *redisServer
			}{
				{"standalone", "master", master},
				{"standalone", "replica", startRedis(on, redisOptions{args: replicaOf(master.port)})},
				{"cluster", "master", startNode(on)},
				{"sentinel", "", startSentinel(on, nil)},
			} {
				greeting := hello(t, c.server)
				if c.mode != "sentinel" {
					c.server.do("ACL", "SETUSER", "worker", "on", ">user-password", "-@all")
					greeting = hello(t, c.server, "AUTH", "worker", "user-password")
				}
				if greeting["version"] != version || greeting["mode"] != c.mode || greeting["role"] != c.role {
					t.Errorf("%s %s: HELLO says %q", c.mode, c.role, greeting)
				}
			}
		})
	}
}

// hello returns the fields of a server's HELLO.
func hello(t testing.TB, s *redisServer, auth ...string) map[string]string {
	t.Helper()
	lines := strings.Split(s.do(append([]string{"HELLO", "2"}, auth...)...), "\n")
	fields := map[string]string{}
	for i := 0; i+1 < len(lines); i += 2 {
		fields[lines[i]] = lines[i+1]
	}
	return fields
}
