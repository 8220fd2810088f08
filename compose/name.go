package compose

import (
	"regexp"
	"strings"
)

// name is a word of a compose file that may be printed: the name of a service,
// a key, a network. Nothing else of a file is ever turned into one.
type name string

// printable is what a name looks like. Compose itself takes no other ones for
// services (compose-spec.json, patternProperties).
var printable = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,128}$`)

// variableName is what the name of an environment variable looks like. A
// wrapped line of a base64 secret, which --env-file makes a name of, does not.
var variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]{0,63}$`)

// hidden stands for a name that could be something else.
const hidden name = "(name hidden)"

func nameOf(s string) name {
	if !printable.MatchString(s) {
		return hidden
	}
	return name(s)
}

func keyName(s string) name {
	if !variableName.MatchString(s) {
		return hidden
	}
	return name(s)
}

// phrase is a constant text of the program, in which %s stands for a name.
type phrase string

// with puts names in for the phrase's marks, one after the other.
func (p phrase) with(names ...name) string {
	var b strings.Builder
	rest := string(p)
	for _, n := range names {
		before, after, found := strings.Cut(rest, "%s")
		if !found {
			break
		}
		b.WriteString(before)
		b.WriteString(string(n))
		rest = after
	}
	b.WriteString(rest)
	return b.String()
}

// list joins names for a sentence.
func list(names []name) name {
	texts := make([]string, len(names))
	for i, n := range names {
		texts[i] = string(n)
	}
	return name(strings.Join(texts, ", "))
}
