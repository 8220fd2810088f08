package integration

import (
	"strings"
	"testing"
)

// A service that is kept back until another one's worker runs, which its
// health check says and which a loading broker delays.
func testGatedByHealth(t *testing.T, g *gating) {
	s := g.stack(t, `
  broker: {<<: *broker, command: *slow}
  first:
    <<: *gated
    depends_on: [broker]
    command: [worker, ready, signal]
    healthcheck: {test: [CMD, /startgate, health], interval: 1s, timeout: 5s, retries: 3, start_period: 300s}
  second:
    <<: *gated
    depends_on: {first: {condition: service_healthy}}
`)
	up := s.begin()
	gating := s.become("first", "gating", func(f facts) bool { return len(f.State.Health.Log) > 1 })
	for _, probe := range gating.State.Health.Log {
		if probe.ExitCode != 1 || !strings.Contains(probe.Output, "health_gating") {
			t.Errorf("health while gating: %+v", probe)
		}
	}
	if gating.State.Health.Status != "starting" {
		t.Errorf("while gating the container is %s", gating.State.Health.Status)
	}
	s.neverStarted("second")
	s.hurry("broker")
	if up.wait(); up.code != 0 {
		t.Errorf("compose up: exit %d\n%s", up.code, up.stderr)
	}
	first := s.becomeHealth("first", "healthy")
	last := first.State.Health.Log[len(first.State.Health.Log)-1]
	if last.ExitCode != 0 || !strings.Contains(last.Output, "health_ok") {
		t.Errorf("health when the worker runs: %+v", last)
	}
	if log := s.logs("first"); !strings.Contains(log, "worker: ready\n") {
		t.Errorf("the first worker:\n%s", log)
	}
	if second := s.served("second"); second.State.StartedAt.Before(startedAt(t, s.logs("first"))) {
		t.Error("the second has been started before the first one's worker")
	}
}

// Workers without a gate, kept back by the broker's own health check and by
// that of a sidecar.
func testGatedByProbe(t *testing.T, g *gating) {
	s := g.stack(t, `
  broker:
    <<: *broker
    command: *slow
    environment: *url
    healthcheck: &probe {test: [CMD, /startgate, probe], interval: 1s, timeout: 5s, retries: 3, start_period: 300s}
  sidecar:
    <<: *gated
    entrypoint: [sleep, infinity]
    init: true
    healthcheck: *probe
  by-broker: &ungated
    <<: *gated
    entrypoint: [worker, ready]
    depends_on: {broker: {condition: service_healthy}}
  by-sidecar:
    <<: *ungated
    depends_on: {sidecar: {condition: service_healthy}}
`)
	up := s.begin()
	for _, service := range []string{"broker", "sidecar"} {
		f := s.become(service, "probed", func(f facts) bool {
			log := f.State.Health.Log
			return len(log) > 0 && strings.Contains(log[len(log)-1].Output, "redis_loading")
		})
		if last := f.State.Health.Log[len(f.State.Health.Log)-1]; last.ExitCode != 75 || f.State.Health.Status != "starting" {
			t.Errorf("%s while Redis loads: %s, %+v", service, f.State.Health.Status, last)
		}
	}
	s.neverStarted("by-broker")
	s.neverStarted("by-sidecar")
	s.hurry("broker")
	if up.wait(); up.code != 0 {
		t.Errorf("compose up: exit %d\n%s", up.code, up.stderr)
	}
	s.served("by-broker")
	s.served("by-sidecar")
}

// Workers without a gate, kept back by a service that waits and ends; and one
// for each way in which it can end without success.
func testGatedByWait(t *testing.T, g *gating) {
	s := g.stack(t, `
  broker: {<<: *broker, command: *slow}
  wait: &wait
    image: ${GATE}
    command: [wait]
    depends_on: [broker]
    environment: &json {<<: *url, STARTGATE_FORMAT: json}
  worker: &ungated
    <<: *gated
    entrypoint: [worker, ready]
    depends_on: {wait: {condition: service_completed_successfully}}
  wait-75:
    <<: *wait
    environment: {<<: *json, STARTGATE_TIMEOUT: "0.2"}
  wait-78:
    <<: *wait
    environment: {<<: *json, REDIS_URL: "`+wrongPassword+`"}
  after-75: {<<: *ungated, depends_on: {wait-75: {condition: service_completed_successfully}}}
  after-78: {<<: *ungated, depends_on: {wait-78: {condition: service_completed_successfully}}}
`)
	up := s.begin("worker")
	s.become("wait", "running", func(f facts) bool { return f.State.Status == "running" })
	s.follow("wait").await("redis_loading", 1)
	s.neverStarted("worker")
	for service, code := range map[string]int{"75": 75, "78": 78} {
		if out, err := s.command("up", "--detach", "after-"+service).CombinedOutput(); err == nil {
			t.Errorf("compose up has started after-%s:\n%s", service, out)
		}
		s.finished("wait-"+service, code)
		s.neverStarted("after-" + service)
	}
	s.hurry("broker")
	if up.wait(); up.code != 0 {
		t.Errorf("compose up: exit %d\n%s", up.code, up.stderr)
	}
	s.finished("wait", 0)
	s.served("worker")
}

// A broker that loads for longer than compose gives it: what depends on its
// health is given up for good, what has a gate gets its worker.
func testLoadsBeyondItsWindow(t *testing.T, g *gating) {
	s := g.stack(t, `
  broker:
    <<: *broker
    command: *slow
    environment: *url
    healthcheck: {test: [CMD, /startgate, probe], interval: 1s, timeout: 5s, retries: 2}
  strict:
    <<: *gated
    depends_on: {broker: {condition: service_healthy}}
  gated:
    <<: *gated
    depends_on: [broker]
`)
	up := s.begin()
	s.becomeHealth("broker", "unhealthy")
	if up.wait(); up.code == 0 || !strings.Contains(up.stderr, "is unhealthy") {
		t.Errorf("compose up: exit %d\n%s", up.code, up.stderr)
	}
	s.neverStarted("strict")
	docker(t, "start", s.container("gated")) // should compose have given up before
	s.follow("gated").await("redis_loading", 1)
	s.hurry("broker")
	s.served("gated")
	s.becomeHealth("broker", "healthy")
	s.neverStarted("strict")
}
