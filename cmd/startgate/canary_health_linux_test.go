package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

// stateOf is the state file of a gate that is this process.
func stateOf(t *testing.T, fields string) string {
	t.Helper()
	stat := readFile(t, "/proc/self/stat")
	started := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])[22-3]
	return fmt.Sprintf(`{"v":1,"pid":%d,"started":%s,%s}`, os.Getpid(), started, fields)
}

// states are what health can find, with the canary where it can be.
var states = [...]struct {
	name  string
	state string // "" is none; %s of a live process
	code  envcheck.Code
	exit  int
}{
	{"none", "", envcheck.HealthNeverGated, 1},
	{"no JSON", "CANARY", envcheck.HealthUnreadable, 1},
	{"cut", `{"v":1,"pid":7,"code":"CANARY`, envcheck.HealthUnreadable, 1},
	{"of a later version", `{"v":2,"code":"CANARY"}`, envcheck.HealthUnreadable, 1},
	{"of a process that is gone", `{"v":1,"pid":4194305,"started":1,"phase":"running"}`, envcheck.HealthWorkerGone, 1},
	{"of a gate that is gone", `{"v":1,"pid":4194305,"started":1,"phase":"failed","code":"redis_refused"}`, envcheck.HealthFailed, 1},
	{"in a phase of its own", `LIVE"phase":"CANARY"`, envcheck.HealthUnreadable, 1},
	{"with texts of its own", `LIVE"phase":"failed","code":"CANARY","wait":"CANARY"`, envcheck.HealthFailed, 1},
	{"gating", `LIVE"phase":"gating","code":"redis_loading","wait":"redis"`, envcheck.HealthGating, 1},
	{"running", `LIVE"phase":"running"`, envcheck.HealthOK, 0},
	{"failed", `LIVE"phase":"failed","code":"redis_refused"`, envcheck.HealthFailed, 1},
}

func TestHealth(t *testing.T) {
	t.Parallel()
	var jobs []func()
	for _, s := range states {
		for _, args := range [][]string{{"health"}, {"health", "--format=json"}, {"health", "--liveness"}} {
			jobs = append(jobs, func() {
				canary := newCanary()
				path := filepath.Join(secretDir(t, canary), canary)
				text := strings.ReplaceAll(s.state, "CANARY", canary)
				if live, ok := strings.CutPrefix(text, "LIVE"); ok {
					text = stateOf(t, live)
				}
				if text != "" {
					if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
						t.Error(err)
					}
				}
				p := process{label: "health of a state that is " + s.name, canary: canary, exit: s.exit, args: args,
					env: []string{"STARTGATE_STATE_FILE=" + path, "REDIS_URL=redis://:" + canary + "@127.0.0.1:1"}}
				if s.name == "gating" && len(args) == 2 && args[1] == "--liveness" {
					p.exit = 0
					p.evaluate(t)
					return
				}
				out := p.evaluate(t)
				p.want(t, out, string(s.code))
				if n := len(out.stdout); n > 200 && !strings.Contains(strings.Join(args, " "), "json") {
					t.Errorf("%s: a line of %d bytes, want 200 at most", p.label, n)
				}
			})
		}
	}
	for _, wrong := range [][]string{{"health", "CANARY"}, {"health", "--CANARY"}, {"health", "--format=CANARY"}} {
		jobs = append(jobs, func() {
			canary := newCanary()
			p := process{label: "health, typed wrongly", canary: canary, exit: 1}
			for _, arg := range wrong {
				p.args = append(p.args, strings.ReplaceAll(arg, "CANARY", canary))
			}
			p.evaluate(t)
		})
	}
	together(jobs)
}

// healthy is a contract that asks for all that health can be asked for.
const healthy = `contract: 1
name: healthy
keys: {REDIS_URL: {type: redis_url}, BEAT: {type: path}, GIT_SHA: {}, PORT: {type: port, default: "1"}, REDIS_PORT: {type: port}}
waits: [{redis: REDIS_URL, key_prefix: CANARY}]
health: {redis: true, revision: GIT_SHA, heartbeat: {ASKED}}
`

