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
	changed   time.Time // the end of the attempt before
	causes    []envcheck.Cause
	connected bool
	explained bool // the closed facts were said
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
		c := w.cause(o.Code)
		c.Attempts++
		c.Time += now.Sub(w.changed)
	}
	w.changed = now
	return changed
}

// cause returns the count of a code.
func (w *waiting) cause(code envcheck.Code) *envcheck.Cause {
	for i := range w.causes {
		if w.causes[i].Code == code {
			return &w.causes[i]
		}
	}
	w.causes = append(w.causes, envcheck.Cause{Code: code})
	return &w.causes[len(w.causes)-1]
}

// state is the line about a wait that goes on.
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
		w.explained = true
		d.Keys = []envcheck.Key{w.target.Key}
		d.Fields = append(d.Fields, facts(w.last.Facts)...)
	}
	return d
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

// failure is the line about a wait that ended without Redis being ready.
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
	return []envcheck.Field{
		envcheck.Is("address", f.Address), envcheck.Is("tls", f.TLS),
		envcheck.Is("password", f.Password), envcheck.Is("port", f.Port),
	}
}
