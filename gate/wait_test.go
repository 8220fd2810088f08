package gate

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/startgate/startgate/probe/probetest"
)

// numbers are what differs from run to run in a line.
var numbers = regexp.MustCompile(`[0-9.]+m?s\b`)

// gateFor returns a gate in front of servers, by the names of their keys, and
// what it writes.
func gateFor(t *testing.T, flags map[string]string, servers map[string]*probetest.Server) (g *Gate, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	g = &Gate{Flags: flags, Stdout: stdout, Stderr: stderr}
	for key, s := range servers {
		g.Environ = append(g.Environ, key+"="+s.URL())
	}
	return g, stdout, stderr
}

// normal is output without what differs from run to run.
func normal(b *bytes.Buffer) string {
	return regexp.MustCompile(`attempts=\d+`).ReplaceAllString(numbers.ReplaceAllString(b.String(), "Ns"), "attempts=N")
}

func one(t *testing.T, b probetest.Behaviour) map[string]*probetest.Server {
	t.Helper()
	return map[string]*probetest.Server{"REDIS_URL": probetest.New(t, b)}
}

func TestProbeWritesItsResultToStdout(t *testing.T) {
	g, stdout, stderr := gateFor(t, nil, one(t, probetest.Behaviour{}))
	if code := g.Probe(t.Context(), nil); code != ExitOK {
		t.Errorf("exit %d", code)
	}
	if got, want := normal(stdout), "startgate: info  ready wait=redis elapsed=Ns attempts=N\n"; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	if stderr.Len() > 0 {
		t.Errorf("stderr %q", stderr)
	}
}

func TestProbeMakesOneAttempt(t *testing.T) {
	servers := one(t, probetest.Behaviour{Loading: &probetest.Loading{Percent: 10}})
	g, stdout, stderr := gateFor(t, map[string]string{"refuse-after": "60"}, servers)
	if code := g.Probe(t.Context(), nil); code != ExitBudgetSpent {
		t.Errorf("exit %d, want %d", code, ExitBudgetSpent)
	}
	want := "startgate: error redis_loading wait=redis key=REDIS_URL attempt=1 loaded=10% address=loopback tls=no password=empty port=other: " +
		"Redis is loading its data set; give it a longer timeout (exit 75: restarting may help)\n"
	if got := stderr.String(); got != want || stdout.Len() > 0 {
		t.Errorf("stderr %q, want %q", got, want)
	}
	if got := servers["REDIS_URL"].Traffic().Commands["PING"]; got != 1 {
		t.Errorf("%d attempts", got)
	}
}

func TestProbeOfNamedWaits(t *testing.T) {
	servers := map[string]*probetest.Server{
		"A": probetest.New(t, probetest.Behaviour{}), "B": probetest.New(t, probetest.Behaviour{Password: "p"}),
	}
	g, _, stderr := gateFor(t, map[string]string{"redis-keys": "A,B"}, servers)
	g.Environ[0], g.Environ[1] = "A="+servers["A"].URL(), "B=redis://"+servers["B"].Addr()
	for _, c := range []struct {
		names []string
		want  int
	}{{nil, ExitRefused}, {[]string{"redis"}, ExitOK}, {[]string{"redis2"}, ExitRefused}, {[]string{"nope"}, ExitUsage}} {
		stderr.Reset()
		if code := g.Probe(t.Context(), c.names); code != c.want {
			t.Errorf("%v: exit %d, want %d: %s", c.names, code, c.want, stderr)
		}
	}
}

func TestLinesSayWhichClientWasTaken(t *testing.T) {
	for _, c := range []struct {
		name string
		env  string
		set  string
		run  []string // the worker
		want string
	}{
		{"the key", "RQ_REDIS_URL=redis://h", "", nil, "key=RQ_REDIS_URL client=rq"},
		{"the command", "REDIS_URL=redis://h", "", []string{"/usr/bin/celery", "worker"}, "key=REDIS_URL client=celery"},
		{"the setting", "RQ_REDIS_URL=redis://h:1", "asynq", nil, "key=RQ_REDIS_URL client=asynq"},
		{"nothing", "REDIS_URL=redis://h", "", []string{"node", "worker.js"}, "key=REDIS_URL client=generic"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			flags := map[string]string{}
			if c.set != "" {
				flags["client"] = c.set
			}
			g := &Gate{Flags: flags, Environ: []string{c.env}, Stdout: &out, Stderr: &out}
			l, _ := g.begin()
			if code := l.check(c.run); code != ExitOK {
				t.Fatalf("exit %d: %s", code, &out)
			}
			l.sayPlan()
			l.report.say(l.startLine())
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			for _, line := range lines[1:] {
				if !strings.Contains(line, c.want) {
					t.Errorf("%s does not say %s", line, c.want)
				}
			}
			if len(lines) != 3 {
				t.Errorf("got\n%s", &out)
			}
		})
	}
}

