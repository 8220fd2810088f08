package envcheck

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"go.yaml.in/yaml/v3"
)

func keyFields() []field[KeySpec] {
	var typeNames []Type
	for i := range types {
		typeNames = append(typeNames, types[i].name)
	}
	fields := []field[KeySpec]{
		fieldOf("type", "type of the value; string, or enum when enum is given", oneOf(typeNames...), func(k *KeySpec, v Type) { k.Type = v }),
		exprField("required", "the key must be set when this is true", func(k *KeySpec) **Expr { return &k.Required }),
		{name: "forbidden", doc: "the key must not be set when this is true", schema: anyOf(exprSchema, object(forbiddenFields).schema), read: readForbidden},
		{name: "fallback", doc: "keys that are used, in order, when this one is unset",
			schema: anyOf(listOf(keyName(), 1).schema, object(fallbackFields).schema), read: readFallback},
		fieldOf("default", "what the worker itself takes when the key is unset; never exported", anyText(), func(k *KeySpec, v string) { k.Default = &v }),
		fieldOf("enum", "the words that the value may be", listOf(sentence(), 1), func(k *KeySpec, v []string) { k.Enum = v }),
		fieldOf("min", "least value, of a number or a time", bound(), func(k *KeySpec, v string) { k.said.min = v }),
		fieldOf("max", "greatest value, of a number or a time", bound(), func(k *KeySpec, v string) { k.said.max = v }),
		fieldOf("min_len", "least length, in characters", whole(), func(k *KeySpec, v int) { k.MinLen = v }),
		{name: "pattern", doc: "regular expression (RE2) that the whole value must match",
			schema: func() schema { return schema{"type": "string", "format": "regex"} }, read: readPattern},
		fieldOf("export", "a value from KEY_FILE is set as KEY for the worker, and KEY_FILE dropped", boolean(), func(k *KeySpec, v bool) { k.Export = v }),
		fieldOf("spelling", "of a bool: strict, or any, which also takes True, yes, on and their opposites", oneOf("strict", "any"),
			func(k *KeySpec, v string) { k.AnySpelling = v == "any" }),
		fieldOf("secret", "never shown, no default; true unless said for redis_url, postgres_url and pem", boolean(),
			func(k *KeySpec, v bool) { k.said.secret = &v }),
		fieldOf("file", "KEY_FILE is accepted; the same as secret unless said", boolean(), func(k *KeySpec, v bool) { k.said.file = &v }),
		fieldOf("expose", "value: check shows the value, re-rendered; for bool, numbers, port, times and enum", oneOf("status", "value"),
			func(k *KeySpec, v string) { k.Expose = v == "value" }),
		fieldOf("topic", "stem of the codes about the key; the key in small letters unless said", snake(), func(k *KeySpec, v string) { k.said.topic = v }),
		fieldOf("purpose", "what the key is for, in a few words", sentence(), func(k *KeySpec, v string) { k.Purpose = Word(v) }),
		{name: "deprecated", doc: "the key still works, and another is to be used", schema: object(deprecatedFields).schema, read: readDeprecated},
		fieldOf("doc", "what the key is", anyText(), func(k *KeySpec, v string) { k.Doc = v }),
		fieldOf("doc_when", "when the key is needed, in words", anyText(), func(k *KeySpec, v string) { k.DocWhen = v }),
	}
	for _, f := range keyPolicyFields() {
		fields = append(fields, field[KeySpec]{name: f.name, doc: f.doc, schema: f.schema, read: func(l *loader, n *yaml.Node, k *KeySpec) {
			f.read(l, n, &k.Policy)
		}})
	}
	return fields
}

// bound is a limit: a number, or a duration as text.
func bound() kind[string] {
	return scalar(schema{"type": []string{"number", "string"}}, func(string) Reason { return "" })
}

// deprecation, fallback and forbidden are a key as the long forms of these
// fields see it.
type (
	deprecation KeySpec
	fallback    KeySpec
	forbidden   KeySpec
)

func deprecatedFields() []field[deprecation] {
	return []field[deprecation]{
		must(fieldOf("use", "the key to use instead", declared(), func(d *deprecation, v Key) { d.Use = v })),
		fieldOf("level", "warn unless said", oneOf(Warn, Error), func(d *deprecation, v Level) { d.DeprecatedLevel = v }),
	}
}

func fallbackFields() []field[fallback] {
	return []field[fallback]{
		must(fieldOf("keys", "in order", listOf(declared(), 1), func(f *fallback, v []Key) { f.Fallback = v })),
		exprField("when", "the fallback is permitted when this is true", func(f *fallback) **Expr { return &f.FallbackWhen }),
	}
}

func forbiddenFields() []field[forbidden] {
	return []field[forbidden]{
		must(exprField("when", "the key must not be set when this is true", func(f *forbidden) **Expr { return &f.Forbidden })),
		fieldOf("level", "error unless said", oneOf(Warn, Error), func(f *forbidden, v Level) { f.ForbiddenLevel = v }),
	}
}

func readDeprecated(l *loader, n *yaml.Node, k *KeySpec) {
	readFields(l, n, deprecatedFields(), (*deprecation)(k))
}

func readFallback(l *loader, n *yaml.Node, k *KeySpec) {
	if isKind(n, yaml.MappingNode) {
		readFields(l, n, fallbackFields(), (*fallback)(k))
		return
	}
	k.Fallback, _ = listOf(declared(), 1).read(l, n)
}

func readForbidden(l *loader, n *yaml.Node, k *KeySpec) {
	if isKind(n, yaml.MappingNode) {
		readFields(l, n, forbiddenFields(), (*forbidden)(k))
		return
	}
	l.later(n, &k.Forbidden)
}

func readPattern(l *loader, n *yaml.Node, k *KeySpec) {
	s, ok := l.scalar(n)
	if !ok {
		return
	}
	_, err := syntax.Parse(s, syntax.Perl) // between brackets a)|(?:b would be one too
	if err == nil {
		k.Pattern, err = regexp.Compile("^(?:" + s + ")$")
	}
	if err != nil || len(s) > 1000 {
		l.fault(n, ContractBadValue, PatternInvalid)
	}
}

func readKeys(l *loader, n *yaml.Node, c *Contract) {
	spec := object(keyFields)
	pairs, _ := l.mapping(n)
	for _, p := range pairs {
		switch {
		case !ValidKey(p.name):
			l.fault(p.key, ContractBadValue, NotAKey)
			continue
		case strings.HasPrefix(p.name, reservedPrefix):
			l.fault(p.key, ContractBadValue, ReservedName)
			continue
		}
		k, _ := spec.read(l, p.value)
		k.Key = Key(p.name)
		l.places[place{k, ""}] = p.key
		l.keys[k.Key] = k
		c.Keys = append(c.Keys, k)
	}
}
