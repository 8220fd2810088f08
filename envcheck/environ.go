package envcheck

import "strings"

// Environ is a process environment as [os.Environ] returns it.
type Environ []string

// Lookup returns the value of key, and whether it is set to something: an
// empty value counts as unset. Of an entry that stands twice the first counts,
// as for Go, Python, Node and libc.
func (e Environ) Lookup(key Key) (Secret, bool) {
	for _, entry := range e {
		if name, value, ok := strings.Cut(entry, "="); ok && name == string(key) {
			return Seal(value), value != ""
		}
	}
	return Secret{}, false
}
