package integration

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe"
)

// chaosLeaks are a gate, and a wait in this process, that wait through all of
// it: for a Redis of a version that there will never be.
type chaosLeaks struct {
	c     *chaos
	gate  *gateProcess
	first held
	stop  func()
	ended chan probe.Outcome
}

// never is what keeps them.
const never = envcheck.RedisVersionTooOld

// held is what a process holds.
type held struct{ descriptors, threads, kib int }

func (c *chaos) watchForLeaks() *chaosLeaks {
	path := contractFile(c.t, "keys: {REDIS_URL: {type: redis_url}}\nwaits: [{redis: REDIS_URL, require: [write, version>=99.0]}]\n")
	env := append(redisURL(c.paths[1].url()), "STARTGATE_CONTRACT="+path)
	l := &chaosLeaks{c: c, ended: make(chan probe.Outcome, 1)}
	l.gate = start(c.t, command(env, "wait", "--timeout", "24h", "--refuse-after", "24h", "--interval-max", "0.05"))
	l.gate.await(string(never), 1)
	time.Sleep(2 * time.Second) // its heap has its size after some collections
	l.first = l.held()

	url, _ := envcheck.ParseRedisURL(envcheck.Generic, c.paths[0].url())
	p := probe.NewRedis(url, probe.RedisOptions{
		DialTimeout: time.Second, ReplyTimeout: time.Second, Require: envcheck.RequireWrite,
		Checks: []envcheck.Check{{Version: "99.0"}},
	})
	ctx, cancel := context.WithCancel(c.t.Context())
	l.stop = cancel
	go func() {
		defer p.Close()
		l.ended <- probe.Wait(ctx, p, probe.Limits{Budget: 24 * time.Hour, RefuseAfter: 24 * time.Hour, IntervalMax: 50 * time.Millisecond}, nil)
	}()
	return l
}

func (l *chaosLeaks) held() (h held) {
	l.c.t.Helper()
	proc := fmt.Sprintf("/proc/%d/", l.gate.cmd.Process.Pid)
	files, err := os.ReadDir(proc + "fd")
	if err != nil {
		l.c.t.Fatalf("the gate that waits through it all has ended: %v\n%s", err, l.gate.codes())
	}
	h.descriptors = len(files)
	status, _ := os.ReadFile(proc + "status")
	for line := range strings.Lines(string(status)) {
		fmt.Sscanf(line, "Threads: %d", &h.threads)
		fmt.Sscanf(line, "VmRSS: %d kB", &h.kib)
	}
	return h
}

// check ends both and says what they have kept.
func (l *chaosLeaks) check() {
	t := l.c.t
	eventually(t, "a gate that waits through it all sees the broker at last", func() error {
		if e := l.gate.last(); e.Code != string(never) && e.Cause != string(never) {
			return fmt.Errorf("it sees %+v", e)
		}
		return nil
	})
	last := l.held()
	t.Logf("a gate that waits through it all: %+v, at first %+v", last, l.first)
	if last.descriptors > l.first.descriptors+2 || last.threads > l.first.threads+8 || last.kib > l.first.kib+6<<10 {
		l.c.broken(time.Now(), "a gate leaks: it holds %+v, at first %+v", last, l.first)
	}
	l.gate.mu.Lock()
	if strings.Contains(l.gate.stderr, chaosPassword) {
		t.Error("the gate that waits through it all says the password")
	}
	l.gate.mu.Unlock()
	l.stop()
	<-l.ended
	eventually(t, "the wait's goroutines have ended", func() error {
		all := make([]byte, 1<<20)
		all = all[:runtime.Stack(all, true)]
		for stack := range strings.SplitSeq(string(all), "\n\n") {
			if strings.Contains(stack, "/startgate/probe.") || strings.Contains(stack, "/go-redis/") {
				return fmt.Errorf("%s", stack)
			}
		}
		return nil
	})
}
