package integration

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/startgate/startgate/probe/probetest"
)

func TestRedisStartsAfterTheGate(t *testing.T) {
	t.Parallel()
	s := newRedis(t, redisOptions{})
	p := start(t, command(s.env(), loadedWorker(s)...))
	p.await("redis_refused", 1)
	s.launch()
	checkLoaded(t, p)
}

// Redis dies in the middle of its load and comes back.
func TestRedisDiesAndComesBack(t *testing.T) {
	t.Parallel()
	s := startLoading(t, 3*time.Millisecond)
	p := start(t, command(s.env(), loadedWorker(s)...))
	p.await("redis_loading", 1)
	s.kill()
	p.await("redis_refused", 1)
	s.launch(loadArgs(200 * time.Microsecond)...)
	checkLoaded(t, p)
	if i, j := slices.Index(p.codes(), "redis_refused"), slices.Index(p.codes(), "ready"); i < 0 || j < i {
		t.Errorf("codes %s", p.codes())
	}
}

// The same over TLS, with a server that asks for a certificate and does not
// want one: its end must not be taken for a refusal of ours.
func TestRedisDiesAndComesBackTLS(t *testing.T) {
	t.Parallel()
	args := []string{"--tls-auth-clients", "optional"}
	s := newTLS(t, probetest.Leaf{Names: []string{"127.0.0.1"}}, append(args, loadArgs(3*time.Millisecond)...)...)
	c := s.trusted()
	s.server.kill()
	// The data set is there from the second start on.
	if err := os.Rename(filepath.Join(dataSet(t), "dump.rdb"), filepath.Join(s.server.o.dir, "dump.rdb")); err != nil {
		t.Fatal(err)
	}
	s.server.start(s.server.o.args...)
	p := start(t, command(c.env, "wait"))
	p.await("redis_loading", 1)
	s.server.kill()
	p.await("redis_refused", 1)
	s.server.launch(append(s.server.o.args, loadArgs(0)...)...)
	if p.wait(); p.code != 0 {
		t.Errorf("exit %d\n%s", p.code, p.stderr)
	}
}

// With refuse_after a refusal that somebody cures in time is none.
func TestCredentialsSetAfterStart(t *testing.T) {
	t.Parallel()
	s := startRedis(t, redisOptions{})
	p := start(t, command(redisURL(s.url("worker:new-password@", "")), loadedWorker(s, "--refuse-after", "50s")...))
	if e := p.await("redis_auth_rejected", 1); e.Level != "warn" {
		t.Errorf("level %s of a refusal that is not final", e.Level)
	}
	s.do("ACL", "SETUSER", "worker", "on", ">new-password", "~*", "+@all")
	checkLoaded(t, p)
}

func TestPasswordRotatedDuringTheWait(t *testing.T) {
	t.Parallel()
	s := startRedis(t, redisOptions{args: []string{"--requirepass", "old-password"}})
	p := start(t, command(redisURL(s.url(":new-password@", "")), "wait", "--refuse-after", "50s"))
	p.await("redis_auth_rejected", 1)
	c, err := s.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	c.ask("AUTH", "old-password")
	if reply, err := c.ask("CONFIG", "SET", "requirepass", "new-password"); reply != "OK" {
		t.Fatal(reply, err)
	}
	if p.wait(); p.code != 0 {
		t.Errorf("exit %d\n%s", p.code, p.stderr)
	}
}

// Without a cure the refusal is final after refuse_after, in the middle of the
// budget.
func TestRefusalIsFinalAfterAWhile(t *testing.T) {
	t.Parallel()
	s := startRedis(t, redisOptions{args: []string{"--requirepass", "right-password"}})
	p := run(t, s.env(), "wait", "--refuse-after", "0.7", "--timeout", "50")
	last := p.last()
	if p.code != 69 || last.Code != "redis_auth_required" {
		t.Errorf("exit %d, code %s", p.code, last.Code)
	}
	if last.Elapsed < 0.7 || last.Elapsed > 5 {
		t.Errorf("final after %.2f s, want 0.7 s and little more", last.Elapsed)
	}
}

// Readiness that does not hold through the delay is none: the worker starts
// after Redis has come back, and after a delay through which it has held.
func TestReadinessMustHoldThroughTheDelay(t *testing.T) {
	t.Parallel()
	s := startRedis(t, redisOptions{})
	p := start(t, command(s.env(), loadedWorker(s, "--delay", "2")...))
	p.await("delay", 1)
	s.kill()
	p.await("redis_refused", 1)
	if slices.Contains(p.codes(), "exec") {
		t.Fatal("the worker was started without Redis")
	}
	s.launch()
	checkLoaded(t, p)
	codes := p.codes()
	back := slices.Index(codes, "redis_refused")
	if !slices.Contains(codes[back:], "ready") || !slices.Contains(codes[back:], "delay") || codes[len(codes)-1] != "exec" {
		t.Errorf("codes %s", codes)
	}
}

// The whole of a budget is spent and not more. The process's start and end on
// a busy machine come on top of it, so that one of three must be on time.
func TestBudgetIsSpentOnTime(t *testing.T) {
	t.Parallel()
	env := redisURL("redis://127.0.0.1:" + freePort(t))
	for try := 1; ; try++ {
		p := run(t, env, "run", "--timeout", "2", "--", workerPath(), "exit", "0")
		if p.code != 75 || p.last().Code != "redis_refused" {
			t.Errorf("exit %d, code %s", p.code, p.last().Code)
		}
		took := p.took()
		t.Logf("2 s of budget took %s, %d attempts", took, p.last().Attempts)
		switch {
		case took < 1900*time.Millisecond:
			t.Fatalf("2 s of budget took %s only", took)
		case took <= 2300*time.Millisecond:
			return
		case try == 3:
			t.Fatalf("2 s of budget took %s", took)
		}
	}
}

func TestNoBudgetIsOneAttempt(t *testing.T) {
	t.Parallel()
	s := probetest.New(t, probetest.Behaviour{Loading: &probetest.Loading{Percent: 50}})
	for _, args := range [][]string{{"wait", "--timeout", "0"}, {"probe"}, {"run", "--timeout=0", "--", workerPath(), "exit", "0"}} {
		before := s.Traffic()
		p := run(t, redisURL(s.URL()), args...)
		if p.code != 75 || p.last().Code != "redis_loading" || p.last().Attempt != 1 {
			t.Errorf("%s: exit %d, %+v", args[0], p.code, p.last())
		}
		after := s.Traffic()
		if n := after.Commands["PING"] - before.Commands["PING"]; n != 1 {
			t.Errorf("%s: %d times PING", args[0], n)
		}
		if n := after.Accepted - before.Accepted; n != 1 {
			t.Errorf("%s: %d connections", args[0], n)
		}
	}
}