// TestHealthOfAWorker has servers tell the canary where a framework would tell
// its heartbeats.
func TestHealthOfAWorker(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	pid := os.Getpid()
	list := func(member string) probetest.Reply {
		return probetest.Raw(fmt.Sprintf("*1\r\n$%d\r\n%s\r\n", len(member), member))
	}
	clock := probetest.Raw("*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n")
	var jobs []func()
	for _, c := range []struct {
		name, asks string
		replies    func(c string) map[string]probetest.Reply
		code       envcheck.Code
		exit       int
	}{
		{"Redis alone", "rq: false", func(string) map[string]probetest.Reply { return nil }, envcheck.HealthOK, 0},
		{"Redis loads", "rq: false", func(c string) map[string]probetest.Reply {
			return map[string]probetest.Reply{"PING": probetest.Error("LOADING " + c)}
		}, envcheck.HealthRedis, 1},
		{"RQ has no worker", "rq: true", func(c string) map[string]probetest.Reply {
			return map[string]probetest.Reply{"TIME": clock, "SMEMBERS": list(c), "HMGET": probetest.Raw("*4\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n")}
		}, envcheck.HealthHeartbeatMissing, 1},
		{"RQ's worker is old", "rq: true", func(c string) map[string]probetest.Reply {
			return map[string]probetest.Reply{"TIME": clock, "SMEMBERS": list(c), "HMGET": probetest.Raw(fmt.Sprintf(
				"*4\r\n+%s\r\n+%d\r\n+2020-01-01T00:00:00.000000Z\r\n$-1\r\n", host, pid))}
		}, envcheck.HealthHeartbeatStale, 1},
		{"RQ's worker is well", "rq: true", func(c string) map[string]probetest.Reply {
			return map[string]probetest.Reply{"TIME": clock, "SMEMBERS": list(c), "HMGET": probetest.Raw(fmt.Sprintf(
				"*4\r\n+%s\r\n+%d\r\n+2023-11-14T22:13:00.000000Z\r\n$-1\r\n", host, pid))}
		}, envcheck.HealthOK, 0},
		{"Sidekiq's worker is well", "sidekiq: true", func(c string) map[string]probetest.Reply {
			return map[string]probetest.Reply{"TIME": clock, "SMEMBERS": list(fmt.Sprintf("%s:%d:%s", host, pid, c)), "HGET": probetest.Raw("$16\r\n1699999990.12345\r\n")}
		}, envcheck.HealthOK, 0},
		{"Sidekiq says something else", "sidekiq: true", func(c string) map[string]probetest.Reply {
			return map[string]probetest.Reply{"TIME": clock, "SMEMBERS": list(fmt.Sprintf("%s:%d:%s", host, pid, c)), "HGET": probetest.Raw("+" + c + "\r\n")}
		}, envcheck.HealthHeartbeatMissing, 1},
		{"asynq's worker is well", "asynq: true", func(c string) map[string]probetest.Reply {
			return map[string]probetest.Reply{"TIME": clock, "ZRANGE": list(fmt.Sprintf("asynq:servers:{%s:%d:%s}", host, pid, c)), "ZSCORE": probetest.Raw("$10\r\n1700000009\r\n")}
		}, envcheck.HealthOK, 0},
		{"asynq's worker is gone", "asynq: true", func(c string) map[string]probetest.Reply {
			return map[string]probetest.Reply{"TIME": clock, "ZRANGE": list(fmt.Sprintf("asynq:servers:{%s:%d:%s}", host, pid, c)), "ZSCORE": probetest.Raw("$10\r\n1699999999\r\n")}
		}, envcheck.HealthHeartbeatStale, 1},
		{"a list that is none", "rq: true", func(c string) map[string]probetest.Reply {
			return map[string]probetest.Reply{"TIME": clock, "SMEMBERS": probetest.Error("WRONGTYPE " + c)}
		}, envcheck.HealthRedis, 1},
		{"a worker that does not listen", "rq: false}, http: {port: PORT, path: /CANARY", func(string) map[string]probetest.Reply { return nil }, envcheck.HealthHTTP, 1},
		{"a worker that is no HTTP server", "rq: false}, http: {port: REDIS_PORT, path: /CANARY", func(string) map[string]probetest.Reply { return nil }, envcheck.HealthHTTP, 1},
		{"a file that is not there", "file: BEAT, max_age: 9", func(string) map[string]probetest.Reply { return nil }, envcheck.HealthHeartbeatMissing, 1},
	} {
		for _, args := range [][]string{{"health"}, {"health", "--format=json"}} {
			jobs = append(jobs, func() {
				canary := newCanary()
				server := probetest.New(t, probetest.Behaviour{Users: map[string]string{canary: canary}, Replies: c.replies(canary)})
				contract := strings.NewReplacer("CANARY", canary).Replace(strings.Replace(healthy, "ASKED", c.asks, 1))
				p := process{label: c.name + ", " + strings.Join(args, " "), canary: canary, exit: c.exit, args: args, env: []string{
					"STARTGATE_STATE_FILE=" + secretFile(t, canary, stateOf(t, `"phase":"running"`)), "STARTGATE_CONTRACT=" + secretFile(t, canary, contract),
					"REDIS_URL=redis://" + canary + ":" + canary + "@" + server.Addr() + "/3", "REDIS_PORT=" + server.Addr()[strings.LastIndexByte(server.Addr(), ':')+1:], "BEAT=/" + canary, "GIT_SHA=" + canary[:3] + " " + canary,
				}}
				p.want(t, p.evaluate(t), string(c.code))
			})
		}
	}
	together(jobs)
}

// TestPlacesOfAGate has the canary in where a gate leaves its state and answers
// probes.
func TestPlacesOfAGate(t *testing.T) {
	t.Parallel()
	server := probetest.New(t, probetest.Behaviour{}).Addr()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var jobs []func()
	for _, args := range [][]string{{"run", "--timeout=0", "--", "/bin/true"}, {"run", "--timeout=0", "--format=json", "--", "/bin/true"}} {
		jobs = append(jobs, func() {
			canary := newCanary()
			p := process{label: "nowhere to write", canary: canary, args: args, env: []string{"STARTGATE_STATE_FILE=/proc/" + canary, "REDIS_URL=redis://" + server}}
			p.want(t, p.evaluate(t), "state_unwritable")
		}, func() {
			canary := newCanary()
			p := process{label: "a port that is taken", canary: canary, args: args, env: []string{"STARTGATE_HEALTH_LISTEN=" + taken.Addr().String(), "REDIS_URL=redis://" + server}}
			p.want(t, p.evaluate(t), "listen_failed")
		}, func() {
			canary := newCanary()
			p := process{label: "a port that is none", canary: canary, exit: 78, args: args, env: []string{"STARTGATE_HEALTH_LISTEN=" + canary + ":" + canary, "REDIS_URL=redis://" + server}}
			p.want(t, p.evaluate(t), "gate_setting_invalid")
		}, func() {
			canary := newCanary()
			fifo := filepath.Join(secretDir(t, canary), "fifo")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Error(err)
			}
			p := process{label: "a FIFO for a state", canary: canary, args: slices.Clone(args), env: []string{"STARTGATE_STATE_FILE=" + fifo, "REDIS_URL=redis://" + server}}
			p.want(t, p.evaluate(t), "exec")
		})
	}
	together(jobs)
}
