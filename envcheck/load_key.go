package envcheck

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
)

// finishKey works out what a key's fields mean together, and says which do not
// go together.
func (l *loader) finishKey(k *KeySpec) {
	bad := func(field string, r Reason) { l.faultIn(k, field, ContractBadValue, r) }
	if k.Type == "" {
		k.Type = TypeString
		if l.has(k, "enum") {
			k.Type = TypeEnum
		}
	}
	k.rule = k.Type.rule()
	k.Secret = k.rule.is(secret)
	if k.said.secret != nil {
		k.Secret = *k.said.secret
	}
	k.File = k.Secret
	if k.said.file != nil {
		k.File = *k.said.file
	}
	k.Policy = k.Policy.over(l.contract.Policy)
	if !l.has(k, "spelling") {
		k.AnySpelling = l.contract.Policy.AnySpelling
	} else if k.Type != TypeBool {
		bad("spelling", NotForThisType)
	}
	k.ForbiddenLevel = cmp.Or(k.ForbiddenLevel, Error)
	k.DeprecatedLevel = cmp.Or(k.DeprecatedLevel, Warn)
	switch {
	case k.Type == TypeEnum && !l.has(k, "enum"):
		bad("", EnumMissing)
	case k.Type != TypeEnum && l.has(k, "enum"):
		bad("enum", NotForThisType)
	}
	if repeats(k.Enum) {
		bad("enum", Repeated)
	}
	for _, field := range [...]string{"min_len", "pattern"} {
		if l.has(k, field) && !k.rule.is(worded) {
			bad(field, NotForThisType)
		}
	}
	k.Min, k.Max = l.bound(k, "min", k.said.min), l.bound(k, "max", k.said.max)
	if k.Min != nil && k.Max != nil && k.Min.Cmp(k.Max) > 0 {
		bad("min", MinAboveMax)
	}
	if k.Secret {
		l.secretFields(k, bad)
	}
	if k.Expose && !k.Secret && !k.rule.is(closed) {
		bad("expose", OpenTypeExposed)
	}
	if k.Export && !k.File {
		bad("export", ExportWithoutFile)
	}
	if k.Default != nil {
		v, reason := k.rule.read(*k.Default, k)
		if _, found := clean(*k.Default, k.rule, Policy{}.over(Policy{})); reason != "" || found != nil {
			bad("default", DefaultInvalid)
		}
		k.preset = v
	}
	if k.Use == k.Key {
		bad("deprecated", NamesItself)
	}
	if slices.Contains(k.Fallback, k.Key) {
		bad("fallback", NamesItself)
	}
	if repeats(k.Fallback) {
		bad("fallback", Repeated)
	}
	k.Topic = l.topic(k)
}

// repeats reports whether a word stands twice in a list.
func repeats[W ~string](words []W) bool {
	words = slices.Clone(words)
	slices.Sort(words)
	return len(slices.Compact(words)) < len(words)
}

func (l *loader) secretFields(k *KeySpec, bad func(string, Reason)) {
	if k.Default != nil {
		bad("default", SecretWithDefault)
		k.Default = nil
	}
	if l.has(k, "enum") {
		bad("enum", SecretWithEnum)
	}
	if k.Expose {
		bad("expose", SecretExposed)
	}
}

// bound reads min or max as a value of the key's type.
func (l *loader) bound(k *KeySpec, field, text string) *big.Rat {
	if !l.has(k, field) {
		return nil
	}
	if !k.rule.is(numeric) {
		l.faultIn(k, field, ContractBadValue, NotForThisType)
		return nil
	}
	v, reason := k.rule.read(text, &KeySpec{Type: k.Type, rule: k.rule})
	if reason != "" && text != "0" {
		if text != "" {
			l.faultIn(k, field, ContractBadValue, BoundInvalid)
		}
		return nil
	}
	return v.number
}

// topic is the stem of the codes about a key. Where it would make a code of the
// gate's own out of the key's name, it gets a prefix.
func (l *loader) topic(k *KeySpec) Code {
	if k.said.topic != "" {
		return Code(k.said.topic)
	}
	topic := Code(strings.Trim(strings.ToLower(string(k.Key)), "_"))
	if topic == "" || topic[0] < 'a' {
		topic = "env_" + topic
	}
	for _, code := range codesOf(topic, k) {
		if taken(code) {
			return "env_" + topic
		}
	}
	return topic
}

