//go:build linux

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/integration/internal/fixture"
	"github.com/startgate/startgate/integration/internal/report"
	"github.com/startgate/startgate/probe"
)

// asModel is the first argument of a process that models.
const asModel = "model"

// settled is how long a fleet that is all there needs to have its pace.
func (a asked) settled() time.Duration { return a.Jitter + 2*a.IntervalMax }

// load is how long the modelled Redis loads.
func (a asked) load() time.Duration { return a.settled() + 2*time.Second }

// model is a Redis that answers at once.
type model struct {
	asked
	begin time.Time

	mu      sync.Mutex
	clients int
	probes  []int // in each second
	refused []int // connections, in each second
}

// modelProber is one gate's connection to it.
type modelProber struct {
	m    *model
	open bool
}

// Probe asks the model.
func (p *modelProber) Probe(context.Context) probe.Outcome {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	now := time.Since(p.m.begin)
	second := int(now / time.Second)
	for len(p.m.probes) <= second {
		p.m.probes, p.m.refused = append(p.m.probes, 0), append(p.m.refused, 0)
	}
	if !p.open && p.m.clients == p.m.MaxClients {
		p.m.refused[second]++
		return probe.Outcome{Code: envcheck.RedisMaxClients}
	}
	if !p.open {
		p.open = true
		p.m.clients++
	}
	p.m.probes[second]++
	if now < p.m.load() {
		return probe.Outcome{Code: envcheck.RedisLoading, Clients: p.m.clients}
	}
	return probe.Outcome{Verdict: probe.Ready, Code: envcheck.Ready}
}

// Close ends the connection.
func (p *modelProber) Close() {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	if p.open {
		p.open = false
		p.m.clients--
	}
}

// asked is what a process that models is asked.
type asked struct {
	Gates, MaxClients   int
	IntervalMax, Jitter time.Duration
}

// modelLived is what its gates have lived through.
type modelLived struct {
	Seen            []time.Duration // from the end of the load to the end of each wait
	Probes, Refused []int           // in each second
}

// modelled has a fleet wait for the model under a clock that stands still while
// anybody has something to do.
func modelled(lab *fixture.Lab, r *report.Report, o options, cost costs) error {
	var rows [][]string
	for _, a := range []asked{
		{o.model / 20, o.model, 5 * time.Second, 5 * time.Second},
		{o.model, o.model, time.Second, 0},
		{o.model, o.model, 30 * time.Second, 100 * time.Second},
		{o.model, o.model / 10, 30 * time.Second, 100 * time.Second},
	} {
		l, err := a.ask(lab)
		if err != nil {
			return err
		}
		seen := report.Samples(l.Seen)
		later := int(a.settled()/time.Second) + 1
		rows = append(rows, []string{
			itoa(a.Gates), itoa(a.MaxClients), a.IntervalMax.String(), a.Jitter.String(),
			itoa(l.Probes[0]), itoa(l.Probes[later]), percent(float64(l.Probes[later]) * cost.probe.Seconds()), itoa(l.Refused[later]),
			report.Ms(seen.Median()), report.Ms(seen.Max()),
		})
		r.Keep(fmt.Sprintf("model: probes in each second, interval_max %v, maxclients %d", a.IntervalMax, a.MaxClients), l.Probes)
	}
	r.Table([]string{"gates", "maxclients", "interval_max", "start jitter", "probes in the 1st second", "later", "of the thread", "turned away/s", "seen, median", "seen, worst"}, rows)
	r.Note("Modelled: a Redis that loads and answers at once; a probe costs %s, as measured above.", micro(cost.probe))
	return nil
}

// ask has a process of this program model.
func (a asked) ask(lab *fixture.Lab) (l modelLived, err error) {
	self, err := os.Executable()
	if err != nil {
		return l, err
	}
	b, err := json.Marshal(a)
	if err != nil {
		return l, err
	}
	out, err := os.Create(filepath.Join(lab.Dir, asModel))
	if err != nil {
		return l, err
	}
	defer out.Close()
	ended, err := lab.Run(fixture.Command{Args: []string{self, asModel, string(b)}, Env: os.Environ(), Stdout: out, Stderr: os.Stderr})
	if err != nil || ended.Exit != 0 {
		return l, fmt.Errorf("the model has ended with %d: %w", ended.Exit, err)
	}
	if _, err := out.Seek(0, 0); err != nil {
		return l, err
	}
	return l, json.NewDecoder(out).Decode(&l)
}

// runModel is the main function of a process that has n gates wait for a model,
// and writes what they lived through to w. The virtual clock is a test's
// alone, so that this is one.
func runModel(args []string, w io.Writer) error {
	var a asked
	if err := json.Unmarshal([]byte(args[0]), &a); err != nil {
		return err
	}
	wait := func(t *testing.T) {
		m := &model{asked: a, begin: time.Now()}
		seen := make(chan time.Duration, a.Gates)
		for range a.Gates {
			go func() {
				p := &modelProber{m: m}
				time.Sleep(jitter(a.Jitter))
				probe.Wait(context.Background(), p, probe.Limits{Budget: 10 * time.Minute, IntervalMax: a.IntervalMax}, nil)
				p.Close()
				seen <- time.Since(m.begin) - a.load()
			}()
		}
		l := modelLived{}
		for range a.Gates {
			l.Seen = append(l.Seen, <-seen)
		}
		l.Probes, l.Refused = m.probes, m.refused
		if err := json.NewEncoder(w).Encode(l); err != nil {
			t.Error(err)
		}
	}
	flag.CommandLine.Parse(nil)
	testing.Init()
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{
		{Name: "model", F: func(t *testing.T) { synctest.Test(t, wait) }},
	}, nil, nil)
	return nil // Main does not come back
}
