package gate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/startgate/startgate/probe/probetest"
)

const workerContract = `contract: 1
name: worker
keys:
  ENABLED: {type: bool, default: "true", expose: value}
  QUEUE_URL: {type: redis_url, required: true, topic: queue, purpose: queue config}
  QUEUE_PASSWORD: {secret: true}
  CACHE_URL: {type: redis_url}
  WAIT: {type: seconds, default: "7", max: 60}
  PAUSE: {type: millis, default: "1"}
skip_when: not ENABLED
rules:
  - {code: one_url, at_most_one: [QUEUE_URL, CACHE_URL], level: warn, doc: why so}
waits:
  - redis: {url: QUEUE_URL, password: QUEUE_PASSWORD}
  - {redis: CACHE_URL, name: cache, when: set(CACHE_URL)}
settings: {timeout: WAIT, delay: PAUSE}
`

// withContract is a gate with a contract file, and an environment of its own.
func withContract(t *testing.T, contract string, flags map[string]string, env ...string) (g *Gate, stdout, stderr func() string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "contract.yaml")
	if err := os.WriteFile(path, []byte(contract), 0o600); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"contract": path}
	for name, v := range flags {
		all[name] = v
	}
	g, out, err := gateFor(t, all, nil)
	g.Environ = env
	return g, func() string { return normal(out) }, func() string { return normal(err) }
}

func TestCheckByAContractFile(t *testing.T) {
	g, stdout, stderr := withContract(t, workerContract, map[string]string{"delay": "0"}, "QUEUE_URL=redis://h")
	if code := g.Check(t.Context()); code != ExitOK {
		t.Errorf("exit %d: %s", code, stderr())
	}
	want := `startgate: info  fact key=ENABLED state=default
startgate: info  fact key=QUEUE_URL state=present
startgate: info  fact key=QUEUE_PASSWORD state=missing
startgate: info  fact key=CACHE_URL state=missing
startgate: info  fact key=WAIT state=default
startgate: info  fact key=PAUSE state=default
startgate: info  contract_ok contract=worker: the environment meets the contract
startgate: info  wait_not_done wait=cache: the condition of this wait is not true
startgate: info  plan wait=redis key=QUEUE_URL client=generic require=write timeout=Ns delay=Ns
`
	if got := stdout(); got != want {
		t.Errorf("stdout\n%swant\n%s", got, want)
	}
}

func TestCheckSaysFactsBesideFaults(t *testing.T) {
	g, stdout, stderr := withContract(t, workerContract, nil, "ENABLED=1", "QUEUE_ULR=redis://h", "WAIT=61")
	if code := g.Check(t.Context()); code != ExitEnvironment {
		t.Errorf("exit %d", code)
	}
	if !strings.Contains(stdout(), "fact key=ENABLED state=present value=true\n") || !strings.Contains(stdout(), "fact key=WAIT state=invalid\n") {
		t.Errorf("stdout\n%s", stdout())
	}
	want := `startgate: error queue_missing key=QUEUE_URL: queue config missing QUEUE_URL; QUEUE_ULR may be a misspelling of it; set it
startgate: error wait_invalid key=WAIT reason=above_max: the value is not what the contract asks for; it must be less (exit 78: fix first)
`
	if got := stderr(); got != want {
		t.Errorf("stderr\n%swant\n%s", got, want)
	}
}

func TestSettingsByTheWorkersKeys(t *testing.T) {
	t.Setenv("STARTGATE_INTERVAL_MAX", "2s")
	server := probetest.New(t, probetest.Behaviour{Password: "pw"})
	g, _, stderr := withContract(t, workerContract, map[string]string{"dial-timeout": "1"},
		"QUEUE_URL="+strings.Replace(server.URL(), ":pw@", "", 1), "QUEUE_PASSWORD=pw", "WAIT=9")
	if code := g.Wait(t.Context()); code != ExitOK {
		t.Errorf("exit %d: %s", code, stderr())
	}
	want := "startgate: info  start contract=worker mode=enforce timeout=Ns delay=Ns set_by=timeout:WAIT,delay:PAUSE,dial_timeout:--dial-timeout,interval_max:STARTGATE_INTERVAL_MAX,contract:--contract wait=redis"
	if !strings.Contains(stderr(), want) {
		t.Errorf("stderr\n%swant %s", stderr(), want)
	}
}

