package envcheck

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	maxContract = 1 << 20 // bytes of a contract file
	maxFaults   = 500     // that are said of one
)

// Load reads a contract file: version 1 of the language. It returns every
// fault of the file at once, each with line and column and none with a text of
// the file. The contract is nil when there is a fault.
//
// Scalars are read as they stand in the file, so that on, 0755 and 1.0 arrive
// as written.
func Load(r io.Reader) (*Contract, []Diagnostic) {
	b, err := io.ReadAll(io.LimitReader(r, maxContract+1))
	switch {
	case err != nil:
		return nil, []Diagnostic{{Code: ContractUnreadable, Reason: IOError}}
	case len(b) > maxContract:
		return nil, []Diagnostic{{Code: ContractSyntax, Reason: TooLarge}}
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(b)))
	var doc yaml.Node
	if err := decoder.Decode(&doc); err != nil {
		return nil, []Diagnostic{yamlFault(err)}
	}
	l := newLoader()
	var next yaml.Node
	if err := decoder.Decode(&next); err == nil {
		l.fault(&next, ContractSyntax, SeveralDocuments)
	} else if !errors.Is(err, io.EOF) {
		return nil, []Diagnostic{yamlFault(err)}
	}
	l.maxNodes = 2*count(&doc) + maxExpanded
	l.load(doc.Content[0])
	if len(l.faults) > 0 {
		slices.SortStableFunc(l.faults, byPosition)
		return nil, l.faults
	}
	return l.contract, nil
}

// yamlFault keeps the line of a parser's error. Its text can quote the file.
func yamlFault(err error) Diagnostic {
	d := Diagnostic{Code: ContractSyntax}
	if errors.Is(err, io.EOF) {
		d.Reason = EmptyDocument
		return d
	}
	if _, after, ok := strings.Cut(err.Error(), "line "); ok {
		n := len(after) - len(strings.TrimLeft(after, numerals))
		if line, err := strconv.Atoi(after[:n]); err == nil {
			d.Fields = []Field{Int("line", line)}
		}
	}
	return d
}

// byPosition compares what faultAt has made: line, then column.
func byPosition(a, b Diagnostic) int {
	at := func(d Diagnostic, i int) int64 { return d.Fields[i].value.(int64) }
	return cmp.Or(cmp.Compare(at(a, 0), at(b, 0)), cmp.Compare(at(a, 1), at(b, 1)))
}

// loader reads one file.
type loader struct {
	contract   *Contract
	faults     []Diagnostic
	keys       map[Key]*KeySpec
	waits      []*WaitSpec
	waitNames  map[Word]bool
	conditions map[string]*Expr
	pending    []pendingExpr
	used       []use
	places     map[place]*yaml.Node
	nodes      int // that were read
	maxNodes   int
	merging    int  // merge keys under way, one in the other
	stuck      bool // the bound on nodes is reached, and that was said
}

func newLoader() *loader {
	return &loader{
		contract: new(Contract), keys: map[Key]*KeySpec{}, waitNames: map[Word]bool{}, conditions: map[string]*Expr{},
		places: make(map[place]*yaml.Node, 256),
	}
}

// place is a field of something that was read.
type place struct {
	of    any // pointer to it
	field string
}

// pendingExpr is an expression that waits for the keys to be known.
type pendingExpr struct {
	node *yaml.Node
	to   **Expr
	name string // of a condition
}

// use is a place that names a key.
type use struct {
	node *yaml.Node
	key  Key
}

func (l *loader) fault(n *yaml.Node, c Code, r Reason) { l.faultFix(n, c, r, "") }

func (l *loader) faultFix(n *yaml.Node, c Code, r Reason, fix Word) {
	l.faultAt(n.Line, n.Column, c, r, fix)
}

