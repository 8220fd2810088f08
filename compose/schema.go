package compose

import (
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"unicode/utf8"
)

// schema is a JSON Schema (2020-12) as it is parsed. Only the words that the
// two schemas of this package use are understood. A compiler of the whole
// language takes longer than everything else that is done here, and its errors
// are texts that quote values.
type schema struct {
	root     map[string]any
	patterns sync.Map // of compiled ones, by their text: checks may run side by side
	formats  map[string]func(string) bool
}

// refusal is why a schema does not take a value.
type refusal uint8

const (
	refusedValue refusal = iota
	refusedType
	refusedFormat
	missingKey
	unknownKey
)

// misfit is a place that a schema does not take.
type misfit struct {
	path   path
	reason refusal
}

func parseSchema(text string, formats map[string]func(string) bool) *schema {
	s := &schema{formats: formats}
	if json.Unmarshal([]byte(text), &s.root) != nil {
		panic("compose: a schema is not JSON")
	}
	return s
}

// validate lists the faults of v, of alternatives that all fail those of each.
func (s *schema) validate(v any) []misfit {
	c := validation{schema: s}
	c.value(s.root, v, nil)
	return c.faults
}

// validation is one value held against a schema.
type validation struct {
	*schema
	faults []misfit
}

func (c *validation) say(p path, r refusal) { c.faults = append(c.faults, misfit{p, r}) }

// accepts reports whether v is one that rule takes. The faults are returned.
func (c *validation) accepts(rule, v any, p path) (bool, []misfit) {
	inner := validation{schema: c.schema}
	inner.value(rule, v, p)
	return len(inner.faults) == 0, inner.faults
}

func (c *validation) value(rule, v any, p path) {
	r, ok := rule.(map[string]any)
	if !ok {
		if rule == false {
			c.say(p, refusedValue)
		}
		return
	}
	if to := c.target(r); to != nil {
		c.value(to, v, p)
	}
	if want, ok := r["type"]; ok && !hasType(v, want) {
		c.say(p, refusedType)
		return // what else is asked is of the type that it has not
	}
	c.constants(r, v, p)
	switch v := v.(type) {
	case map[string]any:
		c.object(r, v, p)
	case []any:
		c.array(r, v, p)
	case string:
		c.text(r, v, p)
	default:
		if n, ok := number(v); ok {
			c.number(r, n, p)
		}
	}
	c.combined(r, v, p)
	if m, ok := v.(map[string]any); ok {
		c.unevaluated(r, m, p)
	}
}

// target is what a $ref of rule leads to.
func (c *validation) target(rule map[string]any) any {
	const defs = "#/$defs/"
	ref, _ := rule["$ref"].(string)
	all, _ := c.root["$defs"].(map[string]any)
	if len(ref) <= len(defs) {
		return nil
	}
	return all[ref[len(defs):]]
}

func (c *validation) constants(r map[string]any, v any, p path) {
	same := func(want any) bool {
		a, aok := number(want)
		b, bok := number(v)
		if aok && bok {
			return a == b
		}
		return reflect.DeepEqual(want, v)
	}
	if all, ok := r["enum"].([]any); ok && !slices.ContainsFunc(all, same) {
		c.say(p, refusedValue)
	}
	if want, ok := r["const"]; ok && !same(want) {
		c.say(p, refusedValue)
	}
}

func (c *validation) object(r map[string]any, v map[string]any, p path) {
	required, _ := r["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			c.say(p, missingKey)
			break
		}
	}
	additional, closed := r["additionalProperties"]
	for _, name := range sortedKeys(v) {
		below := p.with(name)
		rules := c.named(r, name)
		for _, rule := range rules {
			c.value(rule, v[name], below)
		}
		switch {
		case len(rules) > 0 || !closed:
		case additional == false:
			c.say(below, unknownKey)
		default:
			c.value(additional, v[name], below)
		}
	}
}

// named are what properties and patternProperties of a rule say of a name.
func (c *validation) named(r map[string]any, name string) []any {
	var found []any
	properties, _ := r["properties"].(map[string]any)
	if rule, ok := properties[name]; ok {
		found = append(found, rule)
	}
	patterns, _ := r["patternProperties"].(map[string]any)
	for pattern, rule := range patterns { // no name is of two patterns with rules
		if c.pattern(pattern).MatchString(name) {
			found = append(found, rule)
		}
	}
	return found
}