func TestFlagWinsOverTheWorkersKey(t *testing.T) {
	g, stdout, _ := withContract(t, workerContract, map[string]string{"timeout": "3"}, "QUEUE_URL=redis://h", "WAIT=9")
	g.Check(t.Context())
	if got := stdout(); !strings.Contains(got, "timeout=Ns") {
		t.Errorf("stdout\n%s", got)
	}
	l, _ := g.checked()
	if l.settings.Timeout.Seconds() != 3 || l.settings.Delay.Milliseconds() != 1 {
		t.Errorf("timeout %s delay %s", l.settings.Timeout, l.settings.Delay)
	}
}

func TestSkip(t *testing.T) {
	g, stdout, stderr := withContract(t, workerContract, nil, "ENABLED=false")
	for name, do := range map[string]func() int{
		"check": func() int { return g.Check(t.Context()) },
		"wait":  func() int { return g.Wait(t.Context()) },
		"probe": func() int { return g.Probe(t.Context(), nil) },
	} {
		if code := do(); code != ExitOK {
			t.Errorf("%s exits %d", name, code)
		}
	}
	if got, want := stderr(), strings.Repeat("startgate: info  worker_disabled key=ENABLED: worker disabled by ENABLED\n", 3); got != want {
		t.Errorf("stderr\n%swant\n%s", got, want)
	}
	if strings.Contains(stdout(), "plan") {
		t.Errorf("stdout\n%s", stdout())
	}
	exits, _, stderr := withContract(t, workerContract+"on_skip: exit\n", nil, "ENABLED=false")
	if code := exits.Run(t.Context(), []string{"/nonexistent"}); code != ExitOK {
		t.Errorf("run exits %d: %s", code, stderr())
	}
	runs, _, _ := withContract(t, workerContract, nil, "ENABLED=false")
	if code := runs.Run(t.Context(), []string{"/nonexistent"}); code != ExitNotFound {
		t.Errorf("run exits %d, want %d: it becomes the worker", code, ExitNotFound)
	}
}

func TestContractFileFaults(t *testing.T) {
	for _, c := range []struct {
		contract, want string
		code           int
	}{
		{"contract: 1\nname: c\nkeyz: {}\n", "startgate: error contract_missing_field line=1 column=1: the contract lacks a field; add the field keys\n" +
			"startgate: error contract_unknown_field line=3 column=1: the contract has a field that the language does not know; it is close to keys (exit 65: fix first)\n", ExitContractMalformed},
	} {
		g, _, stderr := withContract(t, c.contract, nil, "A=postgres://h")
		if code := g.Check(t.Context()); code != c.code || stderr() != c.want {
			t.Errorf("exit %d, stderr\n%swant\n%s", code, stderr(), c.want)
		}
	}
	g, _, stderr := withContract(t, "", map[string]string{"contract": "/nonexistent"})
	if code := g.Check(t.Context()); code != ExitContractUnreadable || !strings.Contains(stderr(), "contract_unreadable reason=not_found") {
		t.Errorf("exit %d, stderr %s", code, stderr())
	}
}

func TestUsualContractFileApplies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "contract.yaml")
	if err := os.WriteFile(path, []byte(workerContract), 0o600); err != nil {
		t.Fatal(err)
	}
	usual := defaultContract
	defaultContract = path
	t.Cleanup(func() { defaultContract = usual })
	g, stdout, _ := gateFor(t, nil, nil)
	g.Environ = []string{"QUEUE_URL=redis://h"}
	if code := g.Check(t.Context()); code != ExitOK || !strings.Contains(stdout.String(), "contract=worker") {
		t.Errorf("exit %d, stdout %s", code, stdout)
	}
}

func TestContractCommands(t *testing.T) {
	for action, want := range map[string]string{
		"lint": "startgate: info  contract_valid contract=worker declared=6 rules=1 waits=2: the contract has no fault\n",
		"docs": "# worker\n", "example": "# Environment of worker.", "schema": "{\n",
	} {
		g, stdout, stderr := withContract(t, workerContract, nil)
		if code := g.Contract(action, ""); code != ExitOK || !strings.HasPrefix(stdout(), want) {
			t.Errorf("%s exits %d with %q, %s", action, code, stdout(), stderr())
		}
		if code := g.Contract(action, "/nonexistent"); action != "schema" && code != ExitContractUnreadable {
			t.Errorf("%s of no file exits %d", action, code)
		}
	}
}