func (l *loader) faultAt(line, column int, c Code, r Reason, fix Word) {
	if l.stuck || len(l.faults) == maxFaults {
		return // what a bound cut off is no fault of the file
	}
	l.faults = append(l.faults, Diagnostic{
		Code: c, Reason: r, Fix: fix, Fields: []Field{Int("line", line), Int("column", column)},
	})
}

// has reports whether the file says field of something that was read.
func (l *loader) has(of any, field string) bool { return l.places[place{of, field}] != nil }

// faultIn is a fault of a field, or of what it belongs to when the file does
// not have it.
func (l *loader) faultIn(of any, field string, c Code, r Reason) {
	n := l.places[place{of, field}]
	if n == nil {
		n = l.places[place{of, ""}]
	}
	l.fault(n, c, r)
}

// later parses the expression at n once it can be.
func (l *loader) later(n *yaml.Node, to **Expr) {
	*to = new(Expr)
	l.pending = append(l.pending, pendingExpr{n, to, ""})
}

// uses notes that n names a key, which must be declared.
func (l *loader) uses(n *yaml.Node, k Key) { l.used = append(l.used, use{n, k}) }

// load reads the document: the fields first, then what depends on all of them.
func (l *loader) load(root *yaml.Node) {
	if !l.version(root) || !readFields(l, root, contractFields(), l.contract) {
		return
	}
	c := l.contract
	for _, k := range c.Keys {
		l.finishKey(k)
	}
	for _, u := range l.used {
		if l.keys[u.key] == nil {
			l.fault(u.node, ContractKeyUndeclared, "")
		}
	}
	l.parsePending()
	for _, r := range c.Rules {
		l.checkRule(r)
	}
	for _, w := range l.waits {
		l.checkWait(w)
		c.Waits = append(c.Waits, *w)
	}
	l.checkSettings()
	l.checkSkip()
	l.checkCodes()
	l.findFallbackOnly()
	l.giveClients()
}

// version looks at the language's version first: a file of another one would
// be nothing but faults.
func (l *loader) version(root *yaml.Node) bool {
	if root.Kind != yaml.MappingNode {
		return true
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != "contract" {
			continue
		}
		v := root.Content[i+1]
		if v.Kind == yaml.ScalarNode && v.Value != "1" && onlyDigits(strings.ReplaceAll(v.Value, ".", "")) {
			l.fault(v, ContractVersionUnsupported, "")
			return false
		}
	}
	return true
}

// parsePending parses the conditions, in order, and then the expressions that
// may name them all.
func (l *loader) parsePending() {
	scope := exprScope{l.keys, l.conditions, map[string]bool{}}
	for _, p := range l.pending {
		if p.name != "" {
			scope.later[p.name] = true
		}
	}
	for _, p := range l.pending {
		if p.name != "" {
			*p.to = l.expr(p.node, scope)
			delete(scope.later, p.name)
			l.conditions[p.name] = *p.to
			l.contract.Conditions = append(l.contract.Conditions, Condition{p.name, *p.to})
		}
	}
	for _, p := range l.pending {
		if p.name == "" {
			*p.to = l.expr(p.node, scope)
		}
	}
}

// expr parses the expression at n. A fault leaves one that is false.
func (l *loader) expr(n *yaml.Node, scope exprScope) *Expr {
	s, ok := l.scalar(n)
	switch {
	case !ok, s == "false":
		return &Expr{}
	case s == "true":
		return &Expr{words: []string{s}}
	}
	e, at, reason := parseExpr(s, scope)
	if reason == "" {
		return e
	}
	code := ContractBadExpression
	if reason == KeyUndeclared {
		code, reason = ContractKeyUndeclared, ""
	}
	line, column := n.Line, n.Column+at
	switch n.Style {
	case yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle:
		column++
	case yaml.LiteralStyle, yaml.FoldedStyle:
		line, column = line+1+strings.Count(s[:at], "\n"), 1
	}
	l.faultAt(line, column, code, reason, "")
	return &Expr{}
}
