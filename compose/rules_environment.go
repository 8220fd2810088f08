package compose

import (
	"slices"
	"strings"

	"github.com/startgate/startgate/envcheck"
)

// Rules that tell what the contract says of an environment, see
// [service.ruleOf].
const (
	notGiven      = "SG201"
	maybeBlank    = "SG202"
	forbidDefault = "SG203"
	emptyPasses   = "SG204"
	badValue      = "SG205"
	quotedInList  = "SG208"
	hidesEnvFile  = "SG210"
	misspelled    = "SG211"
	twoSources    = "SG213"
	brokenRule    = "SG216"
	unusedKey     = "SG217"
	notAligned    = "SG301"
	noRedisURL    = "SG302"
	contradiction = "SG608"
)

// sentence is what the diagnostic says and advises. Both are the program's own
// words or the contract's.
func sentence(d envcheck.Diagnostic) (text, advice string) {
	remark := d
	remark.Level = envcheck.Info // has no advice
	text = remark.Message()
	advice = strings.TrimPrefix(strings.TrimPrefix(d.Message(), text), "; ")
	return text, advice
}

// sayFault adds a finding about what the contract says.
func (c *check) sayFault(v *service, f fault, message phrase, names ...name) *Finding {
	var found *Finding
	if f.variable != nil {
		found = c.sayOf(v, f.variable, message, names...)
	} else {
		n := v.at("environment")
		p := n.path
		if len(f.Keys) == 1 {
			p = p.with(string(f.Keys[0]))
		}
		found = c.stack.add(c.rule, n.position(), p, message, names...)
	}
	found.Code = string(f.Code)
	found.as(map[envcheck.Level]Severity{envcheck.Error: Error, envcheck.Warn: Warn, envcheck.Info: Info}[f.Severity()])
	if f.unset != nil && f.variable.known {
		found.as(Warn) // only another environment brings it about
	}
	return found
}

// tell adds a finding in the diagnostic's own words.
func (c *check) tell(v *service, f fault) *Finding {
	found := c.sayFault(v, f, "")
	found.Message, found.Fix = sentence(f.Diagnostic)
	return found
}

// faultsOf calls say for what the contract says that the rule is for.
func (c *check) faultsOf(v *service, say func(fault)) {
	for _, f := range v.faults {
		if f.rule == c.rule.ID {
			say(f)
		}
	}
}

// keyNames are the names of a diagnostic's keys.
func keyNames(d envcheck.Diagnostic) []name {
	names := make([]name, len(d.Keys))
	for i, k := range d.Keys {
		names[i] = keyName(string(k))
	}
	return names
}

func requiredKey(c *check, v *service) {
	c.faultsOf(v, func(f fault) {
		service, keys := nameOf(v.name), keyNames(f.Diagnostic)
		switch {
		case f.Code == envcheck.EnvFallbackForbidden:
			c.sayFault(v, f, "%s does not get %s, and the contract permits no fallback to %s here", append([]name{service}, keys...)...)
		case f.variable != nil:
			c.sayFault(v, f, "%s is empty, and the contract requires it", keys...).fixed("give it a value, as ${%s:?what to set}", keys[0])
		case f.Near != "":
			c.sayFault(v, f, "%s does not get %s, which the contract requires: %s may be a misspelling of it", service, keys[0], keyName(string(f.Near)))
		default:
			c.sayFault(v, f, "%s does not get %s, which the contract requires", service, keys[0]).fixed("set it under environment, as ${%s:?what to set}", keys[0])
		}
	})
}

func blankKey(c *check, v *service) {
	c.faultsOf(v, func(f fault) {
		key := keyName(f.variable.name)
		advice := phrase("write ${%s:?what to set}")
		switch {
		case f.variable.passed:
			c.sayFault(v, f, "%s is not set when it is unset where compose runs, which nothing says", key).fixed("write %s: ${%s:?what to set}", key, key)
		case f.unset == nil:
			used := variableNames(f.variable.variables)
			c.sayFault(v, f, "%s is empty here, and compose lets %s be", key, list(used)).fixed(advice, used[0])
		case isMissing(f.Code):
			c.sayFault(v, f, "%s is empty when %s is unset: compose only warns of that", key, list(f.unset)).fixed(advice, f.unset[0])
		default:
			c.sayFault(v, f, "%s cannot be used when %s is unset: compose only warns of that", key, list(f.unset)).fixed(advice, f.unset[0])
		}
	})
}

func isMissing(code envcheck.Code) bool { return strings.HasSuffix(string(code), "_missing") }

