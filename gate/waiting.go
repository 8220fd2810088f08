package gate

import (
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe"
)

// waiting is one wait under way, as it is told on the outside.
type waiting struct {
	target    envcheck.Target
	prober    probe.Prober
	attempts  int
	last      probe.Outcome
	since     time.Time // when the state was last said or changed
	ended     time.Time // of the attempt before
	causes    []envcheck.Cause
	connected bool
	explained bool // the closed facts were said
	said      bool // ready was said
	unready   bool // and is not true any more
	warned    bool // never_connected was said
	done      bool
}

// add counts o, which came at now, and reports whether the state changed.
func (w *waiting) add(o probe.Outcome, now time.Time) (changed bool) {
	w.attempts++
	w.connected = w.connected || o.Connected
	changed = o.Code != w.last.Code
	w.last = o
	if o.Verdict != probe.Ready {
		w.causes = addCause(w.causes, envcheck.Cause{Code: o.Code, Attempts: 1, Time: now.Sub(w.ended)})
	}
	w.ended = now
	return changed
}

// addCause counts c, together with what there is of the same code.
func addCause(causes []envcheck.Cause, c envcheck.Cause) []envcheck.Cause {
	for i := range causes {
		if causes[i].Code == c.Code {
			causes[i].Attempts += c.Attempts
			causes[i].Time += c.Time
			return causes
		}
	}
	return append(causes, c)
}

// state is the line about a wait that goes on. The first that is a failure
// says the closed facts too.
func (w *waiting) state(elapsed, timeout time.Duration) envcheck.Diagnostic {
	d := envcheck.Diagnostic{
		Code: w.last.Code, Level: envcheck.Info, Wait: w.target.Name,
		Fields: []envcheck.Field{envcheck.Dur("elapsed", elapsed), envcheck.Dur("timeout", timeout)},
	}
	if w.last.Verdict == probe.Refuse {
		d.Level = envcheck.Warn
	}
	d.Fields = append(d.Fields, progress(w.last.Loading)...)
	if !w.explained && w.last.Code != envcheck.RedisLoading {
		d.Keys = []envcheck.Key{w.target.Key}
		d.Fields = append(d.Fields, facts(w.last.Facts)...)
	}
	return d
}

// progress is the line that a terminal shows over and over.
func (w *waiting) progress(elapsed time.Duration) envcheck.Diagnostic {
	return envcheck.Diagnostic{
		Code: w.last.Code, Level: envcheck.Info, Wait: w.target.Name,
		Fields: append([]envcheck.Field{envcheck.Dur("elapsed", elapsed)}, progress(w.last.Loading)...),
	}
}

// still is the line about a wait whose state does not change.
func (w *waiting) still(elapsed, timeout time.Duration) envcheck.Diagnostic {
	fields := []envcheck.Field{
		envcheck.Dur("elapsed", elapsed), envcheck.Dur("timeout", timeout),
		envcheck.Says("cause", w.last.Code), envcheck.Int("attempts", w.attempts),
	}
	return envcheck.Diagnostic{
		Code: envcheck.Waiting, Wait: w.target.Name, Fields: append(fields, progress(w.last.Loading)...),
	}
}

// failure is the line about a wait that ended without readiness.
func (w *waiting) failure(elapsed time.Duration) envcheck.Diagnostic {
	d := envcheck.Diagnostic{
		Code: w.last.Code, Level: envcheck.Error, Wait: w.target.Name, Keys: []envcheck.Key{w.target.Key},
	}
	if w.attempts == 1 {
		d.Fields = []envcheck.Field{envcheck.Int("attempt", 1)}
	} else {
		d.Fields = []envcheck.Field{
			envcheck.Dur("elapsed", elapsed), envcheck.Int("attempts", w.attempts),
			envcheck.Causes("causes", w.causes),
		}
	}
	d.Fields = append(d.Fields, progress(w.last.Loading)...)
	if !w.explained {
		d.Fields = append(d.Fields, facts(w.last.Facts)...)
	}
	return d
}

// ready is the line about a wait that is over.
func (w *waiting) ready(elapsed time.Duration) envcheck.Diagnostic {
	return envcheck.Diagnostic{Code: envcheck.Ready, Wait: w.target.Name, Fields: []envcheck.Field{
		envcheck.Dur("elapsed", elapsed), envcheck.Int("attempts", w.attempts),
	}}
}

func progress(p probe.Progress) []envcheck.Field {
	if !p.Known {
		return nil
	}
	fields := []envcheck.Field{envcheck.Percent("loaded", p.Percent)}
	if p.ETA > 0 {
		fields = append(fields, envcheck.Dur("eta", p.ETA))
	}
	return fields
}

func facts(f probe.Facts) []envcheck.Field {
	fields := []envcheck.Field{envcheck.Is("address", f.Address), envcheck.Is("tls", f.TLS)}
	if f.Roots != "" {
		fields = append(fields, envcheck.Is("roots", f.Roots))
	}
	return append(fields, envcheck.Is("password", f.Password), envcheck.Is("port", f.Port))
}
