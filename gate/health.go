package gate

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe"
)

// healthTime is how long a health check may take. Kubernetes gives an exec
// probe 1 s by default, of which the container's runtime needs a part.
const healthTime = 700 * time.Millisecond

// Health says in one line how the worker's container is: whether its worker
// runs and has what the contract's health asks for. It returns 0 or 1.
// liveness is about the process alone, so that a broker's outage restarts no
// workers.
func (g *Gate) Health(ctx context.Context, liveness bool) int {
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	g.judges = true
	s, faults := LoadSettings(g.Flags)
	// What is wrong with contract and environment was said when the gate
	// began; here the last of it is the cause.
	l := &line{Gate: g, settings: s, report: report{w: io.Discard}, result: report{w: g.Stdout, json: s.JSON}}
	// Of the settings only that one matters here: in mode observe the worker runs
	// beside others that are malformed.
	for _, d := range faults {
		if slices.Contains(d.Keys, "STARTGATE_STATE_FILE") || slices.Contains(d.Keys, "--state-file") {
			return l.unhealthy(d)
		}
	}
	now, fault := findState(s.StateFile.Reveal())
	if fault == nil {
		fault = now.unready(liveness)
	}
	if fault == nil && now.Phase == running && !liveness {
		fault = l.workerFault(ctx, now)
	}
	l.found = now
	if fault != nil {
		return l.unhealthy(*fault)
	}
	d := now.tell(envcheck.HealthOK)
	if now.Phase != running {
		d.Text = "the gate waits"
	}
	l.sayHealth(d)
	return ExitOK
}

// unhealthy says why and returns 1, which is all that a HEALTHCHECK knows.
func (l *line) unhealthy(d envcheck.Diagnostic) int {
	l.sayHealth(d)
	return 1
}

// sayHealth writes one line. Beside what every line has, a deploy job may
// record of the worker which one it is.
func (l *line) sayHealth(d envcheck.Diagnostic) {
	if l.settings.JSON {
		d.Head = append(d.Head, envcheck.Is("mode", envcheck.Word(l.settings.Mode)))
		if l.contract.Name != "" {
			d.Head = append(d.Head, envcheck.Is("contract", l.contract.Name))
		}
		if l.judged.Revision != "" {
			d.Head = append(d.Head, envcheck.Is("revision", l.judged.Revision))
		}
		d.Head = append(d.Head, l.record(d.Code)...)
	}
	l.result.say(d)
}

// record is what a deploy job may record of a worker that was found: whether
// the contract applies to it, its queues, and how its servers are. A server
// that the contract's health does not ask for was ready when the worker began.
func (l *line) record(code envcheck.Code) []envcheck.Field {
	if l.found.Phase != running {
		return nil
	}
	enabled := envcheck.Word("yes")
	if l.found.Skipped {
		enabled = "no"
	}
	fields := []envcheck.Field{envcheck.Is("enabled", enabled)}
	if len(l.contract.Queues) > 0 {
		fields = append(fields, envcheck.Is("queues", envcheck.Word(strings.Join(l.contract.Queues, ","))))
	}
	if l.waitsFor("redis") {
		ready := envcheck.Word("at_start")
		switch {
		case code == envcheck.HealthRedis:
			ready = "no"
		case code == envcheck.HealthOK && l.contract.Health.Redis:
			ready = "yes"
		}
		fields = append(fields, envcheck.Is("redis", ready))
	}
	if l.waitsFor("postgres") {
		fields = append(fields, envcheck.Is("postgres", "at_start"))
	}
	return fields
}

func (l *line) waitsFor(kind envcheck.Word) bool {
	return slices.ContainsFunc(l.targets, func(t envcheck.Target) bool { return t.Kind == kind })
}

// findState returns the state of the process that lives, among all that gates
// of this container may have left. A worker that runs counts before a second
// gate that waits, and what root or this user has left before what others have.
func findState(setting string) (found state, fault *envcheck.Diagnostic) {
	fault = &envcheck.Diagnostic{Code: envcheck.HealthNeverGated}
	best := 0
	for _, path := range statePaths(setting) {
		s, reason := readState(path)
		dead := best == 0 && fault.Code == envcheck.HealthNeverGated
		switch {
		case reason == envcheck.NotFound:
		case reason != "":
			if best == 0 {
				fault = &envcheck.Diagnostic{Code: envcheck.HealthUnreadable, Reason: reason}
			}
		case s.alive() && (ours(path) || ownedByProcess(path, s.PID)):
			rank := 1
			if ours(path) {
				rank += 2
			}
			if s.Phase == running {
				rank++
			}
			if rank > best {
				best, found, fault = rank, s, nil
			}
		case dead && s.Phase == running:
			found, fault = s, new(s.tell(envcheck.HealthWorkerGone))
		case dead:
			found, fault = s, new(s.tell(envcheck.HealthFailed))
		}
	}
	return found, fault
}

// unready is what a state says against health, nil for nothing.
func (s state) unready(liveness bool) *envcheck.Diagnostic {
	switch {
	case s.Phase == failed:
		return new(s.tell(envcheck.HealthFailed))
	case s.Phase != running && !liveness:
		return new(s.tell(envcheck.HealthGating))
	}
	return nil
}

