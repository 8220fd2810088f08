package compose

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// index is where each path of a stack is written: a tree of their names.
type index struct {
	root   spot
	bases  map[string]path // a service's path, joined, to that of the one it extends
	budget int             // how many nodes may still be visited
	excess excess
}

// spot is one path.
type spot struct {
	places []written // of several the last one counts
	below  map[string]*spot
}

// written is one place in a file at which a path is written.
type written struct {
	Position
	key    *yaml.Node // nil for the element of a list
	value  *yaml.Node
	merged bool // a merge key or an alias brings it in
}

// What is beyond these bounds is refused. Stacks of 10,000 lines are far within
// them, and compose-go takes a time by the square of each.
const (
	maxNodes   = 50_000 // of a stack, aliases followed
	maxNesting = 40     // levels of one file
	maxEntries = 5_000  // of one mapping or list
)

// excess is the first node beyond a bound, and which one.
type excess struct {
	at   *yaml.Node
	says phrase
}

func newIndex() *index { return &index{bases: map[string]path{}, budget: maxNodes} }

// add indexes a document below root. It reports whether that was within bounds;
// else excess says what was not.
func (x *index) add(file string, root path, n *yaml.Node) bool {
	s := &x.root
	for _, name := range root {
		s = s.child(name)
	}
	w := walker{index: x, file: file}
	w.walk(s, "", n, false)
	return x.excess.at == nil
}

// find is where p is written, or else what it would stand in.
func (x *index) find(p path) (written, bool) {
	for ; len(p) > 0; p = p[:len(p)-1] {
		if at, ok := x.exact(p); ok {
			return at, true
		}
	}
	return written{}, false
}

// exact is where p itself is written, be it in a service that is extended.
func (x *index) exact(p path) (written, bool) {
	for range 16 { // compose-go refuses circles
		if s := x.root.at(p); s != nil && len(s.places) > 0 {
			return s.places[len(s.places)-1], true
		}
		i := slices.Index(p, "services") + 2
		if i < 2 || i > len(p) {
			break
		}
		base, ok := x.bases[p[:i].key()]
		if !ok {
			break
		}
		p = base.with(p[i:]...)
	}
	return written{}, false
}

func (s *spot) at(p path) *spot {
	for _, name := range p {
		if s = s.below[name]; s == nil {
			return nil
		}
	}
	return s
}

func (s *spot) child(name string) *spot {
	if s.below == nil {
		s.below = map[string]*spot{}
	}
	if s.below[name] == nil {
		s.below[name] = &spot{}
	}
	return s.below[name]
}

// forget drops what merge keys of a file brought in, here and below.
func (s *spot) forget(file string) {
	s.places = slices.DeleteFunc(s.places, func(at written) bool { return at.merged && at.File == file })
	for _, below := range s.below {
		below.forget(file)
	}
}

// walker walks one document.
type walker struct {
	*index
	file  string
	depth int
}

// walk indexes n, which is at s under the given name.
func (w *walker) walk(s *spot, name string, n *yaml.Node, merged bool) {
	w.budget--
	switch {
	case w.excess.at != nil:
		return
	case w.budget < 0:
		w.excess = excess{n, "the files have more than 50,000 nodes, aliases followed"}
		return
	case w.depth >= maxNesting:
		w.excess = excess{n, "this lies deeper than 40 levels"}
		return
	case len(n.Content) > 2*maxEntries, n.Kind == yaml.SequenceNode && len(n.Content) > maxEntries:
		w.excess = excess{n, "this has more than 5,000 entries"}
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	for n.Kind == yaml.AliasNode {
		n, merged = n.Alias, true
	}
	switch n.Kind {
	case yaml.DocumentNode:
		for _, child := range n.Content {
			w.walk(s, name, child, merged)
		}
	case yaml.MappingNode:
		w.mapping(s, n, merged)
	case yaml.SequenceNode:
		for i, item := range n.Content {
			at := s.child(strconv.Itoa(i))
			w.put(at, nil, item, merged)
			if entry, ok := entryName(name, item); ok {
				w.put(s.child(entry), nil, item, merged)
			}
			w.walk(at, "", item, merged)
		}
	}
}

// mapping walks what merge keys bring first, since an explicit key replaces
// that whole.
func (w *walker) mapping(s *spot, n *yaml.Node, merged bool) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			w.merge(s, n.Content[i+1])
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Tag == "!!merge" || key.Kind != yaml.ScalarNode {
			continue
		}
		at := s.child(key.Value)
		if !merged && len(at.places) > 0 && at.places[len(at.places)-1].merged {
			at.forget(w.file)
		}
		w.put(at, key, value, merged)
		w.walk(at, key.Value, value, merged)
	}
}

// merge walks what a merge key names. Of several mappings the first one counts.
func (w *walker) merge(s *spot, n *yaml.Node) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.SequenceNode {
		w.walk(s, "", n, true)
		return
	}
	for _, each := range slices.Backward(n.Content) {
		w.walk(s, "", each, true)
	}
}

func (w *walker) put(s *spot, key, value *yaml.Node, merged bool) {
	at := key
	if at == nil {
		at = value
	}
	s.places = append(s.places, written{Position{w.file, at.Line, at.Column}, key, value, merged})
}

// entryName is the name that an item has in a list that is another spelling of
// a mapping.
func entryName(list string, item *yaml.Node) (string, bool) {
	if item.Kind != yaml.ScalarNode {
		return "", false
	}
	switch list {
	case "environment", "labels", "args":
		name, _, _ := strings.Cut(item.Value, "=")
		return name, true
	case "depends_on", "networks", "secrets":
		return item.Value, true
	}
	return "", false
}
