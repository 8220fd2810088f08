package envcheck

import (
	"cmp"
	"slices"
	"strings"
)

// The kinds of rules.
const (
	RequireAny Word = "require_any"
	AllOrNone  Word = "all_or_none"
	AtMostOne  Word = "at_most_one"
	Distinct   Word = "distinct"
	Aligned    Word = "aligned"
	Less       Word = "less"
	Assert     Word = "assert"
)

// ruleKind is all that the package knows of a kind of rule.
type ruleKind struct {
	name  Word
	doc   string
	least int // keys
	most  int // keys, 0 for any number
	// check judges the keys once the rule applies. It calls found for each
	// fault. A kind without it has an expression instead of keys.
	check func(j *judge, r *Rule, found func(Reason, ...Key))
	text  Word // what is wrong
	fix   Word // what to do where the rule does not say
}

// ruleKinds is the one place where a kind of rule is declared.
var ruleKinds = [...]ruleKind{
	{RequireAny, "one of these must be set", 1, 0, requireAny, "none of the keys is set", "set one of them"},
	{AllOrNone, "all of these are set, or none", 2, 0, allOrNone, "the keys are missing beside the ones that are set", "set all, or none"},
	{AtMostOne, "not more than one of these is set", 2, 0, atMostOne, "only one of the keys may be set", "unset all but one"},
	{Distinct, "no two of these have the same value, defaults included", 2, 0, distinct, "the keys have the same value", "give each its own"},
	{Aligned, "these Redis URLs name the same target", 2, 0, aligned, "the keys name different Redis targets", "point them at the same one"},
	{Less, "the first is less than the second", 2, 2, less, "the first key must be less than the second", "lower the first, or raise the second"},
	{Assert, "this must be true", 0, 0, nil, "the keys do not go together", ""},
}

func ruleFields() []field[Rule] {
	fields := []field[Rule]{
		must(fieldOf("code", "code of the rule's diagnostic", snake(), func(r *Rule, v string) { r.Code = Code(v) })),
		exprField("when", "the rule applies when this is true", func(r *Rule) **Expr { return &r.When }),
		fieldOf("level", "error unless said", oneOf(Warn, Error), func(r *Rule, v Level) { r.Level = v }),
		fieldOf("fix", "what to do", sentence(), func(r *Rule, v string) { r.Fix = Word(v) }),
		fieldOf("doc", "why the rule is there", anyText(), func(r *Rule, v string) { r.Doc = v }),
		fieldOf("ignore", "parts that aligned does not compare", listOf(oneOf(alignedParts[:]...), 1), func(r *Rule, v []string) { r.Ignore = v }),
	}
	for _, k := range ruleKinds {
		if k.check == nil {
			fields = append(fields, exprField(string(k.name), k.doc, func(r *Rule) **Expr { return &r.Assert }))
			continue
		}
		fields = append(fields, fieldOf(string(k.name), k.doc, listOf(declared(), k.least), func(r *Rule, v []Key) { r.Keys = v }))
	}
	return fields
}

// checkRule finds the rule's kind and whether its keys suit it.
func (l *loader) checkRule(r *Rule) {
	bad := func(field string, reason Reason) { l.faultIn(r, field, ContractBadValue, reason) }
	kinds := 0
	for i := range ruleKinds {
		if k := &ruleKinds[i]; l.has(r, string(k.name)) {
			r.kind, r.Kind = k, k.name
			kinds++
		}
	}
	r.Level = cmp.Or(r.Level, Error)
	switch {
	case kinds == 0:
		bad("", NoKind)
		return
	case kinds > 1:
		bad("", SeveralKinds)
		return
	case r.Kind != Aligned && l.has(r, "ignore"):
		bad("ignore", NotForThisKind)
	}
	field := string(r.Kind)
	if repeats(r.Keys) {
		bad(field, Repeated)
	}
	if r.kind.most > 0 && len(r.Keys) > r.kind.most {
		bad(field, KeysNotComparable)
	}
	var first *KeySpec
	for _, k := range r.Keys {
		spec := l.keys[k]
		first = cmp.Or(first, spec)
		switch {
		case spec == nil:
		case r.Kind == Aligned && spec.Type != TypeRedis:
			bad(field, KeyOfOtherType)
			return
		case r.Kind == Less && (!spec.rule.is(numeric) || (spec.rule.unit == 0) != (first.rule.unit == 0)):
			bad(field, KeysNotComparable)
			return
		}
	}
}

