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
	differs map[string]bool // names with two different values
	names   []string        // in order
}

// indexOf indexes env. raw, when there is one, is where repeated names are
// looked for.
func indexOf(env, raw Environ) index {
	x := index{first: make(map[string]string, len(env))}
	for _, entry := range env {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			continue
		}
		if first, ok := x.first[name]; ok {
			x.repeat(name, first != value)
			continue
		}
		x.first[name] = value
		x.names = append(x.names, name)
	}
	seen := make(map[string]string, len(raw))
	for _, entry := range raw {
		name, value, _ := strings.Cut(entry, "=")
		if first, ok := seen[name]; ok {
			x.repeat(name, first != value)
			continue
		}
		seen[name] = value
	}
	return x
}

func (x *index) repeat(name string, differs bool) {
	if !differs {
		return
	}
	if x.differs == nil {
		x.differs = map[string]bool{}
	}
	x.differs[name] = true
}
