package envcheck

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// The tables in this file, in the other fields_*.go and in rules.go are the
// contract language: [Load] reads by them and [Schema] is made from them.

func contractFields() []field[Contract] {
	return []field[Contract]{
		must(fieldOf("contract", "version of the contract language", oneOf("1"), func(*Contract, string) {})),
		must(fieldOf("name", "name of the contract, said in the gate's start line", dashed("a-z0-9"),
			func(c *Contract, v string) { c.Name = Word(v) })),
		fieldOf("doc", "what the contract is for", anyText(), func(c *Contract, v string) { c.Doc = v }),
		fieldOf("policy", "what counts as a fault in every key that does not say it itself", object(policyFields),
			func(c *Contract, v *Policy) { c.Policy = *v }),
		fieldOf("owns", "globs of the names that the contract claims: only these are checked for unknown keys", listOf(glob(), 0),
			func(c *Contract, v []string) { c.Owns = v }),
		{name: "conditions", doc: "named expressions; each sees only those before it", schema: mapOf(exprSchema), read: readConditions},
		exprField("skip_when", "the contract does not apply when this is true", func(c *Contract) **Expr { return &c.SkipWhen }),
		fieldOf("skip_key", "key that the diagnostic of a skip names", declared(), func(c *Contract, v Key) { c.SkipKey = v }),
		fieldOf("skip_code", "code of the diagnostic of a skip; worker_disabled unless said", snake(),
			func(c *Contract, v string) { c.SkipCode = Code(v) }),
		fieldOf("on_skip", "run: become the worker at once; exit: exit 0", oneOf("run", "exit"),
			func(c *Contract, v string) { c.SkipExits = v == "exit" }),
		must(field[Contract]{name: "keys", doc: "environment variables, in the order of the report",
			schema: mapOf(object(keyFields).schema), read: readKeys}),
		fieldOf("rules", "relations between keys", listOf(object(ruleFields), 0), func(c *Contract, v []*Rule) { c.Rules = v }),
		{name: "waits", doc: "what must be ready before the worker starts", schema: listOf(object(waitFields), 0).schema, read: readWaits},
		{name: "settings", doc: "keys of the worker that steer the gate", schema: settingsSchema, read: readSettings},
		fieldOf("queues", "names of queues that a report may print", listOf(queueName(), 0),
			func(c *Contract, v []string) { c.Queues = v }),
		{name: "health", doc: "what startgate health asks of a running worker", schema: object(healthFields).schema,
			read: func(l *loader, n *yaml.Node, c *Contract) { readFields(l, n, healthFields(), &c.Health) }},
	}
}

// handling is a field of a policy.
func handling(name, doc string, at func(*Policy) *Handling, words ...Handling) field[Policy] {
	return fieldOf(name, doc, oneOf(words...), func(p *Policy, v Handling) { *at(p) = v })
}

// keyPolicyFields are those that a key may have too.
func keyPolicyFields() []field[Policy] {
	return []field[Policy]{
		handling("empty", "an empty value: the same as none, a fault, or a value", func(p *Policy) *Handling { return &p.Empty },
			AsUnset, AsError, Keep),
		handling("whitespace", "white space and line breaks around a value", func(p *Policy) *Handling { return &p.Whitespace },
			AsError, AsWarn, Trim),
		handling("placeholders", "a value such as changeme", func(p *Policy) *Handling { return &p.Placeholders },
			AsError, AsWarn, NotAtAll),
		handling("references", "something such as ${X} in a value that nothing has expanded", func(p *Policy) *Handling { return &p.References },
			AsError, AsWarn, NotAtAll),
		handling("quotes", "quotes around a value", func(p *Policy) *Handling { return &p.Quotes }, AsError, AsWarn, NotAtAll),
	}
}

func policyFields() []field[Policy] {
	return append(keyPolicyFields(),
		handling("duplicates", "a key that is set twice, to different values", func(p *Policy) *Handling { return &p.Duplicates },
			AsError, AsWarn, NotAtAll),
		handling("unknown", "an owned name that is not declared", func(p *Policy) *Handling { return &p.Unknown },
			AsWarn, AsError, NotAtAll),
		field[Policy](fieldOf("spelling", "of a bool: strict, or any, which also takes True, yes, on and their opposites",
			oneOf("strict", "any"), func(p *Policy, v string) { p.AnySpelling = v == "any" })),
		fieldOf("reasons", "off: no diagnostic has a reason, since a reason says a little of a value", oneOf("on", "off"),
			func(p *Policy, v string) { p.NoReasons = v == "off" }),
	)
}

func readConditions(l *loader, n *yaml.Node, _ *Contract) {
	pairs, _ := l.mapping(n)
	for _, p := range pairs {
		switch reason := isName(p.name, "_"); {
		case reason != "":
			l.fault(p.key, ContractBadValue, reason)
		case isWord(p.name):
			l.fault(p.key, ContractBadValue, ReservedName)
		default:
			l.pending = append(l.pending, pendingExpr{p.value, new(*Expr), p.name})
		}
	}
}

// glob is a pattern of names. None may claim the gate's own settings.
func glob() kind[string] {
	return patterned(`[A-Z_*][A-Z0-9_*]*`, func(s string) Reason {
		switch {
		case s == "", len(s) > 128, only(s[:1], numerals), !only(s, uppers+numerals+"_*"):
			return NotAGlob
		case strings.HasPrefix(s, reservedPrefix):
			return ReservedName
		}
		return ""
	})
}

// reservedPrefix is that of the gate's own settings, which no contract owns.
const reservedPrefix = "STARTGATE_"

func queueName() kind[string] {
	return patterned(`[A-Za-z0-9_.:{}-]{1,128}`, func(s string) Reason {
		if s == "" || len(s) > 128 || !only(s, literalChars+":{}") || strings.Contains(s, "*") {
			return NotAName
		}
		return ""
	})
}
