//go:build linux

// Readypath measures what the gate costs when Redis is ready: the time of the
// whole process, from the fork to the end of a worker that does nothing.
//
//	go run ./integration/measure/readypath [-runs 200] [-tls]
//
// It stands between two others, run in turn with it: bare, a Go program that
// becomes the worker at once, and the yardstick, which asks Redis by hand. What
// counts is the ratio of the minima to the yardstick's; milliseconds differ
// from machine to machine, and other processes only ever add to them.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/startgate/startgate/integration/internal/fixture"
	"github.com/startgate/startgate/integration/internal/report"
)

const (
	goalRatio = 2.0    // to the yardstick's minimum; 1.4 to 1.8 was seen, by machine
	goalSize  = 10.5e6 // bytes
	warmUp    = 10
	traced    = 3
)

// chain is one way to the worker.
type chain struct {
	name      string
	command   fixture.Command
	files     [8]string // copies of the program that command starts
	yardstick int       // the chain to compare with
	judged    bool      // by goalRatio

	took   report.Samples
	cpu    report.Samples
	faults []int64
}

func main() {
	runs := flag.Int("runs", 200, "runs of each `N`")
	withTLS := flag.Bool("tls", false, "measure TLS too, with a CA file and with the system's roots")
	gate := flag.String("gate", "", "measure this `file` instead of building the gate")
	raw := flag.String("json", "", "write the raw numbers to this `file`")
	flag.Parse()
	code, err := measure(*runs, *withTLS, *gate, *raw)
	if err != nil {
		fmt.Fprintln(os.Stderr, "readypath:", err)
		code = 1
	}
	os.Exit(code)
}

func measure(runs int, withTLS bool, gate, raw string) (code int, err error) {
	lab, err := fixture.Open()
	if err != nil {
		return 1, err
	}
	defer lab.Close()
	chains, size, err := prepare(lab, gate, withTLS)
	if err != nil {
		return 1, err
	}
	for i := range chains {
		c := &chains[i]
		if c.files, err = lab.Copies(c.command.Args[0]); err != nil {
			return 1, err
		}
	}
	r := report.New("readypath")
	for n := range warmUp + runs {
		for i := range chains {
			c := &chains[(n+i)%len(chains)] // each comes after each other
			c.command.Args[0] = c.files[n%len(c.files)]
			e, err := lab.Run(c.command)
			if err != nil {
				return 1, err
			}
			if e.Exit != 0 {
				return 1, fmt.Errorf("%s has ended with %d", c.name, e.Exit)
			}
			if n >= warmUp {
				c.took, c.cpu, c.faults = append(c.took, e.Took), append(c.cpu, e.CPU), append(c.faults, e.Faults)
			}
		}
	}
	var rows [][]string
	for i := range chains {
		c := &chains[i]
		y := &chains[c.yardstick]
		ratio := float64(c.took.Min()) / float64(y.took.Min())
		calls, ok := syscalls(lab, c.command)
		count := "-"
		if ok {
			count = strconv.Itoa(calls)
		}
		rows = append(rows, []string{
			c.name, report.Ms(c.took.Min()), report.Ms(c.took.Median()), report.Ms(c.took.P95()),
			fmt.Sprintf("%.2f", ratio), fmt.Sprintf("%.2f", c.medianRatio(y)),
			report.Ms(c.cpu.Median()), strconv.FormatInt(slices.Sorted(slices.Values(c.faults))[len(c.faults)/2], 10), count,
		})
		r.Keep(c.name, map[string]any{"took": c.took, "cpu": c.cpu, "faults": c.faults, "syscalls": count})
		if c.judged {
			r.Goal(c.name+", minimum to the yardstick's", fmt.Sprintf("%.2f", ratio), fmt.Sprintf("≤ %.1f", goalRatio), ratio <= goalRatio)
		}
	}
	r.Table([]string{"start to end", "min", "median", "p95", "min ratio", "ratio in turn", "CPU median", "minor faults", "system calls"}, rows)
	r.Note("%d runs of each in turn, of %d copies. Ratios are to the yardstick, for TLS to the yardstick with the same TLS; "+
		"the ratio in turn is the median over runs that followed one another. "+
		"System calls are the least of %d runs under strace.", runs, len(chains[0].files), traced)
	r.Goal("size of the binary", fmt.Sprintf("%.2f MB", float64(size)/1e6), fmt.Sprintf("≤ %.1f MB", goalSize/1e6), float64(size) <= goalSize)
	r.Keep("size", size)
	return r.End(raw)
}

