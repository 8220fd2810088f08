package compose

import "go.yaml.in/yaml/v4"

// findTwice finds keys that a mapping of the file has twice, which compose
// takes no part of. Its own message says that at no position.
func (s *stack) findTwice(d *document) {
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		if n.Kind == yaml.MappingNode {
			seen := make(map[string]bool, len(n.Content)/2)
			for i := 0; i+1 < len(n.Content); i += 2 {
				key := n.Content[i]
				if key.Kind == yaml.ScalarNode && seen[key.Value] {
					s.say(notCompose, Position{d.name, key.Line, key.Column}, nil, "this key is written twice")
				}
				seen[key.Value] = seen[key.Value] || key.Kind == yaml.ScalarNode
			}
		}
		if n.Kind != yaml.AliasNode {
			for _, below := range n.Content {
				visit(below)
			}
		}
	}
	for _, n := range d.nodes {
		visit(n)
	}
}
