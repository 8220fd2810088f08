package envcheck

import "strings"

// maxExprDepth bounds brackets and nots, and with them the stack.
const maxExprDepth = 64

// maxExprSize bounds what an expression asks. Conditions that name each other
// twice would ask without end.
const maxExprSize = 1000

const literalChars = uppers + lowers + numerals + "_.*-"

// exprScope is what an expression may name.
type exprScope struct {
	keys       map[Key]*KeySpec
	conditions map[string]*Expr
	later      map[string]bool // conditions that stand further down
}

// parseExpr reads
//
//	expr := and ("or" and)*            and := not ("and" not)*        not := "not" not | prim
//	prim := "(" expr ")" | condition | "set(" KEY ")" | "unset(" KEY ")"
//	      | KEY | KEY ("==" | "!=") LIT | KEY "in" "[" LIT ("," LIT)* "]"
//	LIT  := [A-Za-z0-9_.*-]+ | 'anything without a quote'
//
// and checks that it can be evaluated: declared keys, known conditions,
// literals that an enum can have, no comparison with a secret. A fault is a
// reason and the offset in s at which it stands.
func parseExpr(s string, scope exprScope) (e *Expr, at int, _ Reason) {
	p := &exprParser{text: s, scope: scope}
	p.next()
	e = p.or(0)
	if p.reason == "" && p.token != "" {
		p.fail(UnexpectedToken)
	}
	switch {
	case p.reason != "":
		return nil, p.faultAt, p.reason
	case p.size > maxExprSize:
		return nil, 0, TooLong
	}
	e.size = p.size
	return e, 0, ""
}

type exprParser struct {
	text    string
	scope   exprScope
	pos     int    // behind token
	start   int    // of token
	token   string // "" at the end
	quoted  bool   // token is a quoted literal
	size    int    // of what was read
	faultAt int
	reason  Reason
}

// fail keeps the first fault and makes the parser run out of tokens.
func (p *exprParser) fail(r Reason) *Expr {
	if p.reason == "" {
		p.reason, p.faultAt = r, p.start
	}
	p.pos, p.token, p.quoted = len(p.text), "", false
	return &Expr{}
}

// next reads one token.
func (p *exprParser) next() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\n\r", p.text[p.pos]) >= 0 {
		p.pos++
	}
	p.start, p.token, p.quoted = p.pos, "", false
	rest := p.text[p.pos:]
	switch {
	case rest == "":
		return
	case rest[0] == '\'':
		end := strings.IndexByte(rest[1:], '\'')
		if end < 0 {
			p.fail(QuoteOpen)
			return
		}
		p.token, p.quoted, p.pos = rest[1:end+1], true, p.pos+end+2
		return
	case strings.HasPrefix(rest, "=="), strings.HasPrefix(rest, "!="):
		p.token = rest[:2]
	case strings.IndexByte("()[],", rest[0]) >= 0:
		p.token = rest[:1]
	default:
		n := len(rest) - len(strings.TrimLeft(rest, literalChars))
		if n == 0 {
			p.fail(UnexpectedToken)
			return
		}
		p.token = rest[:n]
	}
	p.pos += len(p.token)
}

// take reads token when it is next.
func (p *exprParser) take(token string) bool {
	if p.token != token || p.quoted || token == "" {
		return false
	}
	p.next()
	return true
}

func (p *exprParser) expect(token string) {
	if !p.take(token) && p.reason == "" {
		p.fail(UnexpectedToken)
	}
}

func (p *exprParser) or(depth int) *Expr  { return p.chain(exprOr, "or", p.and, depth) }
func (p *exprParser) and(depth int) *Expr { return p.chain(exprAnd, "and", p.not, depth) }

func (p *exprParser) chain(op exprOp, word string, operand func(int) *Expr, depth int) *Expr {
	first := operand(depth)
	if p.token != word || p.quoted {
		return first
	}
	e := &Expr{op: op, args: []*Expr{first}}
	for p.take(word) {
		e.args = append(e.args, operand(depth))
	}
	return e
}

func (p *exprParser) not(depth int) *Expr {
	if depth > maxExprDepth {
		return p.fail(TooDeep)
	}
	if p.take("not") {
		return &Expr{op: exprNot, args: []*Expr{p.not(depth + 1)}}
	}
	return p.prim(depth)
}

func (p *exprParser) prim(depth int) *Expr {
	if p.take("(") {
		e := p.or(depth + 1)
		p.expect(")")
		return e
	}
	p.size++
	name := p.token
	switch {
	case p.quoted:
		return p.fail(UnexpectedToken)
	case name == "set" || name == "unset":
		return p.setOf(name)
	case name == "" || isWord(name):
		return p.fail(UnexpectedToken)
	}
	if c, ok := p.scope.conditions[name]; ok {
		p.next()
		p.size += c.size
		return &Expr{op: exprNamed, name: name, args: []*Expr{c}}
	}
	switch {
	case p.scope.later[name]:
		return p.fail(ConditionLater)
	case !ValidKey(name):
		return p.fail(ConditionUnknown)
	}
	spec := p.key()
	switch {
	case spec == nil:
		return &Expr{}
	case p.take("=="):
		return p.compare(exprEqual, spec)
	case p.take("!="):
		return p.compare(exprNotEqual, spec)
	case p.take("in"):
		return p.compare(exprIn, spec)
	case spec.Type != TypeBool:
		return p.fail(BareKeyNotBool)
	}
	return &Expr{op: exprBare, key: spec.Key}
}

func (p *exprParser) setOf(function string) *Expr {
	p.next()
	p.expect("(")
	spec := p.key()
	p.expect(")")
	if spec == nil {
		return &Expr{}
	}
	if function == "unset" {
		return &Expr{op: exprUnset, key: spec.Key}
	}
	return &Expr{op: exprSet, key: spec.Key}
}

// key reads the name of a declared key.
func (p *exprParser) key() *KeySpec {
	spec, ok := p.scope.keys[Key(p.token)]
	if !ok || p.quoted {
		p.fail(KeyUndeclared)
		return nil
	}
	p.next()
	return spec
}

func (p *exprParser) compare(op exprOp, spec *KeySpec) *Expr {
	if spec.Secret {
		return p.fail(ComparesSecret)
	}
	e := &Expr{op: op, key: spec.Key}
	if op != exprIn {
		e.words = []string{p.literal(spec)}
		return e
	}
	p.expect("[")
	for {
		e.words = append(e.words, p.literal(spec))
		if !p.take(",") {
			break
		}
	}
	p.expect("]")
	return e
}

// literal reads a literal in the form in which the key's value compares.
func (p *exprParser) literal(spec *KeySpec) string {
	if !p.quoted && (p.token == "" || !only(p.token, literalChars)) {
		p.fail(LiteralMissing)
		return ""
	}
	v, reason := spec.rule.read(p.token, spec)
	if reason != "" {
		p.fail(LiteralImpossible)
		return ""
	}
	p.next()
	return v.text
}

// isWord reports whether s is a word of the language.
func isWord(s string) bool {
	switch s {
	case "and", "or", "not", "in", "set", "unset", "true", "false":
		return true
	}
	return false
}
