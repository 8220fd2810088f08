package compose

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
)

// node is something in the merged model, which may be absent.
type node struct {
	stack *stack
	path  path
	value any // nil: absent, or null
}

// at is what stands below n under names.
func (n node) at(names ...string) node {
	for _, name := range names {
		below := node{stack: n.stack, path: n.path.with(name)}
		switch v := n.value.(type) {
		case map[string]any:
			below.value = v[name]
		case []any:
			if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v) {
				below.value = v[i]
			}
		}
		n = below
	}
	return n
}

// exists reports whether n is there and not null.
func (n node) exists() bool { return n.value != nil }

// or is n where it exists, or else another node.
func (n node) or(otherwise node) node {
	if n.exists() {
		return n
	}
	return otherwise
}

// has reports whether there is an entry of that name, be it null.
func (n node) has(name string) bool {
	m, ok := n.value.(map[string]any)
	if !ok {
		return false
	}
	_, ok = m[name]
	return ok
}

// names are the keys of a mapping, sorted.
func (n node) names() []string {
	m, _ := n.value.(map[string]any)
	return slices.Sorted(maps.Keys(m))
}

// each are the elements of a list, or the entries of a mapping by name.
func (n node) each() []node {
	var all []node
	switch v := n.value.(type) {
	case []any:
		for i := range v {
			all = append(all, n.at(strconv.Itoa(i)))
		}
	case map[string]any:
		for _, name := range n.names() {
			all = append(all, n.at(name))
		}
	}
	return all
}

// text is the scalar at n, with its variables and without.
func (n node) text() text {
	switch v := n.value.(type) {
	case nil, map[string]any, []any:
		return text{known: true}
	case string:
		return n.stack.environment.interpolate(v)
	default:
		s := fmt.Sprint(v)
		return text{symbolic: s, effective: s, known: true}
	}
}

// isText reports whether n is a scalar.
func (n node) isText() bool {
	switch n.value.(type) {
	case nil, map[string]any, []any:
		return false
	}
	return true
}

// texts are the scalars of a list, or the one scalar.
func (n node) texts() []text {
	if n.isText() {
		return []text{n.text()}
	}
	var all []text
	for _, item := range n.each() {
		all = append(all, item.text())
	}
	return all
}

// truth is a bool. It is not known when a variable that is not known decides.
func (n node) truth() (value, known bool) {
	t := n.text()
	switch strings.ToLower(t.effective) {
	case "true", "yes", "on", "y":
		return true, true
	}
	return false, t.known
}

// integer is a whole number, or otherwise when n is absent.
func (n node) integer(otherwise int) (value int, known bool) {
	if !n.exists() {
		return otherwise, true
	}
	t := n.text()
	i, err := strconv.Atoi(t.effective)
	return i, t.known && err == nil
}

// duration is a duration as compose reads it, or otherwise when n is absent.
func (n node) duration(otherwise time.Duration) (value time.Duration, known bool) {
	if !n.exists() {
		return otherwise, true
	}
	t := n.text()
	var d types.Duration
	err := d.DecodeMapstructure(t.effective)
	return time.Duration(d), t.known && err == nil
}

// position is where n is written, or what it would stand in.
func (n node) position() Position {
	at, ok := n.stack.index.find(n.path)
	if !ok {
		return Position{File: n.stack.files[0]}
	}
	return at.Position
}
