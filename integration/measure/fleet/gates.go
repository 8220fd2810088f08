//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe"
)

// asGates is the first argument of a process that is part of a fleet.
const asGates = "gates"

// gates are some of a fleet, in one process. Each has what a gate has between
// its settings and the worker: the jitter, the prober, the wait.
type gates struct {
	n           int
	addr        string
	start       time.Time // of all gates of the fleet
	jitter      time.Duration
	intervalMax time.Duration
}

// lived is what the gates of a process have lived through.
type lived struct {
	Ready    []int64        // when each that came through did, in Unix nanoseconds
	Attempts int            // of all
	Said     map[string]int // gates that were told this code
	Ended    map[string]int // gates by the code that their wait has ended with
}

// add makes l the sum of both.
func (l *lived) add(other lived) {
	l.Ready = append(l.Ready, other.Ready...)
	l.Attempts += other.Attempts
	for _, sum := range [...]struct{ to, from map[string]int }{{l.Said, other.Said}, {l.Ended, other.Ended}} {
		for code, n := range sum.from {
			sum.to[code] += n
		}
	}
}

func newLived() lived { return lived{Said: map[string]int{}, Ended: map[string]int{}} }

func (g gates) args() []string {
	return []string{
		asGates, "-n", itoa(g.n), "-addr", g.addr, "-start", g.start.Format(time.RFC3339Nano),
		"-jitter", g.jitter.String(), "-interval-max", g.intervalMax.String(),
	}
}

// runGates is the main function of a process of gates.
func runGates(args []string, w io.Writer) error {
	var g gates
	f := flag.NewFlagSet(asGates, flag.ExitOnError)
	f.IntVar(&g.n, "n", 1, "")
	f.StringVar(&g.addr, "addr", "", "")
	f.TextVar(&g.start, "start", time.Time{}, "")
	f.DurationVar(&g.jitter, "jitter", 0, "")
	f.DurationVar(&g.intervalMax, "interval-max", 0, "")
	f.Parse(args)
	url, reason := envcheck.ParseRedisURL(envcheck.Generic, "redis://"+g.addr)
	if reason != "" {
		return errors.New(string(reason))
	}
	all := newLived()
	var mu sync.Mutex
	var fleet sync.WaitGroup
	for range g.n {
		fleet.Go(func() {
			one := g.run(url)
			mu.Lock()
			defer mu.Unlock()
			all.add(one)
		})
	}
	fleet.Wait()
	return json.NewEncoder(w).Encode(all)
}

// run is one gate, with the product's defaults.
func (g gates) run(url envcheck.RedisURL) lived {
	one := newLived()
	p := probe.NewRedis(url, probe.RedisOptions{
		DialTimeout: 3 * time.Second, ReplyTimeout: 2 * time.Second,
		Verify: envcheck.VerifyFull, Require: envcheck.RequireWrite, KeyPrefix: "startgate",
	})
	defer p.Close()
	see := func(o probe.Outcome) {
		one.Attempts++
		one.Said[string(o.Code)] = 1
	}
	time.Sleep(time.Until(g.start) + jitter(g.jitter))
	end := probe.Wait(context.Background(), p, probe.Limits{Budget: 5 * time.Minute, IntervalMax: g.intervalMax}, see)
	see(end)
	one.Ended[string(end.Code)] = 1
	if end.Verdict == probe.Ready {
		one.Ready = []int64{time.Now().UnixNano()}
	}
	return one
}

// jitter is a random part of d, as the gate's start jitter is.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return rand.N(d)
}
