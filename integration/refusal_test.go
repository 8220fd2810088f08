package integration

import (
	"slices"
	"testing"
	"time"
)

// fastest runs the gate a few times, and more often for as long as it has not
// been within limit, so that what else the machine does has no say. The shortest
// time counts.
func fastest(t *testing.T, limit time.Duration, c call, code string) {
	t.Helper()
	const few, many = 3, 25
	shortest := patience
	for run := 0; run < few || run < many && shortest > limit; run++ {
		p := start(t, through(c.through, command(c.env, append([]string{"wait"}, c.flags...)...))).wait()
		if got := p.last().Code; got != code {
			t.Fatalf("code %s, want %s\n%s", got, code, p.stderr)
		}
		shortest = min(shortest, p.took())
	}
	t.Logf("%s at best, the limit is %s", shortest, limit)
	if shortest > limit {
		t.Errorf("takes %s, want at most %s", shortest, limit)
	}
}

// What waiting cannot cure is said at once.
func TestRefusalTakesNoTime(t *testing.T) {
	const limit = 100 * time.Millisecond
	// Told apart from a slow network only when the handshake's time is up.
	slow := []string{"41"}
	server := programOf(t)
	for _, r := range conformance() {
		r, notShown := r.on(server)
		if r.want.exit != 69 && r.want.exit != 78 || slices.Contains(slow, r.number) || notShown != "" {
			continue
		}
		t.Run(r.number+" "+r.name, func(t *testing.T) {
			fastest(t, limit, r.set(t), r.want.code)
		})
	}
}

// A server that loads answers at the end of a chunk of work only. What it
// refuses is refused within two such windows: one in which the connection is
// accepted, one in which it is answered.
func TestRefusalWhileLoading(t *testing.T) {
	for _, c := range []struct{ credentials, tail, code string }{
		{"", "", "redis_auth_required"},
		{":wrong-password@", "", "redis_auth_rejected"},
		{"nobody:wrong-password@", "", "redis_auth_rejected"},
		{":right-password@", "/9", "redis_db_invalid"},
	} {
		t.Run(c.code+c.tail, func(t *testing.T) {
			s := startLoading(t, 3*time.Millisecond, "--requirepass", "right-password", "--databases", "4")
			window := windows(t, s, 5)
			t.Logf("a window is %s", window)
			fastest(t, 2*window+50*time.Millisecond, at(s.url(c.credentials, c.tail)), c.code)
			if !stillLoading(t, s, "right-password") {
				t.Error("the server has loaded before the test was over")
			}
		})
	}
}

// stillLoading reports whether s loads.
func stillLoading(t *testing.T, s *redisServer, password string) bool {
	t.Helper()
	c, err := s.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if _, err := c.ask("AUTH", password); err != nil {
		t.Fatal(err)
	}
	info, err := c.ask("INFO", "persistence")
	if err != nil {
		t.Fatal(err)
	}
	return infoField(info, "loading") == "1"
}
