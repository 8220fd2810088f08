package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/startgate/startgate/probe/probetest"
)

// workerFD is the descriptor through which a worker reports to the harness.
const workerFD = 3

// patience is how long a process may take. None is to come close to it, on a
// machine however busy.
const patience = 60 * time.Second

// evaluations counts the processes that were judged, failed those with a fault.
var evaluations, failed atomic.Int64

// mostReported is how many of those are described.
const mostReported = 40

// A process is one evaluation.
type process struct {
	label  string // what is said of it when it fails: nothing of the canary
	canary string
	binary string // "" is startgate
	args   []string
	env    []string // nothing is inherited
	mounts []mount  // in a mount namespace of its own
	exit   int      // want; anyExit is any of the documented ones
	// terminal takes both streams, when there is one.
	terminal *os.File
	// during is called when the process has been started.
	during func(*os.Process)
}

// anyExit is for hostile values: which fault comes first is not their concern.
const anyExit = -1

// output is all that a process leaves behind.
type output struct {
	stdout, stderr []byte
	termination    []byte // the termination message, when one was mounted
	worker         []byte // what the worker reports
	state          []byte // the state file
	exit           int    // -1 when a signal has ended it
}

// run starts the process, waits for its end and collects what it has said.
func (p *process) run() (output, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	binary := p.binary
	if binary == "" {
		binary = startgate
	}
	dir, err := os.MkdirTemp("", "startgate-state-")
	if err != nil {
		return output{}, err
	}
	defer os.RemoveAll(dir)
	state := filepath.Join(dir, "state")
	cmd := exec.CommandContext(ctx, binary, p.args...)
	cmd.Dir = dir // what is written under a hostile name is gone with it
	cmd.Env = append(slices.Clone(p.env), "STARTGATE_STATE_FILE="+state)
	if slices.ContainsFunc(p.env, func(entry string) bool { return strings.HasPrefix(entry, "STARTGATE_STATE_FILE=") }) {
		cmd.Env = p.env
	}
	if len(p.mounts) > 0 {
		inMountNamespace(cmd, p.mounts)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if p.terminal != nil {
		cmd.Stdout, cmd.Stderr = p.terminal, p.terminal
	}
	reports, report, err := os.Pipe()
	if err != nil {
		return output{}, err
	}
	defer reports.Close()
	cmd.ExtraFiles = []*os.File{report} // becomes workerFD
	err = cmd.Start()
	report.Close()
	if err != nil {
		return output{}, errors.New("it cannot be started") // the error has the command
	}
	if p.during != nil {
		p.during(cmd.Process)
	}
	worker, _ := io.ReadAll(reports)
	cmd.Wait()
	if ctx.Err() != nil {
		return output{}, errors.New("it does not end")
	}
	out := output{stdout: stdout.Bytes(), stderr: stderr.Bytes(), worker: worker, exit: cmd.ProcessState.ExitCode()}
	out.state, _ = os.ReadFile(state) // most commands leave none
	for _, m := range p.mounts {
		if m.target == terminationLogPath {
			out.termination, err = os.ReadFile(m.file)
		}
	}
	return out, err
}

// faults judges what a process has said. The sentences it returns name
// encodings and streams, and quote nothing.
func (p *process) faults(out output) (faults []string) {
	for _, stream := range out.streams() {
		for _, leak := range leaks(stream.text, p.canary) {
			faults = append(faults, fmt.Sprintf("%s has the canary as %s", stream.name, leak))
		}
	}
	return faults
}

// A stream is one of the outputs that are judged.
type stream struct {
	name string
	text []byte
}

func (o output) streams() []stream {
	return []stream{{"stdout", o.stdout}, {"stderr", o.stderr}, {"the termination message", o.termination}, {"the state file", o.state}}
}

// evaluate runs p, judges it and notes the codes that it has printed.
func (p *process) evaluate(t *testing.T) output {
	t.Helper()
	evaluations.Add(1)
	out, err := p.run()
	if err != nil {
		t.Errorf("%s: %v", p.label, err)
		return output{}
	}
	reached(out)
	faults := append(p.faults(out), grammarFaults(out)...)
	switch {
	case p.exit == anyExit && !slices.Contains(exits, out.exit):
		faults = append(faults, "exits with a code that is not in the table")
	case p.exit != anyExit && p.exit != out.exit:
		faults = append(faults, fmt.Sprintf("exits with another code than %d", p.exit))
	}
	switch {
	case len(faults) == 0:
	case failed.Add(1) <= mostReported:
		t.Errorf("%s (exit %d, codes %v): %s", p.label, out.exit, codesIn(out), strings.Join(faults, "; "))
	default:
		t.Fail() // one bug can fail a thousand evaluations
	}
	return out
}

// exits are the exit codes that an input can bring about: those of health, and
// those of the README's table but 70.
var exits = []int{0, 1, 64, 65, 66, 69, 75, 78, 126, 127}

// says reports whether a process has printed the code.
func (o output) says(code string) bool { return slices.Contains(codesIn(o), code) }

// want checks that the codes were printed: else the evaluation has gone
// another way than it was meant to, and proves nothing about that one.
func (p *process) want(t *testing.T, out output, codes ...string) {
	t.Helper()
	for _, code := range codes {
		if !out.says(code) {
			t.Errorf("%s: no line %s, only %v (exit %d)", p.label, code, codesIn(out), out.exit)
		}
	}
}

// together runs the jobs, some at a time: a process mostly waits.
func together(jobs []func()) {
	slots := make(chan struct{}, 4)
	var running sync.WaitGroup
	for _, job := range jobs {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			job()
		})
	}
	running.Wait()
}

// once calls act as soon as the peer has seen so many commands, and ends a
// gate that never sends them.
func once(t *testing.T, peer *probetest.Server, command string, n int, act func(gate *os.Process)) func(*os.Process) {
	return func(gate *os.Process) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if err := peer.Wait(ctx, probetest.Commands(command, n)); err != nil {
			t.Error(err)
			gate.Kill()
			return
		}
		act(gate)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
