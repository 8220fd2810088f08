package envcheck

import (
	"go.yaml.in/yaml/v3"
)

// maxExpanded bounds how many nodes a file's aliases may add to its own.
const maxExpanded = 20_000

// maxMerging bounds how deep merge keys stand in what they merge: one may even
// merge itself.
const maxMerging = 64

// count is the number of nodes at n, aliases not followed.
func count(n *yaml.Node) int {
	total := 1
	for _, child := range n.Content {
		total += count(child)
	}
	return total
}

// resolve follows an alias, and counts, since aliases of aliases can expand
// without end. Behind the bound everything is empty.
func (l *loader) resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if l.nodes++; l.nodes > l.maxNodes {
		l.fault(n, ContractSyntax, TooLarge)
		l.stuck = true
		return &yaml.Node{Line: n.Line, Column: n.Column}
	}
	return n
}

// scalar is the text at n, which must not be null.
func (l *loader) scalar(n *yaml.Node) (string, bool) {
	n = l.resolve(n)
	switch {
	case n.Kind != yaml.ScalarNode:
		l.fault(n, ContractBadValue, NotAText)
	case n.Tag == "!!null":
		l.fault(n, ContractBadValue, NullValue)
	default:
		return n.Value, true
	}
	return "", false
}

type pair struct {
	name       string
	key, value *yaml.Node
}

// mapping is the pairs at n in order, then those that merge keys bring.
func (l *loader) mapping(n *yaml.Node) ([]pair, bool) {
	n = l.resolve(n)
	if n.Kind != yaml.MappingNode {
		l.fault(n, ContractBadValue, NotAMapping)
		return nil, false
	}
	l.nodes += len(n.Content) / 2 // its keys, which nothing resolves
	var pairs, merged []pair
	seen := make(map[string]bool, len(n.Content)/2)
	pairs = make([]pair, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind == yaml.ScalarNode && key.Tag == "!!merge":
			more := l.merge(value)
			l.nodes += len(more) // a chain of merges copies them at each step
			merged = append(merged, more...)
		case key.Kind != yaml.ScalarNode:
			l.fault(key, ContractBadValue, NotAText)
		case seen[key.Value]:
			l.fault(key, ContractDuplicateKey, "")
		default:
			seen[key.Value] = true
			pairs = append(pairs, pair{key.Value, key, value})
		}
	}
	for _, m := range merged {
		if !seen[m.name] {
			seen[m.name] = true
			pairs = append(pairs, m)
		}
	}
	return pairs, true
}

// merge is the pairs that a merge key brings: of a mapping or of a list of them.
func (l *loader) merge(n *yaml.Node) []pair {
	n = l.resolve(n)
	if l.merging++; l.merging > maxMerging {
		l.fault(n, ContractSyntax, TooDeep)
		l.stuck = true
		return nil
	}
	defer func() { l.merging-- }()
	if n.Kind != yaml.SequenceNode {
		pairs, _ := l.mapping(n)
		return pairs
	}
	var all []pair
	for _, item := range n.Content {
		pairs, _ := l.mapping(item)
		all = append(all, pairs...)
	}
	return all
}

// list is the nodes of the list at n.
func (l *loader) list(n *yaml.Node) ([]*yaml.Node, bool) {
	n = l.resolve(n)
	if n.Kind != yaml.SequenceNode {
		l.fault(n, ContractBadValue, NotAList)
		return nil, false
	}
	return n.Content, true
}

// isKind looks whether a mapping, say, stands at n, where there is a choice.
func isKind(n *yaml.Node, k yaml.Kind) bool {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n.Kind == k
}