func (c *validation) array(r map[string]any, v []any, p path) {
	if least, ok := number(r["minItems"]); ok && float64(len(v)) < least {
		c.say(p, refusedValue)
	}
	for i, item := range v {
		if rule, ok := r["items"]; ok {
			c.value(rule, item, p.with(itoa(i)))
		}
		if r["uniqueItems"] == true && slices.ContainsFunc(v[:i], func(other any) bool { return reflect.DeepEqual(item, other) }) {
			c.say(p, refusedValue)
			return
		}
	}
}

func (c *validation) text(r map[string]any, v string, p path) {
	if least, ok := number(r["minLength"]); ok && float64(utf8.RuneCountInString(v)) < least {
		c.say(p, refusedValue)
	}
	if pattern, ok := r["pattern"].(string); ok && !c.pattern(pattern).MatchString(v) {
		c.say(p, refusedValue)
	}
	if name, ok := r["format"].(string); ok {
		if good := c.formats[name]; good != nil && !good(v) {
			c.say(p, refusedFormat)
		}
	}
}

func (c *validation) number(r map[string]any, v float64, p path) {
	if least, ok := number(r["minimum"]); ok && v < least {
		c.say(p, refusedValue)
	}
	if most, ok := number(r["maximum"]); ok && v > most {
		c.say(p, refusedValue)
	}
}

func (c *validation) combined(r map[string]any, v any, p path) {
	all, _ := r["allOf"].([]any)
	for _, rule := range all {
		c.value(rule, v, p)
	}
	for _, word := range [...]string{"anyOf", "oneOf"} {
		alternatives, ok := r[word].([]any)
		if !ok {
			continue
		}
		var faults []misfit
		matched := 0
		for _, rule := range alternatives {
			ok, found := c.accepts(rule, v, p)
			if ok {
				matched++
			}
			faults = append(faults, found...)
		}
		switch {
		case matched == 0:
			c.faults = append(c.faults, faults...)
		case matched > 1 && word == "oneOf":
			c.say(p, refusedValue)
		}
	}
}

// unevaluated finds the names that neither rule nor what it is combined of
// speaks of.
func (c *validation) unevaluated(r map[string]any, v map[string]any, p path) {
	if r["unevaluatedProperties"] != false {
		return
	}
	for _, name := range sortedKeys(v) {
		if !c.speaksOf(r, name, v, p) {
			c.say(p.with(name), unknownKey)
		}
	}
}

func (c *validation) speaksOf(rule any, name string, v map[string]any, p path) bool {
	r, ok := rule.(map[string]any)
	if !ok {
		return false
	}
	if _, closed := r["additionalProperties"]; closed || len(c.named(r, name)) > 0 {
		return true
	}
	if to := c.target(r); to != nil && c.speaksOf(to, name, v, p) {
		return true
	}
	all, _ := r["allOf"].([]any)
	if slices.ContainsFunc(all, func(rule any) bool { return c.speaksOf(rule, name, v, p) }) {
		return true
	}
	for _, word := range [...]string{"anyOf", "oneOf"} {
		alternatives, _ := r[word].([]any)
		for _, rule := range alternatives {
			if ok, _ := c.accepts(rule, v, p); ok && c.speaksOf(rule, name, v, p) {
				return true
			}
		}
	}
	return false
}

func (c *validation) pattern(text string) *regexp.Regexp {
	re, ok := c.patterns.Load(text)
	if !ok {
		re, _ = c.patterns.LoadOrStore(text, regexp.MustCompile(text))
	}
	return re.(*regexp.Regexp)
}

func hasType(v, want any) bool {
	if several, ok := want.([]any); ok {
		return slices.ContainsFunc(several, func(one any) bool { return hasType(v, one) })
	}
	switch v := v.(type) {
	case nil:
		return want == "null"
	case bool:
		return want == "boolean"
	case map[string]any:
		return want == "object"
	case []any:
		return want == "array"
	default:
		n, ok := number(v)
		if !ok {
			return want == "string" // a date among them
		}
		return want == "number" || want == "integer" && n == math.Trunc(n)
	}
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
