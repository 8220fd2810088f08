package gate

import (
	"cmp"
	"context"
	"io"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe"
)

// healthTime is how long a health check may take. Kubernetes gives an exec
// probe 1 s by default, of which the container's runtime needs a part.
const healthTime = 700 * time.Millisecond

// Health says in one line how the worker's container is: whether its worker
// runs and has what the contract's health asks for. It is 0 or 1. liveness is
// about the process alone, so that a broker's outage restarts no workers.
func (g *Gate) Health(ctx context.Context, liveness bool) int {
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	g.judges = true
	s, faults := LoadSettings(g.Flags)
	l := &line{Gate: g, settings: s, report: report{w: g.Stderr, json: s.JSON}, result: report{w: g.Stdout, json: s.JSON}}
	if len(faults) > 0 {
		return l.unhealthy(faults[0])
	}
	now, fault := findState(s.StateFile.Reveal())
	if fault != nil {
		return l.unhealthy(*fault)
	}
	switch {
	case now.Phase == Failed:
		return l.unhealthy(now.tell(envcheck.HealthFailed))
	case now.Phase != Running && !liveness:
		return l.unhealthy(now.tell(envcheck.HealthGating))
	case now.Phase == Running && !liveness && !now.Skipped:
		if d := l.worker(ctx); d != nil {
			return l.unhealthy(*d)
		}
	}
	ok := now.tell(envcheck.HealthOK)
	if now.Phase != Running {
		ok.Text = "the gate waits"
	}
	l.result.say(ok)
	return ExitOK
}

// unhealthy says why and returns 1, which is all that a HEALTHCHECK knows.
func (l *line) unhealthy(d envcheck.Diagnostic) int {
	l.result.say(d)
	return 1
}

// findState returns the state of the process that lives, among all that gates
// of this container may have left.
func findState(setting string) (found state, _ *envcheck.Diagnostic) {
	fault := envcheck.Diagnostic{Code: envcheck.HealthNeverGated}
	for _, path := range statePaths(setting) {
		s, reason := readState(path)
		switch {
		case reason == envcheck.NotFound:
		case reason != "":
			fault = envcheck.Diagnostic{Code: envcheck.HealthUnreadable, Reason: reason}
		case s.alive():
			return s, nil
		case fault.Code == envcheck.HealthNeverGated && s.Phase == Running:
			fault = s.tell(envcheck.HealthWorkerGone)
		case fault.Code == envcheck.HealthNeverGated:
			fault = s.tell(envcheck.HealthFailed)
		}
	}
	return found, &fault
}

// tell is a line about a state.
func (s state) tell(c envcheck.Code) envcheck.Diagnostic {
	d := envcheck.Diagnostic{Code: c, Wait: s.Wait, Fields: []envcheck.Field{
		envcheck.Is("phase", envcheck.Word(s.Phase)), envcheck.Dur("elapsed", max(0, time.Since(s.Since))),
	}}
	if s.Code != "" {
		d.Fields = append(d.Fields, envcheck.Says("cause", s.Code))
	}
	return d
}

// worker asks what the contract's health wants of a worker that runs. nil is
// all well.
func (l *line) worker(ctx context.Context) *envcheck.Diagnostic {
	// Faults of the contract and the environment were said when the worker
	// started, and the last of them is said again.
	l.report.w, l.report.termination = io.Discard, ""
	if code := cmp.Or(l.loadContract(), l.check(nil)); code != ExitOK {
		return &envcheck.Diagnostic{Code: l.report.failed}
	}
	if !l.contract.Health.Redis {
		return nil
	}
	for _, t := range l.targets {
		if t.Kind != "redis" {
			continue
		}
		// No write test: it needs rights, and each refusal counts in ACL LOG.
		t.Require = envcheck.RequirePing
		p := probe.NewRedis(t.URL, l.redisOptions(t))
		o := p.Probe(ctx)
		p.Close()
		if o.Verdict != probe.Ready {
			return &envcheck.Diagnostic{
				Code: envcheck.HealthRedis, Wait: t.Name, Keys: []envcheck.Key{t.Key},
				Fields: []envcheck.Field{envcheck.Says("cause", o.Code)},
			}
		}
	}
	return nil
}
