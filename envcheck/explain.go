package envcheck

import (
	_ "embed"
	"strings"
)

// pages is one Markdown section for each code.
//
//go:embed codes.md
var pages string

// Explain returns the page of a code: what it means, why it happens and what
// to do.
func Explain(code string) (page string, ok bool) {
	if !Code(code).valid() {
		return "", false
	}
	_, after, ok := strings.Cut(pages, "\n## "+code+"\n")
	if !ok {
		return "", false
	}
	page, _, _ = strings.Cut(after, "\n## ")
	return code + "\n" + strings.TrimRight(page, "\n") + "\n", true
}