func requireAny(j *judge, r *Rule, found func(Reason, ...Key)) {
	for _, k := range r.Keys {
		if j.isSet(k) != isFalse {
			return
		}
	}
	found("", r.Keys...)
}

func allOrNone(j *judge, r *Rule, found func(Reason, ...Key)) {
	set, unset := j.parted(r.Keys)
	if len(set) > 0 && len(unset) > 0 {
		found("", unset...)
	}
}

func atMostOne(j *judge, r *Rule, found func(Reason, ...Key)) {
	if set, _ := j.parted(r.Keys); len(set) > 1 {
		found("", set...)
	}
}

// parted parts keys into those that are definitely set and definitely not.
func (j *judge) parted(keys []Key) (set, unset []Key) {
	for _, k := range keys {
		switch j.isSet(k) {
		case isTrue:
			set = append(set, k)
		case isFalse:
			unset = append(unset, k)
		}
	}
	return set, unset
}

// distinct says each group of keys with one value.
func distinct(j *judge, r *Rule, found func(Reason, ...Key)) {
	var done []Key
	for i, k := range r.Keys {
		text, ok, known := j.text(k)
		if !ok || !known || slices.Contains(done, k) {
			continue
		}
		same := []Key{k}
		for _, other := range r.Keys[i+1:] {
			if t, ok, known := j.text(other); ok && known && t == text {
				same = append(same, other)
			}
		}
		if len(same) > 1 {
			found("", same...)
			done = append(done, same...)
		}
	}
}

var alignedParts = [...]string{"tls", "host", "port", "credentials", "db"}

// aligned compares what URLs say, not what names resolve to: two names of one
// server differ.
func aligned(j *judge, r *Rule, found func(Reason, ...Key)) {
	var first Key
	for _, k := range r.Keys {
		if j.isSet(k) != isTrue {
			continue
		}
		if first == "" {
			first = k
			continue
		}
		if reason := differs(j.readings[first].value.redis.Reveal(), j.readings[k].value.redis.Reveal(), r.Ignore); reason != "" {
			found(reason, first, k)
		}
	}
}

// differs is the first part in which a and b name different targets.
func differs(a, b RedisParts, ignore []string) Reason {
	user := func(p RedisParts) string {
		if p.User == "default" {
			return ""
		}
		return p.User
	}
	for i, same := range [...]bool{
		a.TLS == b.TLS,
		sameHost(a, b),
		a.Port == b.Port,
		user(a) == user(b) && a.Password == b.Password,
		a.DB == b.DB,
	} {
		if !same && !slices.Contains(ignore, alignedParts[i]) {
			return [...]Reason{TLSDiffers, HostDiffers, PortDiffers, CredentialsDiffers, DBDiffers}[i]
		}
	}
	return ""
}

// sameHost also compares what stands for a host.
func sameHost(a, b RedisParts) bool {
	return strings.EqualFold(strings.TrimSuffix(a.Host, "."), strings.TrimSuffix(b.Host, ".")) && a.Socket == b.Socket &&
		slices.Equal(a.Sentinels, b.Sentinels) && a.Master == b.Master &&
		slices.EqualFunc(a.Others, b.Others, func(a, b RedisParts) bool { return differs(a, b, nil) == "" })
}

func less(j *judge, r *Rule, found func(Reason, ...Key)) {
	a, aOK := j.number(r.Keys[0])
	b, bOK := j.number(r.Keys[1])
	if aOK && bOK && a.Cmp(b) >= 0 {
		found("", r.Keys...)
	}
}