// codesOf are the codes that there can be about k, first the one for its lack.
func codesOf(topic Code, k *KeySpec) []Code {
	codes := []Code{topic + "_missing"}
	if k.canFail() {
		codes = append(codes, topic+k.rule.suffix)
	}
	return codes
}

// taken reports whether a code is one of the gate's own. redis_missing and
// redis_parse_failed are those of the built-in contract's topic.
func taken(c Code) bool {
	return c.known() && c != RedisMissing && c != RedisParseFailed
}

// over is p where it says something, else base.
func (p Policy) over(base Policy) Policy {
	base.Empty = cmp.Or(p.Empty, base.Empty, AsUnset)
	base.Whitespace = cmp.Or(p.Whitespace, base.Whitespace, AsError)
	base.Placeholders = cmp.Or(p.Placeholders, base.Placeholders, AsError)
	base.References = cmp.Or(p.References, base.References, AsError)
	base.Quotes = cmp.Or(p.Quotes, base.Quotes, AsError)
	base.Duplicates = cmp.Or(p.Duplicates, base.Duplicates, AsError)
	base.Unknown = cmp.Or(p.Unknown, base.Unknown, AsWarn)
	return base
}

// checkCodes says which codes a contract uses twice, or takes from the gate.
func (l *loader) checkCodes() {
	c := l.contract
	seen := map[Code]bool{}
	for _, k := range c.Keys {
		for _, code := range codesOf(k.Topic, k) {
			if taken(code) {
				l.faultIn(k, "topic", ContractDuplicateCode, "")
			}
			seen[code] = true
		}
	}
	own := func(code Code, of any, field string) {
		if seen[code] || taken(code) && code != WorkerDisabled {
			l.faultIn(of, field, ContractDuplicateCode, "")
		}
		seen[code] = true
	}
	if c.SkipWhen != nil {
		own(c.SkipCode, c, "skip_code")
	}
	for _, r := range c.Rules {
		if r.Code != "" {
			own(r.Code, r, "code")
		}
	}
}

// checkSkip looks at what belongs to skip_when.
func (l *loader) checkSkip() {
	c := l.contract
	if c.SkipWhen == nil {
		for _, field := range [...]string{"skip_key", "skip_code", "on_skip"} {
			if l.has(c, field) {
				l.faultIn(c, field, ContractBadValue, SkipWithoutWhen)
			}
		}
		return
	}
	c.SkipCode = cmp.Or(c.SkipCode, WorkerDisabled)
}

// findFallbackOnly finds the keys that nothing but fallbacks names.
func (l *loader) findFallbackOnly() {
	c := l.contract
	only, other := map[Key]bool{}, map[Key]bool{}
	for _, k := range c.Keys {
		for _, f := range k.Fallback {
			only[f] = true
			if spec := l.keys[f]; spec != nil && spec.Secret && !k.Secret {
				l.faultIn(k, "fallback", ContractBadValue, SecretFallback)
			}
		}
		for _, e := range [...]*Expr{k.Required, k.Forbidden, k.FallbackWhen} {
			mark(other, e.keys(nil))
		}
	}
	for _, e := range c.Conditions {
		mark(other, e.Expr.keys(nil))
	}
	mark(other, c.SkipWhen.keys(nil))
	for _, r := range c.Rules {
		mark(other, r.Keys)
		mark(other, r.Assert.keys(r.When.keys(nil)))
	}
	for _, w := range c.Waits {
		mark(other, w.keys())
		mark(other, w.When.keys(nil))
	}
	for _, s := range c.Settings {
		other[s.Key] = true
	}
	mark(other, c.Health.keys())
	for _, k := range c.Keys {
		k.fallbackOnly = only[k.Key] && !other[k.Key] && k.Required == nil
	}
}

func mark(in map[Key]bool, keys []Key) {
	for _, k := range keys {
		in[k] = true
	}
}
