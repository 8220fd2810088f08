package envcheck

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean returns v as it is to be read, and what went wrong with it on its way
// into the environment, whatever it means: quotes that nothing stripped, line
// ends of a file, references that nothing expanded. That is warnings, or as the
// last one an error; which key has them is not known here. It does not look for
// placeholders.
func clean(v string, r *typeRule, p Policy) (text string, found []Diagnostic) {
	say := func(c Code, reason Reason, h Handling) (stop bool) {
		if h == AsWarn || h == AsError {
			found = append(found, Diagnostic{Code: c, Level: h.level(), Reason: reason})
		}
		return h == AsError
	}
	switch {
	case !utf8.ValidString(v):
		say(EnvInvalidUTF8, "", AsError)
		return v, found
	case strings.HasPrefix(v, "\ufeff"):
		say(EnvBOM, "", AsError)
		return v, found
	}
	if code, reason := surrounded(v, r); code != "" {
		if say(code, reason, p.Whitespace) {
			return v, found
		}
		v = strings.TrimFunc(v, blank)
	}
	if strings.ContainsFunc(v, func(c rune) bool { return c == 0 || unicode.IsControl(c) && !r.is(lines) }) {
		say(EnvControlCharacter, "", AsError)
		return v, found
	}
	if !r.is(open) && (strings.HasPrefix(v, "tcp://") || strings.HasPrefix(v, "udp://")) {
		say(EnvServiceLink, "", AsError)
		return v, found
	}
	if unexpanded(v) && say(EnvUnexpandedReference, "", p.References) {
		return v, found
	}
	if inner, reason, ok := unquoted(v); ok && p.Quotes != NotAtAll {
		if !say(EnvQuotedValue, reason, p.Quotes) {
			v = inner
		}
	}
	return v, found
}

// surrounded finds white space around v. Of a type with lines a line break at
// an end is none.
func surrounded(v string, r *typeRule) (Code, Reason) {
	if r.is(lines) {
		if inner := strings.Trim(v, "\r\n"); inner != "" {
			v = inner
		}
	}
	trimmed := strings.TrimRight(v, "\r\n")
	switch {
	case v == "":
	case strings.TrimFunc(v, blank) == "":
		return EnvSurroundingSpace, ""
	case trimmed != v && strings.HasSuffix(v, "\r"):
		return EnvTrailingNewline, CR
	case trimmed != v:
		return EnvTrailingNewline, LF
	case strings.TrimFunc(v, blank) != v:
		return EnvSurroundingSpace, ""
	}
	return "", ""
}

// blank also counts the zero-width space, which Unicode does not.
func blank(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' }

// unquoted is what stands in the quotes around v, when there are some.
func unquoted(v string) (inner string, _ Reason, ok bool) {
	const typographic = "\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb"
	first, n := utf8.DecodeRuneInString(v)
	last, m := utf8.DecodeLastRuneInString(v)
	if m == len(v) {
		return "", "", false
	}
	inner = v[n : len(v)-m]
	switch {
	case first == last && (first == '"' || first == '\''):
		return inner, "", true
	case strings.ContainsRune(typographic, first) && strings.ContainsRune(typographic, last):
		return inner, Smart, true
	}
	return "", "", false
}

// unexpanded reports whether v holds ${X}, $(X) or {{ x }}.
func unexpanded(v string) bool {
	for _, marks := range [...][2]string{{"${", "}"}, {"$(", ")"}, {"{{", "}}"}} {
		if _, after, ok := strings.Cut(v, marks[0]); ok && strings.Contains(after, marks[1]) {
			return true
		}
	}
	return false
}

// standIn says how surely a value only stands for one.
type standIn uint8

const (
	notPlaceholder standIn = iota
	maybe                  // a word that may be meant where a value is not needed
	surely
)

// placeholder looks at the whole value.
func placeholder(v string) standIn {
	v = strings.ToLower(v)
	switch v {
	case "null", "none", "undefined":
		return maybe
	case "xxx", "xxxx", "todo", "tbd", "fixme":
		return surely
	}
	if strings.HasPrefix(v, "<") && strings.HasSuffix(v, ">") {
		return surely
	}
	for _, start := range [...]string{"changeme", "change-me", "change_me", "replace-me", "replace_me", "replaceme", "your-", "your_"} {
		if strings.HasPrefix(v, start) {
			return surely
		}
	}
	return notPlaceholder
}