func TestExplainKnowsTheContract(t *testing.T) {
	for code, want := range map[string]string{"one_url": "Doc: why so\n", "queue_missing": "queue_missing\nWhat ", "redis_loading": "redis_loading\nWhat "} {
		g, stdout, _ := withContract(t, workerContract, nil)
		if !g.Explain(code) || !strings.Contains(stdout(), want) {
			t.Errorf("%s is explained as %q", code, stdout())
		}
	}
	g, _, _ := withContract(t, workerContract, nil)
	if g.Explain("nope") {
		t.Error("nope is explained")
	}
}

func TestFileOfAuthoritiesOfAWait(t *testing.T) {
	contract := "contract: 1\nname: c\nkeys: {A: {type: redis_url}, CA: {type: path}}\nwaits: [{redis: A, tls: {ca: CA}}]\n"
	g, _, stderr := withContract(t, contract, nil, "A=rediss://h", "CA=/nonexistent")
	if code := g.Check(t.Context()); code != ExitEnvironment || !strings.Contains(stderr(), "gate_setting_invalid wait=redis key=CA reason=not_found: the file of trusted authorities cannot be used") {
		t.Errorf("exit %d, stderr %s", code, stderr())
	}
}

// Each kind of wait is planned and started by its name, and its first failure
// says the facts.
func TestWaitsOfEveryKind(t *testing.T) {
	down := probetest.New(t, probetest.Behaviour{})
	down.Down()
	closed := down.Addr()
	contract := `contract: 1
name: c
keys: {R: {type: redis_url}, D: {type: postgres_url}, H: {type: http_url}, M: {type: url}}
waits: [{postgres: D}, {http: H, path: /x}, {tcp: M, name: mail}, {redis: R}]
`
	env := []string{
		"R=" + probetest.New(t, probetest.Behaviour{}).URL(), "D=postgres://u:p@" + closed + "/d?sslmode=disable", "H=http://" + closed, "M=smtp://" + closed,
	}
	g, stdout, stderr := withContract(t, contract, map[string]string{"timeout": "0"}, env...)
	if code := g.Check(t.Context()); code != ExitOK {
		t.Errorf("exit %d: %s", code, stderr())
	}
	for _, want := range []string{
		"plan wait=postgres key=D timeout=Ns delay=Ns\n", "plan wait=http key=H timeout=Ns delay=Ns\n", "plan wait=mail key=M timeout=Ns delay=Ns\n",
		"plan wait=redis key=R client=generic require=write timeout=Ns delay=Ns\n",
	} {
		if !strings.Contains(stdout(), want) {
			t.Errorf("no %sin\n%s", want, stdout())
		}
	}
	if code := g.Wait(t.Context()); code != ExitBudgetSpent {
		t.Errorf("exit %d", code)
	}
	for _, want := range []string{
		" wait=postgres,http,mail,redis keys=D,H,M,R client=generic\n",
		"error postgres_refused wait=postgres key=D attempt=1 address=loopback tls=no password=set port=other: ",
		"error http_refused wait=http key=H attempt=1 address=loopback tls=no password=empty port=other: ",
		"error tcp_refused wait=mail key=M attempt=1 address=loopback tls=no password=empty port=other: ",
		"info  ready wait=redis ",
	} {
		if !strings.Contains(stderr(), want) {
			t.Errorf("no %q in\n%s", want, stderr())
		}
	}
}

func TestFileOfAuthoritiesInAPostgresURL(t *testing.T) {
	contract := "contract: 1\nname: c\nkeys: {D: {type: postgres_url}}\nwaits: [{postgres: D}]\n"
	g, _, stderr := withContract(t, contract, nil, "D=postgres://h/d?sslmode=verify-full&sslrootcert=/nonexistent")
	if code := g.Check(t.Context()); code != ExitEnvironment || !strings.Contains(stderr(), "gate_setting_invalid wait=postgres key=D reason=not_found") {
		t.Errorf("exit %d, stderr %s", code, stderr())
	}
}

