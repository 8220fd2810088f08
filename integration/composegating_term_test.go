package integration

import (
	"os/exec"
	"testing"
	"time"
)

// docker stop ends a gate within a second, whatever it is at, as process 1 and
// behind an init. An engine that takes longer by itself, as a process shows that
// does nothing but end, gets twice that.
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
  nothing: {<<: *gated, entrypoint: [worker, signal]}
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

	nothing := s.container("nothing")
	var longest, longestNothing time.Duration
	stopped := 0
	for stopped < rounds {
		since := time.Now()
		docker(t, "restart", "--time", "0", loading) // for it does not load for as long as this takes
		docker(t, append([]string{"start", nothing}, gates...)...)
		var logs []*gateProcess
		for i, id := range gates {
			p := start(t, exec.Command("docker", "logs", "--follow", "--since", since.Format(time.RFC3339Nano), id))
			p.await(codes[i], 1)
			logs = append(logs, p)
		}
		sent := time.Now()
		docker(t, append([]string{"stop", "--time", "10", nothing}, gates...)...)
		engine := inspect(t, nothing)[0].State.FinishedAt.Sub(sent)
		longestNothing = max(longestNothing, engine)
		for i, f := range inspect(t, gates...) {
			took := f.State.FinishedAt.Sub(sent)
			longest = max(longest, took)
			stopped++
			if f.State.ExitCode != 143 || took > max(time.Second, 2*engine) || took <= 0 {
				t.Errorf("%s: exit %d after %s; what does nothing has ended after %s", f.Name, f.State.ExitCode, took, engine)
			}
			if last := logs[i].wait().last(); last.Code != "stopped" {
				t.Errorf("%s: last line %+v", f.Name, last)
			}
		}
	}
	t.Logf("%d stopped, the slowest after %s; what does nothing after %s", stopped, longest, longestNothing)
}
