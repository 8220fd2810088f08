package envcheck

import (
	"bytes"
	"strings"
)

// Environ is a process environment as [os.Environ] returns it: NAME=VALUE.
// Entries without a name or without = are no variables and are left alone. Of
// a name that stands twice the first entry counts, as for Go, Python, Node and
// libc; dash and bash take the last.
type Environ []string

// ParseEnviron takes apart what /proc/PID/environ holds. Unlike [os.Environ],
// which drops later entries of a name, it keeps them all.
func ParseEnviron(raw []byte) Environ {
	var e Environ
	for entry := range bytes.SplitSeq(raw, []byte{0}) {
		if len(entry) > 0 {
			e = append(e, string(entry))
		}
	}
	return e
}

// Lookup returns the value of key, and whether it is set to something: an
// empty value counts as unset.
func (e Environ) Lookup(key Key) (Secret, bool) {
	for _, entry := range e {
		if name, value, ok := strings.Cut(entry, "="); ok && name == string(key) {
			return Seal(value), value != ""
		}
	}
	return Secret{}, false
}

// index is an environment by name.
type index struct {
	first   map[string]string
	names   []string // in order
	differs []string // names with two different values
}

func indexOf(env Environ) index {
	x := index{first: make(map[string]string, len(env))}
	for _, entry := range env {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			continue
		}
		switch first, again := x.first[name]; {
		case !again:
			x.first[name] = value
			x.names = append(x.names, name)
		case first != value:
			x.differs = append(x.differs, name)
		}
	}
	return x
}