// medianRatio compares each run with y's of the same turn. A machine whose
// speed drifts moves the minima apart, and this least.
func (c *chain) medianRatio(y *chain) float64 {
	ratios := make([]float64, len(c.took))
	for n := range ratios {
		ratios[n] = float64(c.took[n]) / float64(y.took[n])
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// prepare builds the programs and starts the servers.
func prepare(lab *fixture.Lab, gate string, withTLS bool) (chains []chain, size int64, err error) {
	if gate, err = lab.Gate(gate); err != nil {
		return nil, 0, err
	}
	info, err := os.Stat(gate)
	if err != nil {
		return nil, 0, err
	}
	bare, err := lab.Build("integration/measure/readypath/bare")
	if err != nil {
		return nil, 0, err
	}
	yardstick, err := lab.Build("integration/measure/readypath/yardstick")
	if err != nil {
		return nil, 0, err
	}
	nop, err := lab.Nop()
	if err != nil {
		return nil, 0, err
	}
	redis, err := lab.Redis(lab.Dir)
	if err != nil {
		return nil, 0, err
	}
	env := fixture.Environment("redis://" + redis.Addr + "/0")
	chains = []chain{
		{name: "worker alone", command: fixture.Command{Args: []string{nop}, Env: env, Alone: true}, yardstick: 2},
		{name: "bare exec", command: fixture.Command{Args: []string{bare, nop}, Env: env, Alone: true}, yardstick: 2},
		{name: "yardstick", command: fixture.Command{Args: []string{yardstick, nop}, Env: env, Alone: true}, yardstick: 2},
		{name: "gate", command: fixture.Command{Args: []string{gate, "--", nop}, Env: env, Alone: true}, yardstick: 2, judged: true},
	}
	if !withTLS {
		return chains, info.Size(), nil
	}
	secure, err := lab.TLSRedis()
	if err != nil {
		return nil, 0, err
	}
	for _, kind := range [...]struct {
		name, variable string
		flags          []string
	}{
		{"TLS, CA file", "CA_FILE=" + secure.CA, []string{"--tls-ca-file", secure.CA}},
		{"TLS, system roots", "SSL_CERT_FILE=" + secure.Bundle, nil},
	} {
		env, y := append(fixture.Environment(secure.URL), kind.variable), len(chains)
		line := slices.Concat([]string{gate}, kind.flags, []string{"--", nop})
		chains = append(chains,
			chain{name: "yardstick, " + kind.name, command: fixture.Command{Args: []string{yardstick, nop}, Env: env, Alone: true}, yardstick: y},
			chain{name: "gate, " + kind.name, command: fixture.Command{Args: line, Env: env, Alone: true}, yardstick: y})
	}
	return chains, info.Size(), nil
}

var total = regexp.MustCompile(`(?m)^\s*100\.00\s+\S+\s+(?:\S+\s+)?(\d+)\s+(?:\d+\s+)?total$`)

// syscalls counts the system calls of a run, when there is a strace that works.
func syscalls(lab *fixture.Lab, c fixture.Command) (calls int, ok bool) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		return 0, false
	}
	file := filepath.Join(lab.Dir, "strace")
	c.Args = append([]string{strace, "-f", "-c", "-o", file}, c.Args...)
	for range traced {
		e, err := lab.Run(c)
		if err != nil || e.Exit != 0 {
			return 0, false
		}
		b, _ := os.ReadFile(file)
		found := total.FindSubmatch(b)
		if found == nil {
			return 0, false
		}
		if n, _ := strconv.Atoi(string(found[1])); !ok || n < calls {
			calls, ok = n, true
		}
	}
	return calls, ok
}
