package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for what must come. It is far beyond what
// anything here takes, and is met only by what never comes.
const patience = 60 * time.Second

// An event is one line that the gate has written in its JSON format.
type event struct {
	Level, Code, Wait, Reason, Message, Cause string
	Keys                                      []string
	Exit                                      int
	Attempt, Attempts                         int
	WouldExit                                 int `json:"would_exit"`
	Elapsed                                   float64
	Causes                                    map[string]struct{ Attempts int }
}

// A gateProcess is a running gate. Its fields are valid after wait, its
// methods at any time.
type gateProcess struct {
	t       testing.TB
	cmd     *exec.Cmd
	started time.Time
	ended   time.Time
	code    int
	stdout  string
	stderr  string

	mu     sync.Mutex
	lines  []string
	more   chan struct{} // closed and replaced with every line
	exited chan struct{}
}

// command returns a command that runs the gate with args and with env alone:
// the environment of the tests stays outside.
func command(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(gatePath(), args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "STARTGATE_FORMAT=json"}, env...)
	return cmd
}

// start starts cmd and reads what it writes, unless cmd says where that goes.
// The process is killed at the end of t if it still runs then.
func start(t testing.TB, cmd *exec.Cmd) *gateProcess {
	t.Helper()
	p := &gateProcess{
		t: t, cmd: cmd, more: make(chan struct{}), exited: make(chan struct{}),
	}
	var stdout bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &stdout
	}
	stderr := io.Reader(strings.NewReader(""))
	if cmd.Stderr == nil {
		pipe, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		stderr = pipe
	}
	dieWithParent(cmd)
	p.started = time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.readLines(stderr) // to the end first: Wait closes the pipe
		cmd.Wait()
		p.ended = time.Now()
		p.stdout, p.code = stdout.String(), cmd.ProcessState.ExitCode()
		close(p.exited)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-p.exited
	})
	return p
}

// readLines reads what the gate writes until there is no more.
func (p *gateProcess) readLines(stderr io.Reader) {
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		p.mu.Lock()
		if line != "" {
			p.stderr += line
			p.lines = append(p.lines, line)
		}
		close(p.more)
		p.more = make(chan struct{})
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// events are the lines so far that are JSON.
func (p *gateProcess) events() []event {
	p.mu.Lock()
	defer p.mu.Unlock()
	var events []event
	for _, line := range p.lines {
		var e event
		if json.Unmarshal([]byte(line), &e) == nil && e.Code != "" {
			events = append(events, e)
		}
	}
	return events
}

// await waits until the gate has written a line with this code for the nth
// time, and fails the test when the gate ends without.
func (p *gateProcess) await(code string, nth int) event {
	p.t.Helper()
	deadline := time.After(patience)
	for ended := false; ; {
		p.mu.Lock()
		more := p.more
		p.mu.Unlock()
		n := 0
		for _, e := range p.events() {
			if e.Code == code {
				if n++; n == nth {
					return e
				}
			}
		}
		if ended {
			p.t.Fatalf("the gate has ended with %d without %s number %d:\n%s", p.code, code, nth, p.stderr)
		}
		select {
		case <-more:
		case <-p.exited:
			ended = true
		case <-deadline:
			p.t.Fatalf("the gate does not come to %s number %d: %s", code, nth, p.codes())
		}
	}
}

// wait waits for the end of the process.
func (p *gateProcess) wait() *gateProcess {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.t.Fatalf("the gate does not end: %s", p.codes())
	}
	return p
}

// took is how long the process ran.
func (p *gateProcess) took() time.Duration { return p.ended.Sub(p.started) }

// codes are the codes of the lines so far, in order.
func (p *gateProcess) codes() []string {
	var codes []string
	for _, e := range p.events() {
		codes = append(codes, e.Code)
	}
	return codes
}

// last is the last line.
func (p *gateProcess) last() event {
	events := p.events()
	if len(events) == 0 {
		p.t.Fatalf("the gate has said nothing; exit %d, stderr %q", p.code, p.stderr)
	}
	return events[len(events)-1]
}

// run runs the gate to its end.
func run(t testing.TB, env []string, args ...string) *gateProcess {
	t.Helper()
	return start(t, command(env, args...)).wait()
}

// through returns cmd run by prefix, a command that execs its arguments.
func through(prefix []string, cmd *exec.Cmd) *exec.Cmd {
	if len(prefix) == 0 {
		return cmd
	}
	wrapped := exec.Command(prefix[0], append(slices.Clone(prefix[1:]), append([]string{cmd.Path}, cmd.Args[1:]...)...)...)
	wrapped.Env = cmd.Env
	return wrapped
}

// eventually polls cond until it holds. It is for facts of other processes
// that nobody announces.
func eventually(t testing.TB, what string, cond func() error) {
	t.Helper()
	eventuallyWithin(t, patience, what, cond)
}

func eventuallyWithin(t testing.TB, limit time.Duration, what string, cond func() error) {
	t.Helper()
	for deadline := time.Now().Add(limit); ; time.Sleep(2 * time.Millisecond) {
		err := cond()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("never came about: %s: %v", what, err)
		}
	}
}

var errNotYet = errors.New("not yet")

// redisURL is the environment that names a URL.
func redisURL(url string) []string { return []string{"REDIS_URL=" + url} }

func contains(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
