package envcheck

import (
	_ "embed"
	"slices"
	"strings"
)

// pages is one Markdown section for each code. The codes that contracts make
// have theirs under TOPIC_missing and so on, and under RULE.
//
//go:embed codes.md
var pages string

// suffixes are the ends of the codes about keys.
var suffixes = [...]string{"_missing", "_invalid", "_parse_failed"}

// Explain returns the page of a code: what it means, why it happens and what
// to do. A code that only a contract can know has the page of its end, under
// that one's name: what was typed may be anything.
func Explain(code string) (text string, ok bool) {
	if !Code(code).valid() {
		return "", false
	}
	if Code(code).known() {
		return page(code, code)
	}
	for _, s := range suffixes {
		if stem, ok := strings.CutSuffix(code, s); ok && stem != "" {
			return page("TOPIC"+s, "TOPIC"+s)
		}
	}
	return "", false
}

// Explain is [Explain] with what the contract says of the code's key or rule.
func (c *Contract) Explain(code string) (text string, ok bool) {
	var b strings.Builder
	for _, r := range c.Rules {
		if string(r.Code) == code {
			text, _ = page("RULE", code)
			b.WriteString(text)
			paragraph(&b, "Rule", r.text())
			paragraph(&b, "Doc", r.Doc)
			paragraph(&b, "Fix", string(r.Fix))
			return b.String(), true
		}
	}
	if Code(code) == c.SkipCode && !c.SkipCode.known() && c.SkipWhen != nil {
		return page(string(WorkerDisabled), code)
	}
	text, ok = Explain(code)
	for _, k := range c.Keys {
		if ok && slices.Contains(codesOf(k.Topic, k), Code(code)) {
			_, rest, _ := strings.Cut(text, "\n")
			text = code + "\n" + rest
			paragraph(&b, string(k.Key), strings.TrimSpace(k.Doc+" "+k.DocWhen))
		}
	}
	return text + b.String(), ok
}

func paragraph(b *strings.Builder, head, text string) {
	if text != "" {
		b.WriteString("\n" + head + ": " + strings.TrimSpace(text) + "\n")
	}
}

// page is the section under head, with code as its heading.
func page(head, code string) (string, bool) {
	_, after, ok := strings.Cut(pages, "\n## "+head+"\n")
	if !ok {
		return "", false
	}
	text, _, _ := strings.Cut(after, "\n## ")
	return code + "\n" + strings.TrimRight(text, "\n") + "\n", true
}

// text is a rule in the words of the language.
func (r *Rule) text() string {
	text := ""
	if r.When != nil {
		text = "when " + r.When.String() + ": "
	}
	if r.Kind == Assert {
		return text + r.Assert.String()
	}
	return text + strings.ReplaceAll(string(r.Kind), "_", " ") + " " + joinWords(r.Keys, ", ")
}
