package compose

import (
	"cmp"
	"slices"
	"strings"
)

// A Severity says how bad a finding is.
type Severity string

// The severities, the worst first.
const (
	Error Severity = "error"   // it will fail, or fail at the worst moment
	Warn  Severity = "warning" // it can fail, or cannot be judged
	Info  Severity = "info"    // good to know
)

// severities orders them.
var severities = [...]Severity{Error, Warn, Info}

// AtLeast reports whether s is as bad as least, or worse.
func (s Severity) AtLeast(least Severity) bool {
	return slices.Index(severities[:], s) <= slices.Index(severities[:], least)
}

// A Position is a place in a file. Lines and columns count from 1; 0 is the
// file as a whole. File is the name that the user or a compose file gave it.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// A Finding is one thing that a rule has to say. It holds names of keys,
// services and files, and no value.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Stack    string   `json:"stack,omitempty"` // as startgate.compose.yaml names it
	Position Position `json:"position"`
	Path     string   `json:"path,omitempty"` // of the key, as in services.worker.environment
	Service  string   `json:"service,omitempty"`
	// Code is the diagnostic that the gate would print at its start, "" when
	// the finding is not of the contract.
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
	// Unjudged means that because of this something could not be judged at all.
	Unjudged bool `json:"unjudged,omitempty"`
	// Suppressed is the reason that was given for ignoring the finding.
	Suppressed string `json:"suppressed,omitempty"`
	outside    bool   // that was in the configuration
}

// A Case is one rule held against one service, or "" for a whole stack.
type Case struct {
	Rule, Stack, Service, File string
}

// A Report is what a check found.
type Report struct {
	// Findings are in the order of their positions. Suppressed ones are among
	// them.
	Findings []Finding
	// Cases are all that was looked at, also what passed.
	Cases []Case
	// Files are the files that were given, or that the configuration names.
	Files []string
}

// Failed reports whether there is a finding as bad as least, or worse, that is
// not suppressed.
func (r Report) Failed(least Severity) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Suppressed == "" && f.Severity.AtLeast(least) })
}

// Unjudged reports whether something could not be judged.
func (r Report) Unjudged() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Suppressed == "" && f.Unjudged })
}

// count is how many findings there are of a severity that are not suppressed.
func (r Report) count(s Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Suppressed == "" && f.Severity == s {
			n++
		}
	}
	return n
}

// sort puts the findings in the order of the files as given, then positions.
func (r *Report) sort() {
	order := func(f Finding) int {
		if i := slices.Index(r.Files, f.Position.File); i >= 0 {
			return i
		}
		return len(r.Files)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(
			strings.Compare(a.Stack, b.Stack),
			cmp.Compare(order(a), order(b)),
			strings.Compare(a.Position.File, b.Position.File),
			cmp.Compare(a.Position.Line, b.Position.Line),
			cmp.Compare(a.Position.Column, b.Position.Column),
			strings.Compare(a.Rule, b.Rule),
			strings.Compare(a.Service, b.Service),
			strings.Compare(a.Message, b.Message),
		)
	})
	r.Findings = slices.Compact(r.Findings)
}
