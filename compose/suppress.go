package compose

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// comment is how a finding is ignored in a file: on its line or the line above
// it, or with ignore-file anywhere in the file.
var comment = regexp.MustCompile(`#\s*sg:ignore(-file)?\s+(SG\d{3}(?:\s*,\s*SG\d{3})*)(?:\s+--\s*(\S.*?))?\s*$`)

// suppression is one reason not to count a finding.
type suppression struct {
	Ignore
	at      Position
	comment bool // it stands in a file of the stack, and is for its own line and the next
	whole   bool // or for the whole file
	used    bool
}

// suppressions are those of the configuration and of all files read.
type suppressions struct {
	all   []suppression
	files []string // whose comments are among them
}

func newSuppressions(c *Config) *suppressions {
	u := &suppressions{}
	for i, ignore := range c.Ignore {
		at := Position{File: c.Source}
		if c.index != nil {
			if w, ok := c.index.find(path{"ignore", strconv.Itoa(i)}); ok {
				at = w.Position
			}
		}
		u.all = append(u.all, suppression{Ignore: ignore, at: at})
	}
	return u
}

// apply marks the stack's findings that are suppressed.
func (u *suppressions) apply(s *stack) {
	for _, file := range sortedKeys(s.texts) {
		if !slices.Contains(u.files, file) {
			u.files = append(u.files, file)
			u.read(file, s.texts[file])
		}
	}
	for i := range s.findings {
		for j := range u.all {
			if f := &s.findings[i]; u.all[j].suppresses(f) {
				u.all[j].used = true
				f.Suppressed, f.outside = u.all[j].Reason, !u.all[j].comment
			}
		}
	}
}

// read finds the comments of a file.
func (u *suppressions) read(file string, text []byte) {
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		m := comment.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		for id := range strings.SplitSeq(m[2], ",") {
			u.all = append(u.all, suppression{
				Ignore: Ignore{Rule: strings.TrimSpace(id), Reason: m[3]},
				at:     Position{file, n, strings.IndexByte(line, '#') + 1}, comment: true, whole: m[1] != "",
			})
		}
	}
}

// suppresses reports whether the finding is one that is not to be counted.
func (u suppression) suppresses(f *Finding) bool {
	if u.Rule != f.Rule || u.Reason == "" {
		return false
	}
	if !u.comment {
		return (u.Service == "" || u.Service == f.Service) && (u.Stack == "" || u.Stack == f.Stack)
	}
	return u.at.File == f.Position.File && (u.whole || f.Position.Line == u.at.Line || f.Position.Line == u.at.Line+1)
}

// unused are findings about suppressions that have no reason or no use.
func (u *suppressions) unused() []Finding {
	s := &stack{}
	for _, each := range u.all {
		switch {
		case each.Reason == "":
			s.say(badSuppression, each.at, nil, "%s is not ignored: no reason is given", name(each.Rule))
		case !each.used:
			s.say(badSuppression, each.at, nil, "nothing is found that ignoring %s here would be for", name(each.Rule)).fixed("remove it")
		}
	}
	return s.findings
}
