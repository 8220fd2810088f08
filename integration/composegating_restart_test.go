package integration

import (
	"slices"
	"testing"
)

// What a restart policy makes of the gate's exit codes.
func testExitCodesAndRestarts(t *testing.T, g *gating) {
	s := g.stack(t, `
  broker: {<<: *broker, command: [--requirepass, `+rightPassword+`]}
  once-69: &refused
    <<: *gated
    environment: &wrong {REDIS_URL: "redis://:`+wrongPassword+`@`+brokerName+`:6379/0"}
  twice-69: {<<: *refused, restart: "on-failure:2"}
  twice-75:
    <<: *gated
    restart: on-failure:2
    environment: {REDIS_URL: "redis://no-`+brokerName+`:6379/0", STARTGATE_TIMEOUT: "2"}
  twice-78:
    <<: *gated
    restart: on-failure:2
    environment: {REDIS_URL: ""}
  retried-69:
    <<: *refused
    restart: on-failure:1
    environment: {<<: *wrong, STARTGATE_REFUSE_AFTER: 1s}
  done:
    <<: *gated
    restart: on-failure:2
    environment: {REDIS_URL: "redis://:`+rightPassword+`@`+brokerName+`:6379/0"}
`)
	s.started("broker")
	s.becomeReady("broker", rightPassword)
	s.started("once-69", "twice-69", "twice-75", "twice-78", "retried-69", "done")
	for service, want := range map[string]struct {
		exit, restarts int
		code           string
	}{
		"once-69":    {69, 0, "redis_auth_rejected"},
		"twice-69":   {69, 2, "redis_auth_rejected"},
		"twice-75":   {75, 2, "redis_dns_not_found"},
		"twice-78":   {78, 2, "redis_missing"},
		"retried-69": {69, 1, "redis_auth_rejected"},
	} {
		f := s.become(service, "given up", func(f facts) bool {
			return f.State.Status == "exited" && f.RestartCount == want.restarts
		})
		if f.State.ExitCode != want.exit {
			t.Errorf("%s: exit %d, want %d", service, f.State.ExitCode, want.exit)
		}
		p := s.follow(service).wait()
		if got := exits(p); !slices.Equal(got, slices.Repeat([]int{want.exit}, want.restarts+1)) {
			t.Errorf("%s: its runs end with %v\n%s", service, got, p.stderr)
		}
		for _, e := range p.events() {
			if e.Exit != 0 && (e.Code != want.code || e.Level != "error") {
				t.Errorf("%s ends with %+v, want %s", service, e, want.code)
			}
		}
	}
	// A refusal is one line, said at once, or again at the end of its time.
	errors := func(p *gateProcess) (found []event) {
		for _, e := range p.events() {
			if e.Level == "error" {
				found = append(found, e)
			}
		}
		return found
	}
	once := errors(s.follow("once-69").wait())
	if len(once) != 1 || !slices.Equal(once[0].Keys, []string{"REDIS_URL"}) || once[0].Attempt != 1 {
		t.Errorf("a wrong password is said with %+v", once)
	}
	for _, e := range errors(s.follow("retried-69").wait()) {
		if e.Exit == 69 && e.Elapsed < 1 {
			t.Errorf("given up after %.1f s", e.Elapsed)
		}
	}
	if f := s.served("done"); f.RestartCount != 0 {
		t.Errorf("a worker that has ended well was restarted %d times", f.RestartCount)
	}
}

// Policies that do not give up, until the reason is gone.
func testRefusalsAndRestarts(t *testing.T, g *gating) {
	s := g.stack(t, `
  broker: {<<: *broker, command: [--requirepass, `+wrongPassword+`]}
  broker-late:
    <<: *broker
    networks: {default: {aliases: [no-`+brokerName+`]}}
  stubborn: &stubborn
    <<: *gated
    restart: unless-stopped
    command: [worker, ready, signal]
    environment: &right {REDIS_URL: "redis://:`+rightPassword+`@`+brokerName+`:6379/0"}
  patient:
    <<: *stubborn
    environment: {<<: *right, STARTGATE_REFUSE_AFTER: 5m}
  spent:
    <<: *stubborn
    environment: {REDIS_URL: "redis://no-`+brokerName+`:6379/0", STARTGATE_TIMEOUT: "0.5"}
`)
	s.started("broker")
	s.becomeReady("broker", wrongPassword)
	patient := s.started("stubborn", "spent", "patient")
	patient.await("redis_auth_rejected", 1)
	for service, code := range map[string]int{"stubborn": 69, "spent": 75} {
		s.become(service, "restarted", func(f facts) bool { return f.RestartCount >= 2 })
		p := s.follow(service)
		eventually(t, service+" has ended twice", func() error {
			if got := exits(p); len(got) < 2 || slices.ContainsFunc(got, func(c int) bool { return c != code }) {
				return errNotYet
			}
			return nil
		})
	}
	if f := s.inspect("patient"); f.State.Status != "running" || f.RestartCount != 0 || mentions(patient, "ready") {
		t.Errorf("the patient one: %+v", f)
	}

	docker(t, "exec", "--env", "REDISCLI_AUTH="+wrongPassword, s.container("broker"), "redis-cli", "CONFIG", "SET", "requirepass", rightPassword)
	s.started("broker-late")
	for _, service := range []string{"stubborn", "spent", "patient"} {
		eventually(t, service+" serves", func() error {
			if !contains(s.logs(service), "worker: ready\n") {
				return errNotYet
			}
			return nil
		})
		if f := s.inspect(service); f.State.Status != "running" {
			t.Errorf("%s: %+v", service, f)
		}
	}
	if f := s.inspect("patient"); f.RestartCount != 0 {
		t.Errorf("the patient one was restarted %d times", f.RestartCount)
	}
}

// becomeReady waits until a broker answers to its password.
func (s *gatedStack) becomeReady(service, password string) {
	s.t.Helper()
	id := s.container(service)
	eventually(s.t, service+" is ready", func() error {
		if docker(s.t, "exec", "--env", "REDISCLI_AUTH="+password, id, "sh", "-c", "redis-cli ping || true") != "PONG" {
			return errNotYet
		}
		return nil
	})
}