// The last line is the only one that tells the exit code, and it is the right
// one.
func TestFaultsOfSettingsAndContractComeTogether(t *testing.T) {
	g, _, stderr := gateFor(t, map[string]string{"timeout": "soon", "contract": "/none"}, nil)
	if code := g.Check(t.Context()); code != ExitEnvironment {
		t.Errorf("exit %d", code)
	}
	text := stderr.String()
	if strings.Count(text, "(exit ") != 1 || !strings.HasSuffix(text, "(exit 78: fix first)\n") ||
		!strings.Contains(text, "contract_unreadable") || !strings.Contains(text, "gate_setting_invalid") {
		t.Errorf("%s", text)
	}
}

// A signal ends the gate in every mode, and nothing is said of a worker then.
func TestASignalIsNoObservation(t *testing.T) {
	g, _, stderr := gateFor(t, map[string]string{"timeout": "1h"}, nil)
	g.Environ = append(g.Environ, "REDIS_URL=redis://127.0.0.1:1")
	t.Setenv("STARTGATE_MODE", "observe")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(Stopped{syscall.SIGTERM})
	if code := g.Wait(ctx); code != 143 || strings.Contains(stderr.String(), "mode_observe") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

func TestASignalOutweighsAnObservedFault(t *testing.T) {
	t.Setenv("STARTGATE_MODE", "observe")
	for name, does := range map[string]func(*Gate, context.Context) int{
		"run":  func(g *Gate, ctx context.Context) int { return g.Run(ctx, []string{"/bin/sh"}) },
		"wait": func(g *Gate, ctx context.Context) int { return g.Wait(ctx) },
	} {
		g, _, stderr := gateFor(t, map[string]string{"timeout": "1h", "delay": "oops"}, nil)
		g.Environ = append(g.Environ, "REDIS_URL=redis://127.0.0.1:1")
		ctx, cancel := context.WithCancelCause(t.Context())
		g.Stderr = onWrite(func(text string) {
			stderr.WriteString(text)
			if strings.Contains(text, "redis_refused") {
				cancel(Stopped{syscall.SIGTERM})
			}
		})
		if code := does(g, ctx); code != 143 || !strings.HasSuffix(stderr.String(), "(exit 143)\n") {
			t.Errorf("%s: exit %d: %s", name, code, stderr)
		}
	}
}

func TestASkippedWorkerExitsWell(t *testing.T) {
	t.Setenv("STARTGATE_MODE", "observe")
	g, _, stderr := withContract(t, workerContract+"on_skip: exit\n", map[string]string{"delay": "oops"}, "ENABLED=false")
	if code := g.Run(t.Context(), []string{"/bin/sh"}); code != ExitOK || !strings.Contains(stderr(), "would_exit=78") {
		t.Errorf("exit %d: %s", code, stderr())
	}
}

// The last line has the exit code, whatever else cannot be done.
func TestNothingIsSaidAfterTheFailure(t *testing.T) {
	g, _, stderr := gateFor(t, map[string]string{"state-file": "/proc/startgate"}, nil)
	if code := g.Run(t.Context(), []string{"/bin/sh"}); code != ExitEnvironment || !strings.HasSuffix(strings.TrimRight(stderr.String(), "\n"), "(exit 78: fix first)") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// onWrite calls f with what is written.
type onWrite func(text string)

func (f onWrite) Write(p []byte) (int, error) { f(string(p)); return len(p), nil }

// A signal that comes when there is nothing left to wait for still ends the
// gate by its own code: 0 would be taken for the worker's.
func TestASignalAfterReadinessIsNoSuccess(t *testing.T) {
	g, _, stderr := gateFor(t, nil, nil)
	t.Setenv("STARTGATE_MODE", "off")
	ctx, cancel := context.WithCancelCause(t.Context())
	g.Stderr = onWrite(func(text string) {
		stderr.WriteString(text)
		if strings.Contains(text, "worker_in_shell") {
			cancel(Stopped{syscall.SIGTERM})
		}
	})
	if code := g.Run(ctx, []string{"/bin/sh", "-c", "exit 9"}); code != 143 || !strings.HasSuffix(stderr.String(), "(exit 143)\n") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
