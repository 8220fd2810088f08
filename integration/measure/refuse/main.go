//go:build linux

// Refuse measures how soon the gate ends when waiting cannot help: from its
// start to exit 69.
//
//	go run ./integration/measure/refuse [-runs 20]
//
// A Redis that loads answers in windows only. There the goal is two of them,
// as an observer sees them at the same time, and 50 ms.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/startgate/startgate/integration/internal/fixture"
	"github.com/startgate/startgate/integration/internal/report"
	"github.com/startgate/startgate/integration/internal/resp"
)

const (
	refused  = 69
	password = "correct-horse"
	goal     = 100 * time.Millisecond
	slack    = 50 * time.Millisecond // above the two windows of a Redis that loads
)

// kind is one way to be refused.
type kind struct {
	fixture.Refusal
	took report.Samples
	late report.Samples // over the two windows; negative within
}

func main() {
	runs := flag.Int("runs", 20, "runs of each `N`")
	gate := flag.String("gate", "", "measure this `file` instead of building the gate")
	raw := flag.String("json", "", "write the raw numbers to this `file`")
	flag.Parse()
	code, err := measure(*runs, *gate, *raw)
	if err != nil {
		fmt.Fprintln(os.Stderr, "refuse:", err)
		code = 1
	}
	os.Exit(code)
}

func measure(runs int, gate, raw string) (code int, err error) {
	lab, err := fixture.Open()
	if err != nil {
		return 1, err
	}
	defer lab.Close()
	if gate, err = lab.Gate(gate); err != nil {
		return 1, err
	}
	nop, err := lab.Nop()
	if err != nil {
		return 1, err
	}
	g := gated{lab, []string{gate, "--", nop}}
	refusals, stop, err := lab.Refusals()
	if err != nil {
		return 1, err
	}
	defer stop()
	var kinds []kind
	for _, refusal := range refusals {
		kinds = append(kinds, kind{Refusal: refusal})
	}
	loading, err := loadingRedis(lab, runs)
	if err != nil {
		return 1, err
	}

	r := report.New("refuse")
	var rows [][]string
	for range runs {
		for i := range kinds {
			k := &kinds[i]
			began, ended, err := g.refuse(k)
			if err != nil {
				return 1, err
			}
			k.took = append(k.took, ended.Sub(began))
		}
	}
	for _, k := range kinds {
		r.Keep(k.Name, k.took)
		rows = append(rows, []string{k.Name, report.Ms(k.took.Min()), report.Ms(k.took.Median()), report.Ms(k.took.Max())})
		r.Goal(k.Name+", median", report.Ms(k.took.Median()), "≤ "+report.Ms(goal), k.took.Median() <= goal)
	}
	r.Table([]string{"start to exit 69", "min", "median", "max"}, rows)

	if kinds, err = g.whileLoading(loading, runs); err != nil {
		return 1, err
	}
	rows = nil
	for _, k := range kinds {
		r.Keep(k.Name, k.took)
		r.Keep(k.Name+", over two windows", k.late)
		rows = append(rows, []string{
			k.Name, report.Ms(k.took.Min()), report.Ms(k.took.Median()), report.Ms(k.took.Max()),
			report.Ms(k.late.Median()), report.Ms(k.late.Max()),
		})
		r.Goal(k.Name+", over two windows", "at most "+report.Ms(k.late.Max()), "≤ "+report.Ms(slack), k.late.Max() <= slack)
	}
	r.Table([]string{"while Redis loads", "min", "median", "max", "over two windows, median", "max"}, rows)
	return r.End(raw)
}

// gated starts gates.
type gated struct {
	lab  *fixture.Lab
	args []string
}

// refuse runs a gate to its end, which must be the expected one.
func (g gated) refuse(k *kind) (began, ended time.Time, err error) {
	began = time.Now()
	e, stderr, err := g.lab.Output(fixture.Command{Args: g.args, Env: []string{"REDIS_URL=" + k.URL}})
	if err != nil {
		return began, ended, err
	}
	if e.Exit != refused || !fixture.Says(stderr, k.Code) {
		return began, ended, fmt.Errorf("%s: exit %d, where %d and %s were expected:\n%s", k.Name, e.Exit, refused, k.Code, stderr)
	}
	return began, began.Add(e.Took), nil
}

// loadingRedis starts a Redis that loads for longer than the runs take, and
// answers every 110 ms meanwhile.
func loadingRedis(lab *fixture.Lab, runs int) (*fixture.Redis, error) {
	const perKey = 3 * time.Millisecond
	dir, err := lab.F1(int(time.Duration(runs+20) * 3 * time.Second / perKey))
	if err != nil {
		return nil, err
	}
	return lab.Redis(dir, append(fixture.SlowLoad(perKey), "--requirepass", password)...)
}

// whileLoading has gates refused by a Redis that loads, and compares each with
// the longest window that it has met.
func (g gated) whileLoading(redis *fixture.Redis, runs int) ([]kind, error) {
	kinds := []kind{
		{Refusal: fixture.Refusal{Name: "loading, wrong password", URL: "redis://:wrong@" + redis.Addr, Code: "redis_auth_rejected"}},
		{Refusal: fixture.Refusal{Name: "loading, no password", URL: "redis://" + redis.Addr, Code: "redis_auth_required"}},
		{Refusal: fixture.Refusal{Name: "loading, bad database", URL: "redis://:" + password + "@" + redis.Addr + "/99", Code: "redis_db_invalid"}},
	}
	w, err := watchWindows(redis)
	if err != nil {
		return nil, err
	}
	for range runs {
		for i := range kinds {
			k := &kinds[i]
			began, ended, err := g.refuse(k)
			if err != nil {
				return nil, err
			}
			longest, err := w.longest(began, ended)
			if err != nil {
				return nil, err
			}
			took := ended.Sub(began)
			k.took, k.late = append(k.took, took), append(k.late, took-2*longest)
		}
	}
	return kinds, nil
}

// windows are the moments at which a Redis that loads has answered.
type windows struct {
	mu      sync.Mutex
	answers []time.Time
	err     error
}

// watchWindows asks again at each answer.
func watchWindows(redis *fixture.Redis) (*windows, error) {
	conn, err := resp.Dial(redis.Addr, password)
	if err != nil {
		return nil, err
	}
	w := &windows{answers: []time.Time{time.Now()}}
	go func() {
		defer conn.Close()
		for {
			loading, err := conn.Loading()
			w.mu.Lock()
			w.answers = append(w.answers, time.Now())
			if !loading {
				w.err = cmp.Or(err, errors.New("the load has ended before the runs"))
			}
			w.mu.Unlock()
			if !loading {
				return
			}
		}
	}()
	return w, nil
}

// longest returns the longest time between two answers of which a part lies
// between from and to. It waits for the answer after that.
func (w *windows) longest(from, to time.Time) (longest time.Duration, err error) {
	for {
		w.mu.Lock()
		answers, err := w.answers, w.err
		w.mu.Unlock()
		if err != nil {
			return 0, err
		}
		if !answers[len(answers)-1].After(to) {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		for i := 1; i < len(answers); i++ {
			if answers[i].After(from) && answers[i-1].Before(to) {
				longest = max(longest, answers[i].Sub(answers[i-1]))
			}
		}
		return longest, nil
	}
}
