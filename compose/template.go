package compose

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"maps"
	"strings"

	"github.com/compose-spec/compose-go/v2/template"
)

// form is how a variable is written: what happens when it is unset.
type form string

// The forms (Compose specification, "Interpolation").
const (
	bare         form = ""   // blank, with a warning
	orDefault    form = "-"  // the default when unset
	orDefaultAny form = ":-" // the default when unset or empty
	mustBeSet    form = "?"  // an error when unset; empty passes
	mustNotBlank form = ":?" // an error when unset or empty
	ifSet        form = "+"
	ifNotBlank   form = ":+"
)

// variable is one ${…} of a text.
type variable struct {
	name string
	form form
	rest string // the default, or the text of the error
}

// variables takes apart a text as template.DefaultPattern does, outermost
// variables first and those of their defaults behind them. Of a text with more
// than maxVariables it tells none.
func variables(s string) []variable {
	if strings.Count(s, "$") > maxVariables {
		return nil
	}
	var found []variable
	for {
		i := strings.IndexByte(s, '$')
		if i < 0 || i+1 == len(s) {
			return found
		}
		s = s[i+1:]
		switch {
		case s[0] == '$':
			s = s[1:]
		case s[0] == '{':
			end := closing(s)
			if end < 0 {
				return found
			}
			inner := s[1:end]
			s = s[end+1:]
			n := wordLength(inner)
			if n == 0 {
				continue
			}
			v := variable{name: inner[:n], rest: inner[n:]}
			for _, f := range [...]form{orDefaultAny, mustNotBlank, ifNotBlank, orDefault, mustBeSet, ifSet} {
				if rest, ok := strings.CutPrefix(v.rest, string(f)); ok {
					v.form, v.rest = f, rest
					break
				}
			}
			found = append(found, v)
			found = append(found, variables(v.rest)...)
		default:
			n := wordLength(s)
			if n > 0 {
				found = append(found, variable{name: s[:n]})
			}
			s = s[n:]
		}
	}
}

// closing is the index of the brace that closes the one at the start of s.
func closing(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func wordLength(s string) int {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return i
		}
	}
	return len(s)
}

// text is a scalar of the merged model.
type text struct {
	symbolic  string // with its variables
	effective string // without; a variable that is not known here left its mark
	known     bool   // no variable left a mark
	malformed bool   // compose cannot read its variables
	variables []variable
}

// markStart begins the mark of an unknown variable. Marks are made of what any
// part of a URL or a name may hold, and equal for equal variables.
const markStart = "sgunknown"

func mark(variable string) string {
	h := fnv.New32a()
	h.Write([]byte(variable))
	return fmt.Sprintf("%s%08x", markStart, h.Sum32())
}

// marked reports whether a part of an effective text is not known.
func marked(s string) bool { return strings.Contains(s, markStart) }

// environment is what interpolation sees.
type environment map[string]string

// maxVariables bounds how many variables a text may have. One with more is not
// known: nested, they would take time by the cube of their number.
const maxVariables = 100

// marking is e with marks for the variables that an env_file is made of and that
// are unset: the deployment may have them.
func (e environment) marking(content []byte) environment {
	if !bytes.ContainsRune(content, '$') {
		return e
	}
	own, all := linesOf(content), maps.Clone(e)
	for line := range strings.Lines(string(content)) {
		for _, v := range variables(line) {
			if _, set := all[v.name]; !set && own[v.name] == 0 && v.form == bare {
				all[v.name] = mark(v.name)
			}
		}
	}
	return all
}

// interpolate is the text with its variables replaced. A variable that is
// unset and has no default is not known: the file asks for it, or means it to
// come from wherever the stack is deployed.
func (e environment) interpolate(s string) text {
	t := text{symbolic: s, effective: s, known: true}
	if !strings.Contains(s, "$") {
		return t
	}
	if strings.Count(s, "$") > maxVariables {
		t.effective, t.known = mark(s), false
		return t
	}
	t.variables = variables(s)
	var unknown map[string]string
	for _, v := range t.variables {
		value, set := e[v.name]
		if set && value == "" && v.form == mustNotBlank {
			set = false
		}
		if !set && (v.form == bare || v.form == mustBeSet || v.form == mustNotBlank) {
			if unknown == nil {
				unknown = map[string]string{}
			}
			unknown[v.name] = mark(v.name)
		}
	}
	lookup := func(name string) (string, bool) {
		if m, ok := unknown[name]; ok {
			return m, true
		}
		value, ok := e[name]
		return value, ok
	}
	effective, err := template.SubstituteWithOptions(s, lookup, template.WithoutLogging)
	if err != nil {
		t.known, t.malformed = false, true
		return t
	}
	t.effective = effective
	t.known = !marked(effective)
	return t
}
