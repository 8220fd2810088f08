// Sigrace measures how many SIGTERMs get lost when a gate becomes its worker.
//
//	go run ./integration/sigrace [-n 10000] [-gate PATH] [-hogs N]
//
// A Go program that has asked for a signal takes it along when another thread
// calls execve at the wrong moment: the handler dies half-way, and the worker
// never hears of it. The container then stops by SIGKILL, jobs and all.
//
// Sigrace starts the gate in front of a worker with default dispositions, with
// a Redis that is ready, and sends SIGTERM at a time spread evenly over the
// way to the worker and a little beyond. Whoever gets the signal has to end.
// Where a worker lives on, the signal was lost.
//
// All that proves nothing unless signals can be lost here and now. So a second
// program goes the same way without the gate's precautions, as everybody
// writes it: if it loses none, the run fails. None of them runs as PID 1,
// where the kernel drops signals by itself.
//
// It exits with 0 when the gate has lost none, 1 when it has, and 2 when the
// run proved nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// reach is how far beyond the usual time of the worker's start the signals go.
const reach = 1.3

func main() {
	var o options
	flag.IntVar(&o.trials, "n", 10_000, "trials with the gate")
	flag.IntVar(&o.control, "control", 2_000, "trials with the control")
	flag.StringVar(&o.gate, "gate", "", "the gate's binary; built when empty")
	flag.IntVar(&o.parallel, "parallel", 2*runtime.NumCPU(), "trials at a time")
	flag.IntVar(&o.hogs, "hogs", runtime.NumCPU(), "processors to keep busy meanwhile")
	hog := flag.Bool("hog", false, "only keep one processor busy until standard input ends")
	flag.Parse()
	if *hog {
		beHog()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sigrace: proved nothing:", err)
	}
	os.Exit(code)
}

type options struct {
	trials, control, parallel, hogs int
	gate                            string
}

// Exit codes.
const (
	lostNone     = 0
	lostSome     = 1
	provedNought = 2
)

func run(ctx context.Context, o options) (code int, err error) {
	dir, err := os.MkdirTemp("", "sigrace")
	if err != nil {
		return provedNought, err
	}
	defer os.RemoveAll(dir)
	control, gate, err := subjects(dir, o.gate)
	if err != nil {
		return provedNought, err
	}
	redis, err := startRedis(dir)
	if err != nil {
		return provedNought, err
	}
	defer redis.stop()
	hogs, err := startHogs(o.hogs)
	if err != nil {
		return provedNought, err
	}
	defer hogs.stop()

	printHeader(os.Stdout)
	var results [2]tally
	for i, s := range []subject{control, gate} {
		s.environ = []string{"REDIS_URL=redis://" + redis.address + "/0", "REDIS_ADDRESS=" + redis.address}
		way, err := s.measure(ctx, 100, o.parallel)
		if err != nil {
			return provedNought, fmt.Errorf("%s: %w", s.name, err)
		}
		trials := []int{o.control, o.trials}[i]
		start := time.Now()
		results[i] = s.trials(ctx, trials, o.parallel, time.Duration(reach*float64(way)))
		if ctx.Err() != nil {
			return provedNought, context.Cause(ctx)
		}
		results[i].print(os.Stdout, s.name, way, time.Since(start))
	}
	return judge(results[0], results[1])
}

// judge says what a run is worth.
func judge(control, gate tally) (code int, err error) {
	switch {
	case gate[lost] > 0:
		return lostSome, nil
	case gate[failed] > 0 || control[failed] > 0:
		return provedNought, fmt.Errorf("%d trials ended in another way", gate[failed]+control[failed])
	case control[lost] == 0:
		return provedNought, errors.New("the control, which takes no precautions, lost none either")
	case gate[caught] == 0 || gate[worker] == 0:
		return provedNought, errors.New("the signals did not come both before and after the gate's end")
	}
	return lostNone, nil
}
