package integration

import (
	"slices"
	"testing"
)

var twoKeys = []string{"STARTGATE_REDIS_KEYS=FIRST_URL,SECOND_URL"}

func firstAndSecond(first, second string) []string {
	return append([]string{"FIRST_URL=" + first, "SECOND_URL=" + second}, twoKeys...)
}

// Each of two waits must be ready before the worker starts.
func TestTwoWaits(t *testing.T) {
	t.Parallel()
	first, second := startRedis(t, redisOptions{}), newRedis(t, redisOptions{dir: dataSet(t)})
	env := firstAndSecond(first.url("", ""), second.url("", ""))
	p := start(t, command(env, loadedWorker(second)...))
	if e := p.await("ready", 1); e.Wait != "redis" {
		t.Errorf("ready first: %s", e.Wait)
	}
	if e := p.await("redis_refused", 1); e.Wait != "redis2" || !slices.Equal(e.Keys, []string{"SECOND_URL"}) {
		t.Errorf("%+v", e)
	}
	second.launch(loadArgs(0)...)
	if e := p.await("ready", 2); e.Wait != "redis2" {
		t.Errorf("ready second: %s", e.Wait)
	}
	checkLoaded(t, p)
}

// The first of them may be lost while the second is waited for.
func TestFirstOfTwoIsLostMeanwhile(t *testing.T) {
	t.Parallel()
	first, second := startRedis(t, redisOptions{}), newRedis(t, redisOptions{})
	env := firstAndSecond(first.url("", ""), second.url("", ""))
	p := start(t, command(env, loadedWorker(first)...))
	p.await("ready", 1)
	p.await("redis_refused", 1)
	first.kill()
	second.launch()
	p.await("redis_refused", 2)
	first.launch()
	checkLoaded(t, p)
}

// One budget is over both, and a line is said for each that is not ready.
func TestTwoWaitsOneBudget(t *testing.T) {
	t.Parallel()
	env := firstAndSecond("redis://127.0.0.1:"+freePort(t), "redis://127.0.0.1:"+freePort(t))
	p := run(t, env, "wait", "--timeout", "1")
	if p.code != 75 {
		t.Errorf("exit %d", p.code)
	}
	if took := p.last().Elapsed; took > 1.9 {
		t.Errorf("1 s of budget took %.2f s", took)
	}
	var failed []string
	for _, e := range p.events() {
		if e.Level == "error" && e.Code == "redis_refused" {
			failed = append(failed, e.Wait)
		}
	}
	slices.Sort(failed)
	if !slices.Equal(failed, []string{"redis", "redis2"}) {
		t.Errorf("failed %v\n%s", failed, p.stderr)
	}
}

// A refusal of one ends the wait for both: trying again does not help.
func TestOneOfTwoRefuses(t *testing.T) {
	t.Parallel()
	second := startRedis(t, redisOptions{args: []string{"--requirepass", "right-password"}})
	p := run(t, firstAndSecond("redis://127.0.0.1:"+freePort(t), second.url("", "")), "wait")
	if p.code != 69 || p.last().Code != "redis_auth_required" || p.last().Wait != "redis2" {
		t.Errorf("exit %d, %+v", p.code, p.last())
	}
}

// Observing, a fault is said with what it would have led to, and the worker
// starts all the same.
func TestObserve(t *testing.T) {
	t.Parallel()
	s := startRedis(t, redisOptions{args: []string{"--requirepass", "right-password"}})
	for _, c := range []struct {
		name      string
		env       []string
		wouldExit int
	}{
		{"ready", redisURL(s.url(":right-password@", "")), 0},
		{"refused", redisURL(s.url(":wrong-password@", "")), 69},
		{"budget spent", append(redisURL("redis://127.0.0.1:"+freePort(t)), "STARTGATE_TIMEOUT=0.3"), 75},
		{"no key", nil, 78},
		{"bad setting", append(redisURL(s.url(":right-password@", "")), "STARTGATE_DELAY=soon"), 78},
	} {
		p := run(t, append(c.env, "STARTGATE_MODE=observe"), "--", workerPath(), "exit", "17")
		if p.code != 17 {
			t.Errorf("%s: exit %d, want the worker's\n%s", c.name, p.code, p.stderr)
		}
		wouldExit := 0
		for _, e := range p.events() {
			if e.Code == "mode_observe" {
				wouldExit = e.WouldExit
			}
		}
		if wouldExit != c.wouldExit {
			t.Errorf("%s: would_exit=%d, want %d\n%s", c.name, wouldExit, c.wouldExit, p.stderr)
		}
	}
}

// Off, nothing is waited for, whatever the environment says.
func TestOff(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "nonsense", "redis://127.0.0.1:" + freePort(t)} {
		p := run(t, append(redisURL(url), "STARTGATE_MODE=off"), "--", workerPath(), "exit", "17")
		if p.code != 17 || !slices.Equal(p.codes(), []string{"mode_off", "exec"}) {
			t.Errorf("exit %d, codes %s", p.code, p.codes())
		}
	}
	if p := run(t, []string{"STARTGATE_MODE=off"}, "--", "no-such-worker"); p.code != 127 {
		t.Errorf("a worker that is not there: exit %d", p.code)
	}
}
