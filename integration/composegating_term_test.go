package integration

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// docker stop ends a gate within a second, whatever it is at, as process 1 and
// behind an init. The second begins when the engine says that it has sent the
// signal: how long it takes to do so is not the gate's.
func testComposeTerm(t *testing.T, g *gating) {
	s := g.stack(t, `
  broker-paused: {<<: *broker, networks: {default: {aliases: [paused-`+brokerName+`]}}}
  broker-ready: {<<: *broker, networks: {default: {aliases: [ready-`+brokerName+`]}}, command: [--requirepass, `+rightPassword+`]}
  broker-loading: {<<: *broker, command: *slow}
  unknown: {<<: *gated, environment: {REDIS_URL: "redis://no-`+brokerName+`:6379/0"}}
  refused: {<<: *gated, init: true, environment: {REDIS_URL: "redis://ready-`+brokerName+`:1/0"}}
  loading: *gated
  silent: {<<: *gated, environment: {REDIS_URL: "redis://paused-`+brokerName+`:6379/0", STARTGATE_REPLY_TIMEOUT: "1"}}
  rejected: {<<: *gated, init: true, environment: {REDIS_URL: "redis://:`+wrongPassword+`@ready-`+brokerName+`:6379/0", STARTGATE_REFUSE_AFTER: 5m}}
  delayed: {<<: *gated, environment: {REDIS_URL: "redis://:`+rightPassword+`@ready-`+brokerName+`:6379/0", STARTGATE_DELAY: 5m}}
`)
	rounds := 10
	if full() {
		rounds = 100
	}
	s.do("create")
	paused, loading := s.container("broker-paused"), s.container("broker-loading")
	docker(t, "start", paused, s.container("broker-ready"))
	docker(t, "pause", paused)
	s.becomeReady("broker-ready", rightPassword)
	var gates []string
	codes := []string{"redis_dns_not_found", "redis_refused", "redis_loading", "redis_reply_timeout", "redis_auth_rejected", "delay"}
	for _, service := range []string{"unknown", "refused", "loading", "silent", "rejected", "delayed"} {
		gates = append(gates, s.container(service))
	}

	sent := s.signals()
	var longest, longestStop time.Duration
	stopped, silent := 0, 0
	for stopped < rounds {
		since := time.Now()
		docker(t, "restart", "--time", "0", loading) // for it does not load for as long as this takes
		docker(t, append([]string{"start"}, gates...)...)
		var logs []*gateProcess
		for i, id := range gates {
			p := start(t, exec.Command("docker", "logs", "--follow", "--since", since.Format(time.RFC3339Nano), id))
			p.await(codes[i], 1)
			logs = append(logs, p)
		}
		asked := time.Now()
		docker(t, append([]string{"stop", "--time", "10"}, gates...)...)
		for i, f := range inspect(t, gates...) {
			ended := f.State.FinishedAt
			took := ended.Sub(sent(gates[i], asked))
			longest, longestStop = max(longest, took), max(longestStop, ended.Sub(asked))
			stopped++
			if f.State.ExitCode != 143 || took > time.Second || ended.Before(asked) {
				t.Errorf("%s: exit %d after %s", f.Name, f.State.ExitCode, took)
			}
			if last := logs[i].wait().last(); last.Code != "stopped" {
				silent++
				t.Logf("%s: last line %+v", f.Name, last)
			}
		}
	}
	// A gate that gets no processor for 35 ms ends without a word.
	if silent > 1+stopped/20 {
		t.Errorf("%d of %d have not said that they were stopped", silent, stopped)
	}
	t.Logf("%d stopped, the slowest %s after the signal and %s after docker stop", stopped, longest, longestStop)
}

// signals listens to the engine and returns a function that tells when it has
// first sent a TERM to a container since an instant.
func (s *gatedStack) signals() func(container string, since time.Time) time.Time {
	s.t.Helper()
	var sent lockedBuffer
	listen := exec.Command("docker", "events", "--since", time.Now().Format(time.RFC3339Nano), "--filter", "event=kill",
		"--filter", "label="+projectLabel+"="+s.project, "--format", "{{.Actor.ID}} {{.TimeNano}} {{.Actor.Attributes.signal}}")
	listen.Stdout = &sent
	start(s.t, listen)
	return func(container string, since time.Time) (at time.Time) {
		s.t.Helper()
		eventually(s.t, "the engine says that it has sent TERM", func() error {
			for line := range strings.Lines(sent.String()) {
				var id, signal string
				var nanoseconds int64
				fmt.Sscan(line, &id, &nanoseconds, &signal)
				if at = time.Unix(0, nanoseconds); id == container && signal == "15" && at.After(since) {
					return nil
				}
			}
			return errNotYet
		})
		return at
	}
}
