package integration

import (
	"slices"
	"testing"
)

// A worker that is there before its broker.
func testBrokerStartsLater(t *testing.T, g *gating) {
	s := g.stack(t, `
  broker: {<<: *broker, command: *slow}
  worker: *gated
`)
	w := s.started("worker")
	w.await("redis_dns_not_found", 1)
	s.started("broker")
	w.await("redis_loading", 1)
	s.hurry("broker")
	worker := s.served("worker")
	if broker := s.inspect("broker"); !worker.State.StartedAt.Before(broker.State.StartedAt) {
		t.Error("the broker was there first")
	}
	if w.wait(); !mentions(w, "start", "redis_dns_not_found", "redis_loading", "ready", "exec") {
		t.Errorf("codes %v", w.codes())
	}
}

// A broker that is killed in the middle of loading, and loads anew.
func testBrokerKilledAndBack(t *testing.T, g *gating) {
	s := g.stack(t, `
  broker: {<<: *broker, command: *slow}
  worker: *gated
`)
	s.started("broker")
	w := s.started("worker")
	w.await("redis_loading", 1)
	docker(t, "kill", s.container("broker"))
	w.await("redis_dns_not_found", 1) // a container that is gone has no name
	docker(t, "start", s.container("broker"))
	w.await("redis_loading", 2)
	s.hurry("broker")
	worker := s.served("worker")
	if broker := s.inspect("broker"); broker.State.StartedAt.Before(worker.State.StartedAt) {
		t.Error("the broker was not started again")
	}
}

// A broker that is made anew, at an address of its own, while another container
// sits at the old one.
func testBrokerAtNewAddress(t *testing.T, g *gating) {
	s := g.stack(t, `
  broker: {<<: *broker, command: *slow}
  worker: *gated
  squatter: {<<: *gated, entrypoint: [sleep, infinity], init: true}
`)
	s.started("broker")
	old := s.inspect("broker").address()
	w := s.started("worker")
	w.await("redis_loading", 1)
	s.do("rm", "--stop", "--force", "--volumes", "broker")
	w.await("redis_dns_not_found", 1)
	// The engine gives the lowest address that is free, or the next one.
	s.started("squatter")
	s.started("broker")
	if now := s.inspect("broker").address(); now == old || now == "" {
		t.Fatalf("the broker has no new address: %q", now)
	}
	w.await("redis_loading", 2)
	s.hurry("broker")
	s.served("worker")
}

// A paused broker accepts, by its kernel, and does not answer.
func testBrokerPaused(t *testing.T, g *gating) {
	s := g.stack(t, `
  broker: *broker
  worker: &impatient
    <<: *gated
    environment: {<<: *url, STARTGATE_REPLY_TIMEOUT: "0.5"}
  spent:
    <<: *gated
    environment: {<<: *url, STARTGATE_REPLY_TIMEOUT: "0.5", STARTGATE_TIMEOUT: "2"}
`)
	s.started("broker")
	s.do("pause", "broker")
	w := s.started("spent", "worker")
	w.await("redis_reply_timeout", 1)
	s.finished("spent", 75)
	if p := s.follow("spent").wait(); p.last().Code != "redis_reply_timeout" || p.last().Exit != 75 || mentions(p, "exec") {
		t.Errorf("the budget is spent with %+v", p.last())
	}
	if mentions(w, "ready") {
		t.Errorf("a paused broker is ready: %v", w.codes())
	}
	s.do("unpause", "broker")
	s.served("worker")
}

// The network goes, first on the broker's side and then on the worker's, while
// the gate has a connection to a broker that loads.
func testNetworkLost(t *testing.T, g *gating) {
	s := g.stack(t, `
  broker: {<<: *broker, command: *slow}
  worker: *gated
`)
	s.started("broker")
	w := s.started("worker")
	w.await("redis_loading", 1)
	net := s.project + "_default"

	docker(t, "network", "disconnect", net, s.container("broker"))
	w.await("redis_dns_not_found", 1)
	docker(t, "network", "connect", "--alias", brokerName, net, s.container("broker"))
	w.await("redis_loading", 2)

	docker(t, "network", "disconnect", net, s.container("worker"))
	before := len(w.codes())
	eventually(t, "the gate sees that its network is gone", func() error {
		if slices.ContainsFunc(w.codes()[before:], func(code string) bool { return code != "redis_loading" && code != "waiting" }) {
			return nil
		}
		return errNotYet
	})
	t.Logf("codes without a network: %v", w.codes()[before:])
	docker(t, "network", "connect", net, s.container("worker"))
	w.await("redis_loading", 3)
	s.hurry("broker")
	if f := s.served("worker"); f.RestartCount != 0 {
		t.Errorf("restarted %d times", f.RestartCount)
	}
}