func TestWaitSaysWhatChanges(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{Loading: &probetest.Loading{Percent: 40, ETA: 9 * time.Second}})
	g, stdout, stderr := gateFor(t, nil, map[string]*probetest.Server{"REDIS_URL": s})
	go func() {
		<-s.Await(probetest.Commands("PING", 3))
		s.Set(probetest.Behaviour{OOM: true})
		<-s.Await(probetest.Commands("PING", s.Traffic().Commands["PING"]+3))
		s.Set(probetest.Behaviour{})
	}()
	if code := g.Wait(t.Context()); code != ExitOK {
		t.Errorf("exit %d", code)
	}
	want := `startgate: info  start contract=builtin mode=enforce timeout=Ns delay=Ns wait=redis key=REDIS_URL client=generic
startgate: info  redis_loading wait=redis elapsed=Ns timeout=Ns loaded=40% eta=Ns: Redis is loading its data set
startgate: info  redis_out_of_memory wait=redis key=REDIS_URL elapsed=Ns timeout=Ns address=loopback tls=no password=empty port=other: Redis is out of memory and refuses writes
startgate: info  ready wait=redis elapsed=Ns attempts=N
`
	if got := normal(stderr); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if stdout.Len() > 0 {
		t.Errorf("stdout %q", stdout)
	}
}

func TestBudgetIsSpentWithTheLastCause(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{})
	s.Down()
	g, _, stderr := gateFor(t, map[string]string{"timeout": "0.3"}, map[string]*probetest.Server{"REDIS_URL": s})
	if code := g.Wait(t.Context()); code != ExitBudgetSpent {
		t.Errorf("exit %d, want %d", code, ExitBudgetSpent)
	}
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	last := lines[len(lines)-1]
	if !strings.HasPrefix(last, "startgate: error redis_refused wait=redis key=REDIS_URL elapsed=") ||
		!strings.Contains(last, "causes=redis_refused:") || !strings.HasSuffix(last, "(exit 75: restarting may help)") {
		t.Errorf("last line %s", last)
	}
}

func TestRefusalEndsAllWaits(t *testing.T) {
	down := probetest.New(t, probetest.Behaviour{})
	down.Down()
	servers := map[string]*probetest.Server{"A": down, "B": probetest.New(t, probetest.Behaviour{Mode: probetest.Sentinel})}
	g, _, stderr := gateFor(t, map[string]string{"redis-keys": "A,B", "timeout": "60"}, servers)
	start := time.Now()
	if code := g.Wait(t.Context()); code != ExitRefused {
		t.Errorf("exit %d, want %d", code, ExitRefused)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %s of a budget of a minute", took)
	}
	if !strings.HasSuffix(strings.TrimSpace(stderr.String()), "(exit 69: fix first)") {
		t.Errorf("got\n%s", stderr)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestReadinessMustHoldAtTheEndOfTheDelay(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{})
	g, _, stderr := gateFor(t, map[string]string{"delay": "0.3"}, map[string]*probetest.Server{"REDIS_URL": s})
	// Readiness is lost in the delay, which the gate's own line begins.
	g.Stderr = writer(func(line []byte) (int, error) {
		if bytes.Contains(line, []byte(" delay ")) && !bytes.Contains(stderr.Bytes(), []byte(" delay ")) {
			s.Set(probetest.Behaviour{Loading: &probetest.Loading{}})
		}
		return stderr.Write(line)
	})
	go func() {
		<-s.Await(probetest.Commands("PING", 4))
		s.Set(probetest.Behaviour{})
	}()
	if code := g.Wait(t.Context()); code != ExitOK {
		t.Errorf("exit %d", code)
	}
	var codes []string
	for line := range strings.Lines(stderr.String()) {
		codes = append(codes, strings.Fields(line)[2])
	}
	if got, want := strings.Join(codes, " "), "start ready delay redis_loading ready delay"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRefuseAfterWaitsForThePassword(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{Password: "old"})
	g, _, stderr := gateFor(t, map[string]string{"refuse-after": "60"}, nil)
	g.Environ = []string{"REDIS_URL=redis://:new@" + s.Addr()}
	go func() {
		<-s.Await(probetest.Commands("AUTH", 3))
		s.Set(probetest.Behaviour{Password: "new"})
	}()
	if code := g.Wait(t.Context()); code != ExitOK {
		t.Errorf("exit %d", code)
	}
	if got := stderr.String(); !strings.Contains(got, "startgate: warn  redis_auth_rejected") || strings.Contains(got, "redis_auth_required") {
		t.Errorf("got\n%s", got)
	}
}

func TestSignalEndsAWait(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{Accept: probetest.AcceptSilent})
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-s.Await(probetest.Connections(1))
		cancel(Stopped{syscall.SIGTERM})
	}()
	g, _, stderr := gateFor(t, map[string]string{"reply-timeout": "60"}, map[string]*probetest.Server{"REDIS_URL": s})
	start := time.Now()
	if code := g.Wait(ctx); code != 143 {
		t.Errorf("exit %d, want 143", code)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
	if !strings.Contains(stderr.String(), "stopped signal=TERM") {
		t.Errorf("got\n%s", stderr)
	}
}

func TestModeOff(t *testing.T) {
	t.Setenv("STARTGATE_MODE", "off")
	for name, run := range map[string]func(*Gate) int{
		"check": func(g *Gate) int { return g.Check(t.Context()) },
		"wait":  func(g *Gate) int { return g.Wait(t.Context()) },
		"probe": func(g *Gate) int { return g.Probe(t.Context(), []string{"redis"}) },
	} {
		g, stdout, stderr := gateFor(t, map[string]string{"timeout": "garbage"}, nil)
		if code := run(g); code != ExitOK || stdout.Len() > 0 || !strings.Contains(stderr.String(), "warn  mode_off") {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", name, code, stdout, stderr)
		}
	}
}

func TestContractFileIsNeverReplaced(t *testing.T) {
	g, _, stderr := gateFor(t, map[string]string{"contract": "/nonexistent"}, nil)
	if code := g.Check(t.Context()); code != ExitContractUnreadable || strings.Contains(stderr.String(), "redis_missing") {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
}
