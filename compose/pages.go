package compose

import (
	_ "embed"
	"strings"
)

// pages has a section for each rule, headed by its identifier.
//
//go:embed rules.md
var pages string

// Explain returns the page of a rule: what it finds, why that matters, an
// example of it with what is printed, and one without.
func Explain(id string) (page string, ok bool) {
	_, rest, ok := strings.Cut(pages, "\n## "+id+": ")
	if !ok {
		return "", false
	}
	page, _, _ = strings.Cut(rest, "\n## ")
	page, _, _ = strings.Cut(page, "\n# ")
	page, _, _ = strings.Cut(page, "\n<!--")
	return id + ": " + strings.TrimSpace(page) + "\n", true
}
