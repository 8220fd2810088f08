package envcheck

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// hygiene finds what went wrong with a value on its way into the environment,
// whatever its type: quotes that nothing stripped, line ends of a file,
// references that nothing expanded. It returns the first fault, "" for none.
func hygiene(v string) (Code, Reason) {
	trimmed := strings.TrimRight(v, "\r\n")
	switch {
	case !utf8.ValidString(v):
		return EnvInvalidUTF8, ""
	case strings.HasPrefix(v, "\ufeff"):
		return EnvBOM, ""
	case strings.TrimFunc(v, blank) == "":
		return EnvSurroundingSpace, ""
	case trimmed != v && strings.HasSuffix(v, "\r"):
		return EnvTrailingNewline, CR
	case trimmed != v:
		return EnvTrailingNewline, LF
	case strings.TrimFunc(v, blank) != v:
		return EnvSurroundingSpace, ""
	case strings.ContainsFunc(v, unicode.IsControl):
		return EnvControlCharacter, ""
	case strings.HasPrefix(v, "tcp://"), strings.HasPrefix(v, "udp://"):
		return EnvServiceLink, ""
	case unexpanded(v):
		return EnvUnexpandedReference, ""
	case placeholder(v):
		return EnvPlaceholderValue, ""
	}
	return quoted(v)
}

// blank also counts the zero-width space, which Unicode does not.
func blank(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' }

func quoted(v string) (Code, Reason) {
	first, _ := utf8.DecodeRuneInString(v)
	last, size := utf8.DecodeLastRuneInString(v)
	if size == len(v) {
		return "", ""
	}
	switch {
	case first == last && (first == '"' || first == '\''):
		return EnvQuotedValue, ""
	case strings.ContainsRune("\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb", first) &&
		strings.ContainsRune("\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb", last):
		return EnvQuotedValue, Smart
	}
	return "", ""
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

// placeholder reports whether the whole value is a text that stands for one.
func placeholder(v string) bool {
	v = strings.ToLower(v)
	switch v {
	case "xxx", "xxxx", "todo", "tbd", "fixme", "null", "none", "undefined":
		return true
	}
	if strings.HasPrefix(v, "<") && strings.HasSuffix(v, ">") {
		return true
	}
	for _, start := range [...]string{"changeme", "change-me", "change_me", "replace-me", "replace_me", "replaceme", "your-", "your_"} {
		if strings.HasPrefix(v, start) {
			return true
		}
	}
	return false
}
