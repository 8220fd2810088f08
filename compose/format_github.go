package compose

import (
	"io"
	"strconv"
	"strings"
)

// githubLevels are the workflow commands for the severities.
var githubLevels = map[Severity]string{Error: "error", Warn: "warning", Info: "notice"}

// WriteGitHub writes the findings as workflow commands, which GitHub shows
// beside the lines of a change. Suppressed findings are not shown.
func WriteGitHub(w io.Writer, r Report) error {
	var b strings.Builder
	for _, f := range r.Findings {
		if f.Suppressed != "" {
			continue
		}
		b.WriteString("::" + githubLevels[f.Severity] + " file=" + githubProperty.Replace(slashed(f.Position.File)))
		if f.Position.Line > 0 {
			b.WriteString(",line=" + strconv.Itoa(f.Position.Line))
		}
		if f.Position.Column > 0 {
			b.WriteString(",col=" + strconv.Itoa(f.Position.Column))
		}
		b.WriteString(",title=" + githubProperty.Replace(strings.TrimSpace(f.Rule+" "+f.Path)))
		b.WriteString("::" + githubData.Replace(f.text()) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// What workflow commands are escaped by (GitHub, actions/toolkit, command.ts).
var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// text is all that a finding says beside where it is.
func (f Finding) text() string {
	text := f.Message
	if f.Code != "" {
		text += " (" + f.Code + ")"
	}
	if f.Fix != "" {
		text += "\nfix: " + f.Fix
	}
	return text
}
