package gate

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe"
)

const (
	// quiet is how long a state lasts before it is said again.
	quiet = 10 * time.Second
	// lonely is how long a wait goes on without one connection before the
	// address itself is doubted.
	lonely = 15 * time.Second
)

// clock is where a line's time went.
type clock struct {
	began  time.Time     // the first attempt
	left   time.Duration // of the budget
	waited time.Duration // spent from the budget
	paused time.Duration // spent in the delay
}

// wait brings every target to readiness within the budget, and through the
// delay. Readiness must hold at the delay's end; else waiting goes on in what
// is left of the budget.
func (l *line) wait(ctx context.Context) int {
	if l.settings.Mode == Off || l.judged.Skipped {
		return ExitOK
	}
	l.sayNotDone()
	l.report.say(l.startLine())
	l.open()
	defer l.close()
	if l.settings.StartJitter > 0 {
		l.setState(gating, "", "", 0)
	}
	if !pause(ctx, jitter(l.settings.StartJitter)) {
		return l.interrupted(ctx)
	}
	l.clock = clock{began: time.Now(), left: l.settings.Timeout}
	for round := 1; ; round++ {
		code, held := l.round(ctx)
		switch {
		case code != ExitOK:
			return code
		case round > 1 && held, l.settings.Delay == 0 && len(l.waits) == 1:
			return ExitOK
		}
		if l.settings.Delay > 0 {
			l.report.say(envcheck.Diagnostic{
				Code: envcheck.Delay, Fields: []envcheck.Field{envcheck.Dur("delay", l.settings.Delay)},
			})
			l.setState(delayed, "", "", 0)
			if l.settings.Delay > probe.IdleMax {
				l.close() // they would be idle for too long
			}
			if !pause(ctx, l.settings.Delay) {
				return l.interrupted(ctx)
			}
			l.clock.paused += l.settings.Delay
		}
	}
}

// probe makes one attempt at each target.
func (l *line) probe(ctx context.Context) int {
	l.open()
	defer l.close()
	l.settings.RefuseAfter = 0
	l.clock = clock{began: time.Now()}
	code, _ := l.round(ctx)
	return code
}

// outcome is an attempt's outcome on its way to the main goroutine.
type outcome struct {
	wait  *waiting
	o     probe.Outcome
	final bool
}

