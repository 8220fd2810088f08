package envcheck

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

func readText(s string, k *KeySpec) (value, Reason) {
	return value{text: s}, k.worded(s)
}

// worded judges s by min_len and pattern.
func (k *KeySpec) worded(s string) Reason {
	switch {
	case utf8.RuneCountInString(s) < k.MinLen:
		return TooShort
	case k.Pattern != nil && !k.Pattern.MatchString(s):
		return PatternMismatch
	}
	return ""
}

func readBool(s string, k *KeySpec) (value, Reason) {
	switch s {
	case "true", "1":
		return value{text: "true"}, ""
	case "false", "0":
		return value{text: "false"}, ""
	}
	text := ""
	switch strings.ToLower(s) {
	case "true", "yes", "on", "y", "t":
		text = "true"
	case "false", "no", "off", "n", "f":
		text = "false"
	default:
		return value{}, NotBool
	}
	if !k.AnySpelling {
		return value{}, BoolSpelling // in Python and JavaScript the text False is true
	}
	return value{text: text}, ""
}

func readEnum(s string, k *KeySpec) (value, Reason) {
	if slices.Contains(k.Enum, s) {
		return value{text: s}, ""
	}
	if slices.ContainsFunc(k.Enum, func(w string) bool { return strings.EqualFold(w, s) }) {
		return value{}, CaseMismatch
	}
	return value{}, NotInEnum
}

func readEmail(s string, k *KeySpec) (value, Reason) {
	local, domain, ok := strings.Cut(s, "@")
	if !ok || local == "" || strings.ContainsAny(s, " <>()[],;:\\\"") || strings.Contains(domain, "@") ||
		!validHost(domain) || !strings.Contains(domain, ".") {
		return value{}, NotEmail
	}
	return readText(s, k)
}

func readPath(s string, k *KeySpec) (value, Reason) {
	switch {
	case !strings.HasPrefix(s, "/"):
		return value{}, NotAbsolute
	case path.Clean(s) != s:
		return value{}, NotClean
	}
	return readText(s, k)
}

func readPEM(s string, _ *KeySpec) (value, Reason) {
	switch {
	case strings.Contains(s, `\n`):
		return value{}, LiteralBackslashN
	case !strings.Contains(s, "-----BEGIN ") || !strings.Contains(s, "-----END "):
		return value{}, NoPEMBlock
	}
	return value{text: s}, ""
}
