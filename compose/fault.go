package compose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/startgate/startgate/envcheck"
)

// fault is something that the contract says of a worker's environment.
type fault struct {
	envcheck.Diagnostic
	variable *envVar // of its first key that the service has, or nil
	// unset are the variables without which the contract says it, as with
	// them it does not. nil is that it says it in any case.
	unset []name
	form  form // how the first of them is written
	rule  string
}

// findFaults collects what the contract finds as the files stand, and what it
// would find where a variable has no value that compose lets pass without one.
func (v *service) findFaults(p envcheck.Process) {
	for _, d := range v.result.Diagnostics {
		if d.Severity() != envcheck.Info && v.firstOf(d).judged(d) {
			v.addFault(fault{Diagnostic: d})
		}
	}
	if v.result.Skipped {
		return
	}
	said := v.result.Codes()
	for _, k := range v.contract.Keys {
		if e := v.variables[string(k.Key)]; e != nil && e.source == fromEnvironment {
			v.findBlank(p, e, said)
		}
	}
}

// findBlank adds what the contract says of a variable once those that it is
// made of are unset. That others are is not its matter.
func (v *service) findBlank(p envcheck.Process, e *envVar, said []string) {
	f := fault{}
	if e.passed {
		f.unset = []name{keyName(e.name)}
	}
	blank := environment{}
	for _, used := range e.variables {
		if used.name == "COMPOSE_PROJECT_NAME" {
			continue // compose sets it itself
		}
		empty := used.rest == "" && (used.form == orDefault || used.form == orDefaultAny)
		if used.form != bare && used.form != mustBeSet && !empty {
			if value, set := v.stack.environment[used.name]; set {
				blank[used.name] = value
			}
			continue
		}
		if f.unset == nil {
			f.form = used.form
		}
		if n := keyName(used.name); !slices.Contains(f.unset, n) {
			f.unset = append(f.unset, n)
		}
		blank[used.name] = ""
	}
	if f.unset == nil {
		return
	}
	var instead *envVar
	if !e.passed {
		instead = &envVar{text: blank.interpolate(e.symbolic), name: e.name}
	}
	for _, d := range v.contract.CheckProcess(v.changed(p, e.name, instead)).Diagnostics {
		if d.Severity() != envcheck.Error || len(d.Keys) == 0 || string(d.Keys[0]) != e.name || !instead.judged(d) {
			continue
		}
		one := envcheck.Result{Diagnostics: []envcheck.Diagnostic{d}}
		if !slices.Contains(said, one.Codes()[0]) {
			f.Diagnostic = d
			v.addFault(f)
			return
		}
	}
}

// judged reports whether what the contract says is certain: not where it cannot
// read a URL of which a part is not known.
func (e *envVar) judged(d envcheck.Diagnostic) bool {
	return e == nil || e.known || !strings.HasSuffix(string(d.Code), "_parse_failed") && d.Code != envcheck.RedisURLDoubtful
}

func (v *service) addFault(f fault) {
	f.variable = v.firstOf(f.Diagnostic)
	f.rule = v.ruleOf(f)
	v.faults = append(v.faults, f)
}

// firstOf is the variable of the first of a diagnostic's keys that the service
// has, or nil.
func (v *service) firstOf(d envcheck.Diagnostic) *envVar {
	for _, k := range d.Keys {
		if e := v.variables[string(k)]; e != nil {
			return e
		}
	}
	return nil
}

// ruleOf is the one rule that tells the fault.
func (v *service) ruleOf(f fault) string {
	for _, r := range v.contract.Rules {
		switch {
		case r.Code != f.Code:
		case r.Kind == envcheck.Aligned:
			return notAligned
		case r.Kind == envcheck.Less:
			return contradiction
		default:
			return brokenRule
		}
	}
	var k *envcheck.KeySpec
	if len(f.Keys) > 0 {
		stem := strings.TrimSuffix(string(f.Keys[0]), "_FILE")
		k = cmp.Or(v.declared(string(f.Keys[0])), v.declared(stem))
	}
	switch f.Code {
	case v.contract.SkipCode, envcheck.WorkerDisabled:
		if f.Near == "" {
			return unusedKey
		}
		return misspelled
	case envcheck.EnvUnknownKey, envcheck.EnvUnknownKeys:
		return misspelled
	case envcheck.EnvFallbackForbidden:
		return notGiven
	case envcheck.EnvForbiddenKey, envcheck.EnvDeprecatedKey:
		return brokenRule
	case envcheck.SecretSourceConflict:
		return twoSources
	case envcheck.RedisURLDoubtful, envcheck.BrokerNotRedis:
		return noRedisURL
	case envcheck.EnvQuotedValue:
		if f.variable != nil && f.variable.quoted() {
			return quotedInList
		}
	}
	switch {
	case k != nil && f.Code == k.Topic+"_missing":
		return v.ruleOfMissing(f)
	case f.unset != nil:
		return v.ruleOfBlank(f)
	case k != nil && k.Type == envcheck.TypeRedis && f.Code == k.Topic+"_parse_failed":
		return noRedisURL
	}
	return badValue
}

// ruleOfMissing is the rule for a key that the contract misses.
func (v *service) ruleOfMissing(f fault) string {
	e := f.variable
	switch {
	case e == nil || e.source != fromEnvironment:
		return notGiven
	case e.hides.set():
		return hidesEnvFile
	case f.unset != nil:
		return v.ruleOfBlank(f)
	case len(e.variables) > 0 || e.passed:
		return maybeBlank
	}
	return notGiven
}

// ruleOfBlank is the rule for a variable of which compose would let a part be
// blank.
func (v *service) ruleOfBlank(f fault) string {
	if f.form == mustBeSet {
		return emptyPasses
	}
	return maybeBlank
}
