package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// patience is how long a process may take to end after SIGTERM before the
// worker is asked for. It is a hundred times what that takes on an idle
// machine.
const patience = 500 * time.Millisecond

// An outcome says who has got the signal.
type outcome int

const (
	failed outcome = iota // what must not be: another exit code, no start
	early                 // the kernel ended it before the worker ran: no handler then
	caught                // the gate, which then exits with 143
	worker                // the kernel ended the worker
	lost                  // nobody: the worker lives
	late                  // somebody in the end: the machine was too busy
)

// trial sends one SIGTERM to s at that time after its start.
func (s subject) trial(at time.Duration) outcome {
	p, err := s.start()
	if err != nil {
		return failed
	}
	defer p.kill()
	time.Sleep(at)
	p.cmd.Process.Signal(syscall.SIGTERM)
	if !p.endsWithin(patience) {
		switch {
		case p.becameWorker(patience) && !p.endsWithin(patience):
			return lost
		case p.endsWithin(10 * time.Second):
			return late
		}
		return failed
	}
	switch ran := p.becameWorker(time.Second); {
	case p.terminated() && ran:
		return worker
	case p.terminated():
		return early
	case p.cmd.ProcessState.ExitCode() == 128+int(syscall.SIGTERM) && !ran:
		return caught
	}
	return failed
}

// tally counts trials by their outcome.
type tally [late + 1]int

// trials makes n trials with the signal at times spread evenly over [0, end).
func (s subject) trials(ctx context.Context, n, parallel int, end time.Duration) (t tally) {
	outcomes := make([]outcome, n)
	inParallel(ctx, n, parallel, func(i int) {
		// One random time in each of n equal parts: even, and in step with nothing.
		part := float64(end) / float64(n)
		outcomes[i] = s.trial(time.Duration((float64(i) + rand.Float64()) * part))
	})
	for _, o := range outcomes {
		t[o]++
	}
	return t
}

// inParallel calls f with 0 to n-1, several at a time and in random order, so
// that what changes on the machine meanwhile falls on all alike. It stops
// when ctx ends.
func inParallel(ctx context.Context, n, parallel int, f func(i int)) {
	order := rand.Perm(n)
	var next atomic.Int64
	var group sync.WaitGroup
	for range parallel {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || ctx.Err() != nil {
					return
				}
				f(order[i])
			}
		})
	}
	group.Wait()
}

func printHeader(w io.Writer) {
	fmt.Fprintf(w, "%-10s %10s %7s %7s %7s %7s %7s %7s %7s\n",
		"", "ready path", "early", "gate", "worker", "late", "failed", "LOST", "took")
}

func (t tally) print(w io.Writer, name string, way, took time.Duration) {
	fmt.Fprintf(w, "%-10s %10v %7d %7d %7d %7d %7d %7d %7v\n", name, way.Round(10*time.Microsecond),
		t[early], t[caught], t[worker], t[late], t[failed], t[lost], took.Round(time.Second))
}
