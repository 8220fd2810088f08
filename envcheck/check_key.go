package envcheck

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// judgeKeys says what is wrong with each key, in the contract's order.
func (j *judge) judgeKeys() {
	needed := map[Key]bool{}
	for _, w := range j.contract.Waits {
		if w.When == nil || w.When.eval(j) == isTrue {
			needed[w.address()] = true
		}
	}
	taken := map[*reading]bool{}
	for _, r := range j.readings {
		if r.taken() {
			taken[r.via] = true
			if needed[r.spec.Key] || r.spec.Required.eval(j) == isTrue {
				needed[r.via.spec.Key] = true
			}
		}
	}
	for _, k := range j.contract.Keys {
		r := j.readings[k.Key]
		j.judgeKey(r, needed[k.Key], k.fallbackOnly && !taken[r])
	}
}

// judgeKey says what is wrong with one key. spare is a key that is only a
// fallback and is not taken: its faults keep no worker from starting.
func (j *judge) judgeKey(r *reading, needed, spare bool) {
	k := r.spec
	if slices.Contains(j.unknown, string(k.Key)) {
		return
	}
	required := needed || k.Required.eval(j) == isTrue
	own := r.via == nil && r.status != unset
	if own && k.Forbidden.eval(j) == isTrue {
		j.say(Diagnostic{Code: EnvForbiddenKey, Level: k.ForbiddenLevel, Keys: []Key{r.from}})
		if k.ForbiddenLevel == Error {
			return
		}
	}
	if r.repeated && k.Policy.Duplicates != NotAtAll {
		j.say(Diagnostic{Code: EnvDuplicateKey, Level: k.Policy.Duplicates.level(), Keys: []Key{k.Key}})
		if k.Policy.Duplicates == AsError {
			return
		}
	}
	if r.status == unset {
		if required {
			j.missing(r)
		}
		return
	}
	if r.taken() {
		if r.status == present || r.fault != nil {
			j.say(Diagnostic{Code: EnvFallbackUsed, Keys: []Key{k.Key, r.via.spec.Key}})
		}
		for _, d := range r.fault {
			j.say(d)
		}
		return
	}
	if j.standsIn(r, required, spare) {
		return
	}
	for _, d := range slices.Concat(r.found, r.fault) {
		if spare {
			d.Level = Warn
		}
		j.say(d)
	}
	if r.status != present {
		return
	}
	j.sayDoubt(r)
	if k.Use != "" {
		j.say(Diagnostic{Code: EnvDeprecatedKey, Level: k.DeprecatedLevel, Keys: []Key{r.from, k.Use}})
	}
	if k.Secret {
		j.inArgs(r)
	}
}

// level is what a handling says of a diagnostic's level.
func (h Handling) level() Level {
	if h == AsWarn {
		return Warn
	}
	return Error
}

// missing says that a key that must be set is not.
func (j *judge) missing(r *reading) {
	k := r.spec
	if r.via != nil {
		j.say(Diagnostic{Code: EnvFallbackForbidden, Keys: []Key{k.Key, r.via.spec.Key}})
		return
	}
	j.say(Diagnostic{
		Code: k.Topic + "_missing", Keys: []Key{k.Key}, Near: j.nearName(k.Key), Purpose: k.Purpose,
		Text: "the key is required and not set", Fix: "set it",
	})
}

// standsIn says of a value that it only stands for one, and reports whether
// that is all there is to say of the key.
func (j *judge) standsIn(r *reading, required, spare bool) bool {
	if r.stands == notPlaceholder || r.stands == maybe && !required || len(r.found) > 0 {
		return false
	}
	level := Warn
	if (required || r.spec.Secret || r.fault != nil) && r.spec.Policy.Placeholders == AsError && !spare {
		level = Error
	}
	if level == Warn && r.fault != nil && !spare {
		return false // its type's fault says more than a warning
	}
	if level == Error {
		r.status = faulty
	}
	j.say(Diagnostic{Code: EnvPlaceholderValue, Level: level, Keys: []Key{r.from}})
	return true
}

// nearName is an undeclared name of the environment that is close to k, "" for
// none. Only such names are ever said: names carry secrets too.
func (j *judge) nearName(k Key) Key {
	for _, name := range j.env.names {
		if near(name, string(k)) && ValidKey(name) && !j.declares(name) {
			return Key(name)
		}
	}
	return ""
}

// declares reports whether name is a key of the contract or its KEY_FILE.
func (j *judge) declares(name string) bool {
	if j.readings[Key(name)] != nil {
		return true
	}
	stem, ok := strings.CutSuffix(name, fileSuffix)
	if !ok {
		return false
	}
	r := j.readings[Key(stem)]
	return r != nil && r.spec.File
}

// inArgs warns of a secret that stands in the worker's command line. Short
// ones would be found in anything.
func (j *judge) inArgs(r *reading) {
	for i, arg := range j.args {
		if len(r.text) >= 6 && strings.Contains(arg, r.text) {
			j.say(Diagnostic{Code: SecretInArgv, Keys: []Key{r.spec.Key}, Fields: []Field{Int("arg", i)}})
			return
		}
	}
}

// judgeRules says which rules are broken.
func (j *judge) judgeRules() {
	for _, r := range j.contract.Rules {
		if r.When != nil && r.When.eval(j) != isTrue {
			continue
		}
		broken := Diagnostic{Code: r.Code, Level: r.Level, Text: r.kind.text, Fix: r.kind.fix}
		if r.Kind == Assert {
			if r.Assert.eval(j) == isFalse {
				broken.Keys = r.Assert.blame(j)
				j.sayRule(r, broken)
			}
			continue
		}
		r.kind.check(j, r, func(reason Reason, keys ...Key) {
			broken.Keys, broken.Reason = keys, reason
			j.sayRule(r, broken)
		})
	}
}

// sayRule says what a rule found, with the rule's own advice if it has one.
func (j *judge) sayRule(r *Rule, d Diagnostic) {
	d.Fix = cmp.Or(reasonFix(d.Reason), d.Fix)
	if j.contract.Policy.NoReasons {
		d.Reason, d.Fix = "", r.kind.fix
	}
	if r.Fix != "" {
		d.Fix = r.Fix
	}
	j.say(d)
}

// judgeNames looks for names that the contract claims and does not declare.
func (j *judge) judgeNames() {
	c := j.contract
	level := c.Policy.over(Policy{}).Unknown
	if level == NotAtAll || len(c.Owns) == 0 {
		return
	}
	keys := make([]Key, len(c.Keys))
	for i, k := range c.Keys {
		keys[i] = k.Key
	}
	others := 0
	for _, name := range j.env.names {
		if strings.HasPrefix(name, reservedPrefix) || j.declares(name) ||
			!slices.ContainsFunc(c.Owns, func(glob string) bool { return matches(name, glob) }) {
			continue
		}
		if known, ok := Near(name, keys); ok && ValidKey(name) {
			j.say(Diagnostic{Code: EnvUnknownKey, Level: level.level(), Keys: []Key{Key(name)}, Near: known})
		} else {
			others++
		}
	}
	if others > 0 {
		j.say(Diagnostic{Code: EnvUnknownKeys, Level: level.level(), Fields: []Field{Int("count", others)}})
	}
}

// matches reports whether name is what glob describes. * stands for any text,
// also for one with a slash, at which path.Match would stop.
func matches(name, glob string) bool {
	ok, _ := path.Match(glob, strings.ReplaceAll(name, "/", "\x00"))
	return ok
}
