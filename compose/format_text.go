package compose

import (
	"fmt"
	"io"
	"strings"
)

// WriteText writes the findings for people: one line each and one with what to
// do, then how many there were. quiet leaves out remarks and the last line.
// Suppressed findings are not shown.
func WriteText(w io.Writer, r Report, quiet, color bool) error {
	var b strings.Builder
	stack := ""
	for _, f := range r.Findings {
		if f.Suppressed != "" || quiet && f.Severity == Info {
			continue
		}
		if f.Stack != stack {
			stack = f.Stack
			fmt.Fprintf(&b, "stack %s\n", stack)
		}
		b.WriteString(f.Position.String())
		b.WriteString(": ")
		b.WriteString(paint(string(f.Severity), colors[f.Severity], color))
		b.WriteString(" " + f.Rule)
		if f.Path != "" {
			b.WriteString(" " + f.Path)
		}
		b.WriteString(": " + f.Message)
		if f.Code != "" {
			b.WriteString(" (" + f.Code + ")")
		}
		b.WriteByte('\n')
		if f.Fix != "" {
			b.WriteString("    fix: " + f.Fix + "\n")
		}
	}
	if !quiet {
		b.WriteString(r.summary() + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// String is the position as editors and terminals read it: file:line:column.
func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// summary is how many findings there are of each severity.
func (r Report) summary() string {
	return plural(r.count(Error), "error") + ", " + plural(r.count(Warn), "warning") + ", " + plural(r.count(Info), "remark")
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// colors are the SGR parameters of the severities (ECMA-48).
var colors = map[Severity]string{Error: "31", Warn: "33", Info: "36"}

func paint(text, sgr string, color bool) string {
	if !color {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}