// round waits until every target is ready, and reports whether each was so at
// the first attempt.
func (l *line) round(ctx context.Context) (code int, held bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start := time.Now()
	outcomes := make(chan outcome)
	for _, w := range l.waits {
		w.done, w.ended = false, start
		w.last = probe.Outcome{}
		go l.ask(ctx, w, l.clock.left, outcomes)
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()

	held = true
	for pending := len(l.waits); pending > 0; {
		select {
		case <-ctx.Done():
			return l.interrupted(ctx), false
		case now := <-tick.C:
			// An attempt leaves some kilobytes, and by itself Go first collects
			// at 4 MB. A gate that need not wait never gets here.
			runtime.GC()
			if l.state != nil && !l.state.opened {
				l.setState(gating, "", "", 0) // the first attempt takes its time
			}
			l.remind(now)
		case got := <-outcomes:
			if ctx.Err() != nil {
				return l.interrupted(ctx), false // the outcome may be the signal's doing
			}
			now := time.Now()
			held = held && got.o.Verdict == probe.Ready
			l.tell(got.wait, got.o, now, got.final)
			if !got.final {
				continue
			}
			got.wait.done = true
			pending--
			if got.o.Verdict == probe.Refuse {
				pending = 0
			}
		}
	}
	spent := time.Since(start)
	l.clock.waited += spent
	l.clock.left = max(0, l.clock.left-spent)
	var failed []*waiting // in the contract's order
	for _, w := range l.waits {
		if w.done && w.last.Verdict != probe.Ready {
			failed = append(failed, w)
		}
	}
	if len(failed) > 0 {
		return l.failed(failed), false
	}
	return ExitOK, held
}

// ask runs one wait. It never blocks on a main goroutine that has moved on,
// which may change the clock meanwhile.
func (l *line) ask(ctx context.Context, w *waiting, budget time.Duration, outcomes chan<- outcome) {
	send := func(o outcome) {
		select {
		case outcomes <- o:
		case <-ctx.Done():
		}
	}
	limits := probe.Limits{
		Budget: budget, RefuseAfter: l.settings.RefuseAfter,
		IntervalMin: l.settings.IntervalMin, IntervalMax: l.settings.IntervalMax,
	}
	end := probe.Wait(ctx, w.prober, limits, func(o probe.Outcome) { send(outcome{w, o, false}) })
	send(outcome{w, end, true})
}

// tell counts an outcome and says what changed.
func (l *line) tell(w *waiting, o probe.Outcome, now time.Time, final bool) {
	elapsed := now.Sub(l.clock.began)
	changed := w.add(o, now)
	if o.Verdict == probe.Ready {
		if w.said && !w.unready {
			return // it was ready before the delay, and still is
		}
		w.said, w.unready = true, false
		l.result.say(w.ready(elapsed))
		for _, code := range o.Warnings {
			l.report.say(envcheck.Diagnostic{
				Code: code, Level: envcheck.Warn, Wait: w.target.Name, Keys: []envcheck.Key{w.target.Key},
			})
		}
		return
	}
	if final {
		return // the last line says it
	}
	w.unready = true
	if changed {
		l.setState(gating, o.Code, w.target.Name, w.attempts)
	}
	if l.report.progress(w.progress(elapsed)) || !changed {
		return
	}
	l.report.say(w.state(elapsed, l.settings.Timeout))
	w.since, w.explained = now, w.explained || o.Code != envcheck.RedisLoading
}

// remind says of each wait that it still goes on.
func (l *line) remind(now time.Time) {
	elapsed := now.Sub(l.clock.began)
	for _, w := range l.waits {
		if w.done || w.last.Code == "" {
			continue
		}
		if !w.connected && !w.warned && elapsed >= lonely {
			w.warned = true
			l.report.say(envcheck.Diagnostic{
				Code: envcheck.NeverConnected, Wait: w.target.Name, Keys: []envcheck.Key{w.target.Key},
				Fields: append([]envcheck.Field{envcheck.Dur("elapsed", elapsed)}, facts(w.last.Facts)...),
			})
		}
		if l.report.screen == nil && now.Sub(w.since) >= quiet {
			w.since = now
			l.report.say(w.still(elapsed, l.settings.Timeout))
		}
	}
}

// failed says why the waits that are not ready are not. A refusal comes last
// and decides: trying again does not help while there is one.
func (l *line) failed(waits []*waiting) int {
	elapsed := time.Since(l.clock.began)
	slices.SortStableFunc(waits, func(a, b *waiting) int { return int(a.last.Verdict) - int(b.last.Verdict) })
	code := ExitBudgetSpent
	var diagnostics []envcheck.Diagnostic
	for _, w := range waits {
		switch {
		case w.last.Code == envcheck.InternalError:
			code = ExitInternal
		case w.last.Verdict == probe.Refuse && code != ExitInternal:
			code = ExitRefused
		}
		diagnostics = append(diagnostics, w.failure(elapsed))
	}
	return l.fault(code, diagnostics...)
}

// interrupted ends the line on a signal.
func (l *line) interrupted(ctx context.Context) int {
	if stopped, ok := errors.AsType[Stopped](context.Cause(ctx)); ok {
		return l.stopped(stopped)
	}
	return ExitInternal
}

// open makes a prober for every target.
func (l *line) open() {
	for _, t := range l.targets {
		l.waits = append(l.waits, &waiting{target: t, prober: l.prober(t)})
	}
}

func (l *line) prober(t envcheck.Target) probe.Prober {
	s := l.settings
	switch t.Kind {
	case "postgres":
		return probe.NewPostgres(t.Address, probe.PostgresOptions{
			DialTimeout: s.DialTimeout, ReplyTimeout: s.ReplyTimeout,
			Roots: l.trusted(t), RootsGiven: t.CAFile.Reveal() != "", ServerName: t.ServerName,
		})
	case "http":
		return probe.NewHTTP(t.Address, probe.HTTPOptions{
			DialTimeout: s.DialTimeout, ReplyTimeout: s.ReplyTimeout,
			Verify: cmp.Or(t.TLS.Verify, s.TLSVerify), Roots: l.trusted(t), ServerName: t.ServerName,
			Path: t.Path, Status: t.Status, HeaderName: t.WaitSpec.Header.Name, Header: t.Header,
		})
	case "tcp":
		return probe.NewTCP(t.Address, s.DialTimeout)
	}
	return probe.NewRedis(t.URL, l.redisOptions(t))
}

func (l *line) redisOptions(t envcheck.Target) probe.RedisOptions {
	return probe.RedisOptions{
		DialTimeout: l.settings.DialTimeout, ReplyTimeout: l.settings.ReplyTimeout,
		Verify: cmp.Or(t.TLS.Verify, l.settings.TLSVerify), Roots: l.trusted(t), ServerName: t.ServerName,
		Certificate: l.tls[t.Name].own,
		Client:      t.Client, Require: t.Require, Checks: t.Checks, Prefer: t.Prefer, OOM: t.OOM,
		Topology: t.Topology, KeyPrefix: t.KeyPrefix,
	}
}

// close drops the connections of the waits that have ended. One that a signal,
// or another wait's refusal, left under way belongs to its goroutine, and ends
// with the process or with the exec.
func (l *line) close() {
	for _, w := range l.waits {
		if w.done {
			w.prober.Close()
		}
	}
}

// pause waits for d and reports whether ctx still holds.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// jitter is a random part of d.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return rand.N(d)
}
