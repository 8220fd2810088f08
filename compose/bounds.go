package compose

import (
	"bytes"

	"go.yaml.in/yaml/v4"
)

// What is beyond these bounds is refused. The YAML package itself builds all
// nodes of a file first, at some 400 bytes each, and compose-go takes a time
// that grows with the square of the depth.
const (
	maxMarks = 2 * maxNodes // of one file, before it is parsed
	maxKeys  = 5000         // of one mapping: the YAML package compares each with each
	maxDepth = 100          // of one file's nodes, and of the variables in a text
	maxGrown = 1 << 20      // bytes of a text with its variables replaced
)

// marks counts what begins nodes in a text: line ends, and the signs of lists
// and mappings. There are seldom more nodes. Comments do not count.
func marks(text []byte) int {
	n := 0
	for line := range bytes.Lines(text) {
		if trimmed := bytes.TrimLeft(line, " \t"); len(trimmed) > 0 && trimmed[0] == '#' {
			continue
		}
		n++
		for i, c := range line {
			switch c {
			case ',', '[', '{':
				n++
			case ':', '-', '?':
				if i+1 == len(line) || bytes.IndexByte([]byte(" \t\r\n"), line[i+1]) >= 0 {
					n++
				}
			}
		}
	}
	return n
}

// tooMuch is the first node that is nested too deep or has too many keys, and
// which of it.
func tooMuch(nodes []*yaml.Node) (at *yaml.Node, why phrase) {
	var visit func(n *yaml.Node, depth int)
	visit = func(n *yaml.Node, depth int) {
		switch {
		case at != nil:
			return
		case depth > maxDepth:
			at, why = n, "this is nested more than 100 deep"
			return
		case n.Kind == yaml.MappingNode && len(n.Content) > 2*maxKeys:
			at, why = n, "this has more than 5,000 keys"
			return
		}
		for _, below := range n.Content {
			visit(below, depth+1)
		}
	}
	for _, n := range nodes {
		visit(n, 0)
	}
	return at, why
}

// nested is how deep the variables of a text are in each other's defaults, at
// most.
func nested(s string) int {
	depth, most := 0, 0
	for i := range len(s) {
		switch {
		case s[i] == '{' && i > 0 && s[i-1] == '$':
			depth++
			most = max(most, depth)
		case s[i] == '}' && depth > 0:
			depth--
		}
	}
	return most
}

// grown is how long the values of variables are together.
func (e environment) grown(all []variable) int {
	n := 0
	for _, v := range all {
		n += len(e[v.name])
	}
	return n
}
