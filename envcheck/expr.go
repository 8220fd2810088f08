package envcheck

import (
	"slices"
	"strings"
)

// truth is Kleene's three-valued logic. The order is that of the logic: and is
// the minimum, or the maximum.
type truth int8

const (
	isFalse truth = -1 // definitely
	unknown truth = 0  // the key has a fault of its own, which is said once
	isTrue  truth = 1  // definitely
)

func truthOf(b bool) truth {
	if b {
		return isTrue
	}
	return isFalse
}

// An Expr is a parsed expression over keys. It cannot fail when it is
// evaluated, and it holds no value of an environment. A nil one is false.
type Expr struct {
	op    exprOp
	key   Key      // of set, unset, bare, equal and in
	words []string // of equal and in
	args  []*Expr  // of and, or, not; of named the condition's own
	name  string   // of named
	size  int      // questions that it asks, with those of the conditions that it names
}

type exprOp uint8

const (
	exprConst exprOp = iota // true when there are words
	exprAnd
	exprOr
	exprNot
	exprNamed
	exprSet
	exprUnset
	exprBare
	exprEqual
	exprNotEqual
	exprIn
)

// eval returns the truth of e.
func (e *Expr) eval(j *judge) truth {
	if e == nil {
		return isFalse
	}
	switch e.op {
	case exprConst:
		return truthOf(len(e.words) > 0)
	case exprAnd:
		t := isTrue
		for _, arg := range e.args {
			t = min(t, arg.eval(j))
		}
		return t
	case exprOr:
		t := isFalse
		for _, arg := range e.args {
			t = max(t, arg.eval(j))
		}
		return t
	case exprNot:
		return -e.args[0].eval(j)
	case exprNamed:
		return e.args[0].eval(j)
	case exprSet:
		return j.isSet(e.key)
	case exprUnset:
		return -j.isSet(e.key)
	case exprBare:
		return j.isTrue(e.key)
	}
	text, ok, known := j.text(e.key)
	if !known {
		return unknown
	}
	t := truthOf(ok && slices.Contains(e.words, text))
	if e.op == exprNotEqual {
		return -t
	}
	return t
}

// blame returns the keys that make e definitely false, in order: only those of
// the conjuncts that fail.
func (e *Expr) blame(j *judge) []Key {
	var keys []Key
	switch e.op {
	case exprNamed:
		return e.args[0].blame(j)
	case exprAnd:
		for _, arg := range e.args {
			if arg.eval(j) == isFalse {
				keys = append(keys, arg.blame(j)...)
			}
		}
	default:
		keys = e.keys(nil)
	}
	return unique(keys)
}

// keys appends the keys that e asks about.
func (e *Expr) keys(to []Key) []Key {
	if e == nil {
		return to
	}
	if e.key != "" {
		to = append(to, e.key)
	}
	for _, arg := range e.args {
		to = arg.keys(to)
	}
	return to
}

func unique(keys []Key) []Key {
	var out []Key
	for _, k := range keys {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// String writes e in the language's own words. It holds names and literals of
// the contract only.
func (e *Expr) String() string {
	if e == nil {
		return "false"
	}
	switch e.op {
	case exprConst:
		if len(e.words) > 0 {
			return "true"
		}
		return "false"
	case exprAnd, exprOr:
		word := " and "
		if e.op == exprOr {
			word = " or "
		}
		parts := make([]string, len(e.args))
		for i, arg := range e.args {
			parts[i] = arg.operand(e.op)
		}
		return strings.Join(parts, word)
	case exprNot:
		return "not " + e.args[0].operand(exprNot)
	case exprNamed:
		return e.name
	case exprSet:
		return "set(" + string(e.key) + ")"
	case exprUnset:
		return "unset(" + string(e.key) + ")"
	case exprBare:
		return string(e.key)
	case exprIn:
		words := make([]string, len(e.words))
		for i, w := range e.words {
			words[i] = quoteLiteral(w)
		}
		return string(e.key) + " in [" + strings.Join(words, ", ") + "]"
	case exprNotEqual:
		return string(e.key) + " != " + quoteLiteral(e.words[0])
	}
	return string(e.key) + " == " + quoteLiteral(e.words[0])
}

// operand is e inside an expression of outer, in brackets where it needs them.
func (e *Expr) operand(outer exprOp) string {
	if e.op == exprOr && outer != exprOr || e.op == exprAnd && outer == exprNot {
		return "(" + e.String() + ")"
	}
	return e.String()
}

func quoteLiteral(w string) string {
	if w != "" && only(w, literalChars) && !isWord(w) {
		return w
	}
	return "'" + w + "'"
}
