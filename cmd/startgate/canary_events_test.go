package main

import (
	"context"
	"crypto/x509"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe"
	"github.com/startgate/startgate/probe/probetest"
)

// TestEvents reaches the codes that no hostile value and no server brings
// about, each with a canary wherever there is room for one.
func TestEvents(t *testing.T) {
	needsExec(t)
	t.Parallel()
	good := probetest.New(t, probetest.Behaviour{}).Addr()
	other := probetest.New(t, probetest.Behaviour{Password: "another"}).Addr()
	path := "PATH=" + os.Getenv("PATH")
	file := func(c string) string { return secretDir(t, c) + "/../" + c }
	for _, e := range []struct {
		name  string
		codes string
		exit  int
		env   func(c string) []string
		args  func(c string) []string
	}{
		{"all well", "start ready delay exec", 0,
			func(c string) []string {
				return []string{"REDIS_URL=redis://:" + c + "@" + good, "STARTGATE_DELAY=20ms"}
			},
			func(c string) []string { return []string{"--", secretWorker(t, c), c} }},
		{"a plan", "contract_ok plan", 0,
			func(c string) []string { return []string{"RQ_REDIS_URL=redis://:" + c + "@" + good} },
			func(c string) []string { return []string{"check"} }},
		{"a broker that is not Redis", "broker_not_redis redis_missing", 78,
			func(c string) []string {
				return []string{"CELERY_BROKER_URL=pyamqp://" + c + ":" + c + "@" + c + "/" + c}
			},
			func(c string) []string { return []string{"check", "--format=json"} }},
		{"two waits, one refused", "start redis_auth_rejected", 69,
			func(c string) []string {
				return []string{"A=redis://:" + c + "@" + good, "B=redis://:" + c + "@" + other, "STARTGATE_REDIS_KEYS=A,B"}
			},
			func(c string) []string { return []string{"--refuse-after=20ms", "--", secretWorker(t, c), c} }},
		{"two keys, both bad", "redis_parse_failed env_placeholder_value", 78,
			func(c string) []string { return []string{"A=redis://:" + c + "@:1", "B=<" + c + ">"} },
			func(c string) []string { return []string{"wait", "--redis-keys", "A,B"} }},
		{"mode off", "mode_off exec", 0,
			func(c string) []string { return []string{"REDIS_URL=" + c, "STARTGATE_MODE=off"} },
			func(c string) []string { return []string{"--", secretWorker(t, c), c} }},
		{"mode observe", "redis_parse_failed mode_observe exec", 0,
			func(c string) []string { return []string{"REDIS_URL=" + c, "STARTGATE_MODE=observe"} },
			func(c string) []string { return []string{"--", secretWorker(t, c), c} }},
		{"a setting that is malformed", "gate_setting_invalid gate_setting_unknown", 78,
			func(c string) []string { return []string{"STARTGATE_TIMEOUT=" + c, "STARTGATE_" + c + "=" + c} },
			func(c string) []string { return []string{"check", "--delay=" + c} }},
		{"no contract", "contract_unreadable", 66,
			func(c string) []string { return []string{"STARTGATE_CONTRACT=" + file(c) + "/none"} },
			func(c string) []string { return []string{"check"} }},
		{"a contract that is a directory", "contract_unreadable", 66,
			func(c string) []string { return []string{"STARTGATE_CONTRACT=" + file(c)} },
			func(c string) []string { return []string{"run", "--", c} }},
		{"no such wait", "usage_invalid", 64,
			func(c string) []string { return []string{"REDIS_URL=redis://:" + c + "@" + good} },
			func(c string) []string { return []string{"probe", c} }},
		{"a worker in a shell", "worker_in_shell exec", 0,
			func(c string) []string { return []string{"REDIS_URL=redis://:" + c + "@" + good, path} },
			func(c string) []string { return []string{"--", "sh", "-c", ": " + c} }},
		{"no PATH", "path_unset exec_not_found", 127,
			func(c string) []string { return []string{"REDIS_URL=redis://:" + c + "@" + good} },
			func(c string) []string { return []string{"--", c, c} }},
	} {
		canary := newCanary()
		p := process{label: e.name, canary: canary, args: e.args(canary), env: append(e.env(canary), part(roleWorker)...), exit: e.exit}
		out := p.evaluate(t)
		p.want(t, out, strings.Fields(e.codes)...)
		if out.says("exec") && !out.says("worker_in_shell") && !strings.Contains(string(out.worker), canary) {
			t.Errorf("%s: the worker was not given the canary, and so nothing was proved", e.name)
		}
	}
}

