package compose

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// comment is how a finding is ignored in a file: on its line or the line above
// it, or with ignore-file anywhere in the file.
var comment = regexp.MustCompile(`#\s*sg:ignore(-file)?\s+(SG\d{3}(?:\s*,\s*SG\d{3})*)(?:\s+--\s*(\S.*?))?\s*$`)

// meant is a comment that is one for this program, be it well formed or not.
var meant = regexp.MustCompile(`#\s*sg:ignore`)

// suppression is one reason not to count a finding.
type suppression struct {
	Ignore
	at      Position
	comment bool // it stands in a file of the stack
	line    int  // that it is for; 0 is the whole file
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
	// There may be as many comments as lines, and findings.
	at := map[string][]int{}
	for i, each := range u.all {
		at[each.place()] = append(at[each.place()], i)
	}
	for i := range s.findings {
		f := &s.findings[i]
		here := suppression{Ignore: Ignore{Rule: f.Rule}, at: f.Position, comment: true, line: f.Position.Line}
		file, config := here, here
		file.line, config.comment = 0, false
		for _, j := range slices.Concat(at[config.place()], at[file.place()], at[here.place()]) {
			if u.all[j].suppresses(f) {
				u.all[j].used = true
				f.Suppressed, f.outside = u.all[j].Reason, !u.all[j].comment
			}
		}
	}
}

// place tells apart where suppressions of a rule are for.
func (u suppression) place() string {
	if !u.comment {
		return u.Rule
	}
	return u.Rule + " " + strconv.Itoa(u.line) + " " + u.at.File
}

// read finds the comments of a file. One behind something is for its own line,
// one on a line of its own for the next line that is none.
func (u *suppressions) read(file string, text []byte) {
	if !bytes.Contains(text, []byte("sg:ignore")) {
		return
	}
	n, above := 0, len(u.all)
	for line := range strings.Lines(string(text)) {
		n++
		at := Position{file, n, utf8.RuneCountInString(line[:max(strings.Index(line, "#"), 0)]) + 1}
		line = strings.TrimSpace(line)
		alone := strings.HasPrefix(line, "#")
		if !alone && line != "" {
			for i := above; i < len(u.all); i++ {
				if u.all[i].line < 0 {
					u.all[i].line = n
				}
			}
			above = len(u.all)
		}
		m := comment.FindStringSubmatch(line)
		switch {
		case m == nil && meant.MatchString(line):
			u.all = append(u.all, suppression{at: at, comment: true})
			continue
		case m == nil:
			continue
		}
		target := n
		if m[1] != "" {
			target = 0
		} else if alone {
			target = -1 // is yet to come
		}
		for id := range strings.SplitSeq(m[2], ",") {
			u.all = append(u.all, suppression{Ignore: Ignore{Rule: strings.TrimSpace(id), Reason: m[3]}, at: at, comment: true, line: target})
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
	return u.at.File == f.Position.File && (u.line == 0 || u.line == f.Position.Line)
}

// unused are findings about suppressions that have no reason or no use.
func (u *suppressions) unused() []Finding {
	s := &stack{}
	for _, each := range u.all {
		switch {
		case each.Rule == "":
			s.say(badSuppression, each.at, nil, "this ignores nothing: it names no rule").fixed("write # sg:ignore SGnnn -- reason")
		case each.Reason == "":
			s.say(badSuppression, each.at, nil, "%s is not ignored: no reason is given", name(each.Rule))
		case !each.used:
			s.say(badSuppression, each.at, nil, "nothing is found that ignoring %s here would be for", name(each.Rule)).fixed("remove it")
		}
	}
	return s.findings
}
