package integration

import (
	"os/exec"
	"slices"
	"testing"
	"time"
)

// A Redis that is ready is asked once, and the worker's start is not put off:
// of several runs, and of more on a busy machine, the quickest counts.
func TestReadyPathHasNoPause(t *testing.T) {
	const limit = 30 * time.Millisecond
	const few, many = 15, 100
	s := startRedis(t, redisOptions{})
	alone, gated := patience, patience
	for run := 0; run < few || run < many && gated-alone > limit; run++ {
		p := start(t, exec.Command(workerPath(), "exit", "0")).wait()
		alone = min(alone, p.took())
		p = start(t, command(s.env(), "--", workerPath(), "exit", "0")).wait()
		gated = min(gated, p.took())
		if ready := p.await("ready", 1); p.code != 0 || ready.Attempts != 1 {
			t.Fatalf("exit %d, ready after %d attempts", p.code, ready.Attempts)
		}
	}
	t.Logf("the worker alone takes %s, behind the gate %s", alone, gated)
	if gated-alone > limit {
		t.Errorf("the gate takes %s, want at most %s", gated-alone, limit)
	}
}

// A Redis that comes up is seen within one pause, half as long again at most.
func TestReadinessIsSeenSoon(t *testing.T) {
	const pause, more = 100 * time.Millisecond, 70 * time.Millisecond
	var delays []time.Duration
	for range 5 {
		s := newRedis(t, redisOptions{})
		p := start(t, command(s.env(), "wait", "--interval-max", pause.String()))
		p.await("redis_refused", 1)
		time.Sleep(700 * time.Millisecond) // by then the pauses are as long as they get
		s.start()
		up := time.Now()
		if p.wait(); p.code != 0 {
			t.Fatalf("exit %d\n%s", p.code, p.stderr)
		}
		delays = append(delays, p.ended.Sub(up))
	}
	slices.Sort(delays)
	t.Logf("seen after %s", delays)
	if median := delays[len(delays)/2]; median > pause*3/2+more {
		t.Errorf("seen after %s, want %s and little more", median, pause*3/2)
	}
}
