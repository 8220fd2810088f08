package gate

import (
	"time"

	"github.com/startgate/startgate/envcheck"
)

// startLine says what is about to be waited for, and how.
func (l *line) startLine() envcheck.Diagnostic {
	d := envcheck.Diagnostic{Code: envcheck.Start, Head: []envcheck.Field{
		envcheck.Is("contract", l.contract.Name), envcheck.Is("mode", envcheck.Word(l.settings.Mode)),
		envcheck.Dur("timeout", l.settings.Timeout), envcheck.Dur("delay", l.settings.Delay),
	}}
	d.Head = append(d.Head, l.setBy()...)
	for i, t := range l.targets {
		if i > 0 {
			d.Wait += ","
		}
		d.Wait += t.Name
		d.Keys = append(d.Keys, t.Key)
		if t.Client != "" && d.Fields == nil {
			d.Fields = []envcheck.Field{envcheck.Is("client", envcheck.Word(t.Client))}
		}
	}
	return d
}

// sayPlan says what Run would wait for.
func (l *line) sayPlan() {
	if l.settings.Mode == Off {
		return
	}
	l.result.say(envcheck.Diagnostic{Code: envcheck.ContractOK, Head: []envcheck.Field{
		envcheck.Is("contract", l.contract.Name),
	}})
	for _, name := range l.judged.NotDone {
		l.result.say(envcheck.Diagnostic{Code: envcheck.WaitNotDone, Wait: name})
	}
	for _, t := range l.targets {
		var fields []envcheck.Field
		if t.Kind == "redis" {
			fields = append(fields, envcheck.Is("client", envcheck.Word(t.Client)), envcheck.Is("require", envcheck.Word(t.Require)))
		}
		l.result.say(envcheck.Diagnostic{
			Code: envcheck.Plan, Wait: t.Name, Keys: []envcheck.Key{t.Key}, Fields: append(fields,
				envcheck.Dur("timeout", l.settings.Timeout), envcheck.Dur("delay", l.settings.Delay)),
		})
	}
}

// sayNotDone says which waits are not done, since their condition is not true.
func (l *line) sayNotDone() {
	for _, name := range l.judged.NotDone {
		l.report.say(envcheck.Diagnostic{Code: envcheck.WaitNotDone, Wait: name})
	}
}

// execLine is the last line of a gate that does its job. It carries what one
// needs to know to make timeout and delay shorter.
func (l *line) execLine() envcheck.Diagnostic {
	var elapsed time.Duration
	if !l.clock.began.IsZero() {
		elapsed = time.Since(l.clock.began)
	}
	attempts := 0
	var causes []envcheck.Cause
	for _, w := range l.waits {
		attempts += w.attempts
		for _, c := range w.causes {
			causes = addCause(causes, c)
		}
	}
	d := envcheck.Diagnostic{Code: envcheck.Exec, Fields: []envcheck.Field{
		envcheck.Dur("elapsed", elapsed), envcheck.Int("attempts", attempts),
		envcheck.Dur("waited", l.clock.waited), envcheck.Dur("delay", l.clock.paused), envcheck.Dur("left", l.clock.left),
	}}
	if len(causes) > 0 {
		d.Fields = append(d.Fields, envcheck.Causes("causes", causes))
	}
	return d
}

// only keeps the targets that are named, and all when none is.
func (l *line) only(names []string) int {
	if len(names) == 0 || l.settings.Mode == Off {
		return ExitOK
	}
	var kept []envcheck.Target
	for _, name := range names {
		found := false
		for _, t := range l.targets {
			if string(t.Name) == name {
				found, kept = true, append(kept, t)
			}
		}
		if !found {
			return l.report.fail(ExitUsage, envcheck.Diagnostic{Code: envcheck.Usage, Reason: envcheck.WaitUnknown})
		}
	}
	l.targets = kept
	return ExitOK
}