// TestLongWait waits until the gate doubts the address itself.
func TestLongWait(t *testing.T) {
	needsExec(t)
	t.Parallel()
	peer := probetest.New(t, probetest.Behaviour{})
	peer.Down()
	canary := newCanary()
	p := process{
		label: "a long wait", canary: canary, exit: 75, args: []string{"wait", "--timeout=16.5"},
		env: []string{"REDIS_URL=redis://" + canary + ":" + canary + "@" + peer.Addr() + "/0"},
	}
	p.want(t, p.evaluate(t), "start", "waiting", "never_connected", "redis_refused")
}

// TestSignals stops a gate that waits. ABRT is none that it catches: the Go
// runtime then prints the stacks of all goroutines, which hold addresses of
// strings and never their text.
func TestSignals(t *testing.T) {
	needsExec(t)
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT} {
		canary := newCanary()
		peer := probetest.New(t, probetest.Behaviour{Password: canary, Loading: &probetest.Loading{Percent: 1}})
		p := process{
			label: "stopped by signal " + signal.String(), canary: canary, exit: 128 + int(signal),
			args:   []string{"--", secretWorker(t, canary), canary},
			env:    []string{"REDIS_URL=redis://:" + canary + "@" + peer.Addr(), "GOTRACEBACK=all"},
			during: once(t, peer, "PING", 2, func(gate *os.Process) { gate.Signal(signal) }),
		}
		if signal != syscall.SIGABRT {
			p.want(t, p.evaluate(t), "start", "redis_loading", "stopped")
			continue
		}
		out, err := p.run()
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range p.faults(out) {
			t.Errorf("%s: %s", p.label, fault)
		}
	}
}

// TestPanic has the real run of main panic with everything that it was given.
func TestPanic(t *testing.T) {
	needsExec(t)
	t.Parallel()
	canary := newCanary()
	p := process{
		label: "a panic", canary: canary, binary: self, args: []string{"check"}, exit: 70,
		env: append(part(rolePanic), "REDIS_URL=redis://"+canary+":"+canary+"@127.0.0.1:1", canary+"="+canary),
	}
	p.want(t, p.evaluate(t), "internal_error")
}

// TestProberAlone reaches, by the exported way that a program would take, the
// code that no input of the binary leads to, since a host or a port that can
// never be dialled is refused before: and with it the prober's own recover.
func TestProberAlone(t *testing.T) {
	t.Parallel()
	canary := newCanary()
	options := probe.RedisOptions{DialTimeout: time.Second, ReplyTimeout: time.Second, Roots: x509.NewCertPool(), KeyPrefix: canary}
	url := envcheck.Seal(envcheck.RedisParts{Host: "127.0.0.1", Port: "99999", User: canary, Password: canary})
	var none context.Context // makes the prober panic
	for _, test := range []struct {
		ctx  context.Context
		url  envcheck.RedisURL
		want envcheck.Code
	}{
		{t.Context(), url, envcheck.RedisHostInvalid},
		{t.Context(), envcheck.Seal(envcheck.RedisParts{Socket: "/" + strings.Repeat(canary, 20)}), envcheck.RedisAddressInvalid},
		{none, url, envcheck.InternalError},
	} {
		o := probe.NewRedis(test.url, options).Probe(test.ctx)
		if o.Code != test.want || o.Verdict != probe.Refuse {
			t.Errorf("a prober says %s, want %s", o.Code, test.want)
		}
		line := envcheck.Diagnostic{Code: o.Code}.AppendText(nil)
		reached(output{stderr: line})
		for _, leak := range leaks(line, canary) {
			t.Errorf("the line for %s has the canary as %s", o.Code, leak)
		}
	}
}
