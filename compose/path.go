package compose

import (
	"slices"
	"strings"
)

// path is where something stands in a model: services, worker, image.
type path []string

func (p path) with(names ...string) path { return append(slices.Clip(p), names...) }

// key is p as the key of a map.
func (p path) key() string { return strings.Join(p, "\x1f") }

// String is the path as a finding shows it. From a name on that could be
// something else, it is cut off.
func (p path) String() string {
	var b strings.Builder
	for i, s := range p {
		n := nameOf(s)
		if i == 3 && p[2] == "environment" {
			n = keyName(s)
		}
		if n == hidden {
			break
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(string(n))
	}
	return b.String()
}
