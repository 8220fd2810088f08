//go:build linux

// Detect measures how long after Redis has loaded its data set the worker
// starts: from the first loading:0 that an observer sees, which asks every 2 ms
// on a connection of its own, to the worker's first act. It also counts the
// workers that were started too early.
//
//	go run ./integration/measure/detect [-starts 30] [-fixture f1|f2]
//
// F1 is a snapshot that Redis is told to load slowly, for a second, and that
// ends by itself. With -release Redis loads more slowly still, answers every
// 110 ms, and is told to hurry at a random moment. F2 is a real append-only
// file of more than 100 MiB.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/startgate/startgate/integration/internal/fixture"
	"github.com/startgate/startgate/integration/internal/report"
	"github.com/startgate/startgate/integration/internal/resp"
)

const (
	f1Keys   = 2000
	f2Writes = 1_500_000
	f2Least  = 100 << 20
)

// bench is one way to have Redis load.
type bench struct {
	name    string
	starts  int
	goal    time.Duration // of the median
	dir     string
	args    []string
	release bool
	note    string
}

func main() {
	starts := flag.Int("starts", 0, "starts of the gate `N`; default 30 for f1, 10 for f2")
	fixtureName := flag.String("fixture", "f1", "f1 or f2")
	release := flag.Bool("release", false, "f1 with answers every 110 ms, released at a random moment")
	gate := flag.String("gate", "", "measure this `file` instead of building the gate")
	raw := flag.String("json", "", "write the raw numbers to this `file`")
	flag.Parse()
	code, err := measure(*fixtureName, *starts, *release, *gate, *raw)
	if err != nil {
		fmt.Fprintln(os.Stderr, "detect:", err)
		code = 1
	}
	os.Exit(code)
}

func measure(name string, starts int, release bool, gate, raw string) (code int, err error) {
	lab, err := fixture.Open()
	if err != nil {
		return 1, err
	}
	defer lab.Close()
	if gate, err = lab.Gate(gate); err != nil {
		return 1, err
	}
	worker, err := lab.Worker()
	if err != nil {
		return 1, err
	}
	b, err := prepare(lab, name, release)
	if err != nil {
		return 1, err
	}
	b.starts = cmp.Or(starts, b.starts)

	r := report.New("detect " + b.name)
	var took, blind report.Samples
	early, unseen := 0, 0
	waiter := fixture.Waiter{Command: func(addr string) fixture.Command {
		return fixture.Command{Args: []string{gate, "--", worker}, Env: []string{"REDIS_URL=redis://" + addr}}
	}}
	for range b.starts {
		all, err := lab.Load(b.dir, b.args, []fixture.Waiter{waiter}, b.meanwhile)
		if err == nil {
			err = all[0].Err
		}
		if err != nil {
			return 1, err
		}
		took, blind = append(took, all[0].Took), append(blind, all[0].Blind)
		if all[0].Early {
			early++
		}
		if !fixture.Says(all[0].Stderr, "redis_loading") {
			unseen++
		}
	}
	r.Keep("took", took)
	r.Keep("blind", blind)
	r.Table([]string{"loading:0 to the worker", "starts", "min", "median", "p95", "max"}, [][]string{{
		b.name, fmt.Sprint(len(took)), report.Ms(took.Min()), report.Ms(took.Median()), report.Ms(took.P95()), report.Ms(took.Max()),
	}})
	r.Note("%s The observer's answer before loading:0 was %s older (median).", b.note, report.Ms(blind.Median()))
	r.Goal("median", report.Ms(took.Median()), "≤ "+report.Ms(b.goal), took.Median() <= b.goal)
	r.Goal("workers started before loading:0", fmt.Sprint(early), "0", early == 0)
	r.Goal("gates that saw Redis loading", fmt.Sprint(b.starts-unseen), fmt.Sprint(b.starts), unseen == 0)
	return r.End(raw)
}

func prepare(lab *fixture.Lab, name string, release bool) (bench, error) {
	switch name {
	case "f1":
		dir, err := lab.F1(f1Keys)
		b := bench{name: name, starts: 30, goal: 20 * time.Millisecond, dir: dir, release: release,
			args: fixture.SlowLoad(time.Second / f1Keys), note: "Redis loads for 1 s and answers every 18 ms meanwhile."}
		if release {
			b.name, b.args = "f1, released", fixture.SlowLoad(3*time.Millisecond)
			b.note = "Redis would load for 6 s, answers every 110 ms, and is released after up to 1 s."
		}
		return b, err
	case "f2":
		dir, size, err := lab.F2(f2Writes)
		if err == nil && size < f2Least {
			err = fmt.Errorf("the append-only file has %d bytes, fewer than %d", size, f2Least)
		}
		return bench{name: name, starts: 10, goal: 40 * time.Millisecond, dir: dir, args: fixture.AOF(),
			note: fmt.Sprintf("The append-only file has %d MiB.", size>>20)}, err
	}
	return bench{}, errors.New("there is no fixture of that name")
}

// meanwhile has Redis load without pause from some time on, where that is
// wanted.
func (b bench) meanwhile(redis *fixture.Redis) error {
	if !b.release {
		return nil
	}
	conn, err := resp.Dial(redis.Addr, "")
	if err != nil {
		return err
	}
	defer conn.Close()
	time.Sleep(time.Second/2 + rand.N(time.Second/2))
	_, err = conn.Do("CONFIG", "SET", "key-load-delay", "0")
	return err
}