// variableNames are the names of variables, each once.
func variableNames(variables []variable) []name {
	var names []name
	for _, v := range variables {
		if n := keyName(v.name); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

func emptyKey(c *check, v *service) {
	c.faultsOf(v, func(f fault) {
		c.sayFault(v, f, "%s may be empty: ? refuses %s only when it is unset", keyName(f.variable.name), list(f.unset)).
			fixed("write ${%s:?what to set}", f.unset[0])
	})
}

func value(c *check, v *service) {
	c.faultsOf(v, func(f fault) { c.tell(v, f) })
}

func hiddenValue(c *check, v *service) {
	told := map[*envVar]bool{}
	c.faultsOf(v, func(f fault) {
		told[f.variable] = true
		c.sayFault(v, f, hiding(f.variable), keyName(f.variable.name))
	})
	for _, key := range v.variableNames() {
		e := v.variables[key]
		if !told[e] && e.hides.set() && v.declared(key) != nil && !e.set() && (e.passed || bareOnly(e)) {
			c.sayOf(v, e, hiding(e), keyName(key)).as(Warn)
		}
	}
}

// hiding says that a variable is taken instead of an env_file's.
func hiding(e *envVar) phrase {
	if len(e.variables) == 0 && !e.passed {
		return "%s is empty here, which hides the value that an env_file has for it"
	}
	return "%s hides the value that an env_file has for it when it is unset where compose runs"
}

// bareOnly reports whether a value is nothing but ${X}.
func bareOnly(e *envVar) bool {
	return len(e.variables) == 1 && e.variables[0].form == bare && (e.symbolic == "${"+e.variables[0].name+"}" || e.symbolic == "$"+e.variables[0].name)
}

func misspelledKey(c *check, v *service) {
	c.faultsOf(v, func(f fault) {
		switch {
		case len(f.Keys) > 0 && f.Code == envcheck.EnvUnknownKey:
			c.sayFault(v, f, "the contract declares no %s: it is close to %s", keyName(string(f.Keys[0])), keyName(string(f.Near)))
		case f.Near != "":
			c.sayFault(v, f, "the contract does not apply, since %s is unset: %s may be a misspelling of it", list(keyNames(f.Diagnostic)), keyName(string(f.Near)))
		default:
			c.sayFault(v, f, "%s has names that the contract claims and does not declare", nameOf(v.name)).fixed("declare them in the contract, or take them out")
		}
	})
}

func contractRule(c *check, v *service) {
	c.faultsOf(v, func(f fault) {
		found := c.tell(v, f)
		if len(f.Keys) > 1 {
			found.Message = string(list(keyNames(f.Diagnostic))) + ": " + found.Message
		}
	})
}

// defaultElsewhere looks for a Redis URL that the contract requires and whose
// default leads to no Redis that is there.
func defaultElsewhere(c *check, v *service) {
	for _, name := range v.variableNames() {
		if e := v.variables[name]; v.defaultsElsewhere(e) {
			c.sayOf(v, e, "the contract requires %s, and its default leads to no service of the stack: that it was forgotten shows late", keyName(name)).
				fixed("write ${%s:?what to set}", variableNames(e.variables)[0])
		}
	}
}

// defaultsElsewhere reports whether a required variable has a default that
// cannot be right in this stack.
func (v *service) defaultsElsewhere(e *envVar) bool {
	defaulted := func(u variable) bool { return u.form == orDefault || u.form == orDefaultAny }
	if v.declared(e.name) == nil || !slices.ContainsFunc(e.variables, defaulted) || !v.requires(e.name) {
		return false
	}
	t, ok := v.redisURL(&envVar{name: e.name, text: environment{}.interpolate(e.symbolic)})
	return ok && t.reason == "" && slices.ContainsFunc(t.hosts(), v.cannotReach)
}

// requires reports whether the contract misses the variable when it is unset.
func (v *service) requires(name string) bool {
	for _, d := range v.contract.CheckProcess(v.changed(v.process(), name, nil)).Diagnostics {
		if len(d.Keys) > 0 && string(d.Keys[0]) == name && isMissing(d.Code) {
			return true
		}
	}
	return false
}

// unusedKeys looks for keys of what the worker does not use, as far as that is
// certain.
func unusedKeys(c *check, v *service) {
	skipped := func(f fault) {
		c.sayFault(v, f, "the contract does not apply to %s as it is: no more than the form of its values was judged", nameOf(v.name))
	}
	c.faultsOf(v, skipped) // for want of a key, of which the gate warns too
	if v.result.Skipped {
		for _, d := range v.result.Diagnostics {
			if d.Code == v.contract.SkipCode && d.Severity() == envcheck.Info {
				skipped(fault{Diagnostic: d, variable: v.firstOf(d)})
			}
		}
		return
	}
	for _, f := range v.result.Facts {
		if f.State == envcheck.Invalid {
			return // a condition may depend on it
		}
	}
	var unused []name
	for _, k := range v.contract.Keys {
		e := v.variables[string(k.Key)]
		if e.set() && e.source == fromEnvironment && v.unused(k) {
			unused = append(unused, keyName(e.name))
		}
	}
	if len(unused) > 0 {
		c.say(v.at("environment"), "%s has keys for what the contract says it does not do: %s", nameOf(v.name), list(unused))
	}
}

// unused reports whether nothing of the contract asks for the key here: a
// condition on which it would be required does not hold, or the wait that it
// is for is not done.
func (v *service) unused(k *envcheck.KeySpec) bool {
	key := string(k.Key)
	for _, cond := range v.contract.Conditions {
		if mentions(cond.Expr.String(), key) {
			return false
		}
	}
	for _, r := range v.contract.Rules {
		if slices.Contains(r.Keys, k.Key) || mentions(r.Assert.String()+" "+r.When.String(), key) {
			return false
		}
	}
	conditional := k.Required != nil && k.Required.String() != "true" && k.Required.String() != "false"
	for _, w := range v.contract.Waits {
		if w.Address != k.Key && w.Redis.URL != k.Key && w.Redis.Host != k.Key {
			continue
		}
		if !slices.Contains(v.result.NotDone, w.Name) {
			return false
		}
		conditional = true
	}
	return conditional && !v.requires(key)
}

// mentions reports whether a key stands in an expression.
func mentions(expr, key string) bool {
	other := func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') && (r < '0' || r > '9') }
	return slices.Contains(strings.FieldsFunc(expr, other), key)
}