// tell is a line about a state.
func (s state) tell(c envcheck.Code) envcheck.Diagnostic {
	d := envcheck.Diagnostic{Code: c, Fields: []envcheck.Field{
		envcheck.Is("phase", envcheck.Word(s.Phase)), envcheck.Dur("elapsed", max(0, time.Since(s.Since))),
	}}
	if s.Code != "" {
		d.Fields = append(d.Fields, envcheck.Says("cause", s.Code))
	}
	return d
}

// workerFault asks what the contract's health wants of a worker that runs, and
// returns nil when it has all of it.
func (l *line) workerFault(ctx context.Context, now state) *envcheck.Diagnostic {
	if now.Skipped || l.settings.Mode != Enforce {
		return nil
	}
	faults, code := l.loadContract()
	h := l.contract.Health
	if code == ExitOK && !h.Redis && len(h.Heartbeats) == 0 && h.HeartbeatFile == "" && h.HTTP == nil && h.Revision == "" {
		if l.settings.JSON {
			l.check(nil) // for the record alone
		}
		return nil
	}
	if code == ExitOK {
		code = l.check(nil)
	} else {
		l.fault(code, faults...)
	}
	if code != ExitOK {
		return &envcheck.Diagnostic{Code: envcheck.HealthFailed, Text: "the environment does not meet the contract",
			Fields: []envcheck.Field{envcheck.Says("cause", l.report.failed)}}
	}
	for _, t := range l.targets {
		if t.Kind != "redis" {
			continue
		}
		if cause := l.redisFault(ctx, t, h, now); cause != "" {
			code := envcheck.HealthRedis
			if cause == envcheck.HealthHeartbeatMissing || cause == envcheck.HealthHeartbeatStale {
				code, cause = cause, ""
			}
			d := &envcheck.Diagnostic{Code: code, Wait: t.Name, Keys: []envcheck.Key{t.Key}}
			if cause != "" {
				d.Fields = []envcheck.Field{envcheck.Says("cause", cause)}
			}
			return d
		}
	}
	if d := l.fileFault(h, now); d != nil {
		return d
	}
	return l.httpFault(ctx, h)
}

// redisFault asks one Redis.
func (l *line) redisFault(ctx context.Context, t envcheck.Target, h envcheck.Health, now state) envcheck.Code {
	// No write test: it needs rights, and each refusal counts in ACL LOG.
	t.Require = envcheck.RequirePing
	options := l.redisOptions(t)
	if h.Redis {
		p := probe.NewRedis(t.URL, options)
		o := p.Probe(ctx)
		p.Close()
		if o.Verdict != probe.Ready {
			return o.Code
		}
	}
	for _, family := range h.Heartbeats {
		// A wait that says whose it is need not have the heartbeats of others.
		if family != t.Client && slices.ContainsFunc(l.targets, func(o envcheck.Target) bool { return o.Client == family }) {
			continue
		}
		host, err := os.Hostname()
		if err != nil {
			return envcheck.HealthHeartbeatMissing
		}
		code := probe.Beat(ctx, t.URL, options, probe.Heartbeat{Family: family, Host: host, Here: runsHere, MaxAge: maxAge(h), Runs: time.Since(now.Since)})
		if code != "" {
			return code
		}
	}
	return ""
}

// runsHere reports whether a process of that number lives in this PID
// namespace: one that has ended keeps its number until somebody reaps it.
func runsHere(pid int) bool {
	_, err := startTime(pid)
	return err == nil
}

// fileFault judges the age of the file that the worker touches. What is older
// than the worker, another one before it has touched.
func (l *line) fileFault(h envcheck.Health, now state) *envcheck.Diagnostic {
	path := l.judged.HeartbeatFile.Reveal()
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return &envcheck.Diagnostic{Code: envcheck.HealthHeartbeatMissing, Keys: []envcheck.Key{h.HeartbeatFile}}
	case time.Since(info.ModTime()) > min(maxAge(h), time.Since(now.Since)+time.Second):
		return &envcheck.Diagnostic{Code: envcheck.HealthHeartbeatStale, Keys: []envcheck.Key{h.HeartbeatFile}}
	}
	return nil
}

// httpFault asks the worker itself, on this machine alone. Of a worker that
// listens for IPv6 only, 127.0.0.1 knows nothing.
func (l *line) httpFault(ctx context.Context, h envcheck.Health) *envcheck.Diagnostic {
	port := l.judged.HealthPort.Reveal()
	if port == "" {
		return nil
	}
	d := &envcheck.Diagnostic{Code: envcheck.HealthHTTP}
	if h.HTTP.Port != "" {
		d.Keys = []envcheck.Key{h.HTTP.Port}
	}
	var cause envcheck.Code
	for _, host := range [...]string{"127.0.0.1", "::1"} {
		address := envcheck.Seal(envcheck.URLParts{Scheme: "http", Host: host, Port: port})
		p := probe.NewHTTP(address, probe.HTTPOptions{DialTimeout: healthTime, ReplyTimeout: healthTime, Path: h.HTTP.Path})
		o := p.Probe(ctx)
		if o.Verdict == probe.Ready {
			return nil
		}
		if cause == "" || o.Connected {
			cause = o.Code
		}
		if cause != envcheck.HTTPRefused {
			break
		}
	}
	d.Fields = []envcheck.Field{envcheck.Says("cause", cause)}
	return d
}

// maxAge is 0 where the contract leaves it to the family.
func maxAge(h envcheck.Health) time.Duration {
	if h.MaxAge == nil {
		return 0
	}
	seconds, _ := h.MaxAge.Float64()
	return time.Duration(seconds * float64(time.Second))
}
