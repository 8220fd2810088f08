package envcheck

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// scalar is a text as it stands in the file, whatever YAML would make of it.
func scalar(s schema, check func(s string) Reason) kind[string] {
	return kind[string]{func() schema { return s }, func(l *loader, n *yaml.Node) (string, bool) {
		text, ok := l.scalar(n)
		if !ok {
			return "", false
		}
		if reason := check(text); reason != "" {
			l.fault(n, ContractBadValue, reason)
			return "", false
		}
		return text, true
	}}
}

// patterned is a text of a form. check is what judges it: a regular expression
// would have to be compiled at every start.
func patterned(pattern string, check func(s string) Reason) kind[string] {
	return scalar(schema{"type": "string", "pattern": "^" + pattern + "$"}, check)
}

// anyText is a text of any number of lines.
func anyText() kind[string] {
	return scalar(schema{"type": []string{"string", "number", "boolean"}}, func(s string) Reason {
		if !utf8.ValidString(s) {
			return NotPrintable
		}
		return ""
	})
}

// sentence is a text that a diagnostic may carry: one line.
func sentence() kind[string] {
	return scalar(schema{"type": "string", "maxLength": 200}, func(s string) Reason {
		switch {
		case !utf8.ValidString(s), strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
			return NotPrintable
		case utf8.RuneCountInString(s) > 200:
			return TooLong
		}
		return ""
	})
}

// snake is the form of codes, topics and conditions.
func snake() kind[string] {
	return patterned("[a-z][a-z0-9_]{0,63}", func(s string) Reason { return isName(s, "_") })
}

// dashed is the form of the names of contracts and waits.
func dashed(first string) kind[string] {
	return patterned("["+first+"][a-z0-9-]{0,62}", func(s string) Reason {
		if len(s) > 63 {
			return NotAName // isName takes one more, of codes
		}
		if first == "a-z0-9" && s != "" && only(s[:1], numerals) {
			s = "a" + s[1:]
		}
		return isName(s, "-")
	})
}

// isName judges a name of small letters, digits and one more character.
func isName(s, extra string) Reason {
	if s == "" || len(s) > 64 || !only(s[:1], lowers) || !only(s, lowers+numerals+extra) {
		return NotAName
	}
	return ""
}

func oneOf[W ~string](words ...W) kind[W] {
	return kind[W]{func() schema { return schema{"enum": words} }, func(l *loader, n *yaml.Node) (W, bool) {
		s, ok := l.scalar(n)
		if ok && !slices.Contains(words, W(s)) {
			l.faultFix(n, ContractBadValue, NotInEnum, Word("write "+orList(words)))
			ok = false
		}
		return W(s), ok
	}}
}

func orList[W ~string](words []W) string {
	last := len(words) - 1
	if last < 1 {
		return joinWords(words, "")
	}
	return joinWords(words[:last], ", ") + " or " + string(words[last])
}

func boolean() kind[bool] {
	text := oneOf("true", "false")
	return kind[bool]{func() schema { return schema{"type": "boolean"} }, func(l *loader, n *yaml.Node) (bool, bool) {
		s, ok := text.read(l, n)
		return s == "true", ok
	}}
}

func whole() kind[int] {
	return kind[int]{func() schema { return schema{"type": "integer", "minimum": 0} }, func(l *loader, n *yaml.Node) (int, bool) {
		s, ok := l.scalar(n)
		if !ok {
			return 0, false
		}
		v, isNumber := digits(s)
		if !isNumber {
			l.fault(n, ContractBadValue, NotInteger)
		}
		return v, isNumber
	}}
}

// keyName is the name of a key. Whether it is declared is another question.
func keyName() kind[Key] {
	return kind[Key]{func() schema { return schema{"type": "string", "pattern": "^[A-Z_][A-Z0-9_]{0,127}$"} },
		func(l *loader, n *yaml.Node) (Key, bool) {
			s, ok := l.scalar(n)
			if ok && !ValidKey(s) {
				l.fault(n, ContractBadValue, NotAKey)
				ok = false
			}
			return Key(s), ok
		}}
}

// declared is the name of a key that the contract declares.
func declared() kind[Key] {
	name := keyName()
	return kind[Key]{name.schema, func(l *loader, n *yaml.Node) (Key, bool) {
		k, ok := name.read(l, n)
		if ok {
			l.uses(n, k)
		}
		return k, ok
	}}
}
