package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// window is how many characters in a row count as a leak.
const window = 6

// newCanary returns 16 random characters. Each window has consonants of both
// cases and a digit, so that none is a part of a word, a number or a digest.
func newCanary() string {
	const upper, lower, digits = "GHJKLMNPQRSTVWXZ", "ghjkmnpqrstvwxz", "23456789"
	c := make([]byte, 16)
	rand.Read(c)
	for i := range c {
		set := [...]string{upper, digits, lower, digits}[i%4]
		c[i] = set[int(c[i])%len(set)]
	}
	return string(c)
}

// leaks tells in which encodings a part of the canary is in output.
func leaks(output []byte, canary string) (found []string) {
	folded := bytes.ToLower(output)
	for i := range len(canary) - window + 1 {
		w := canary[i : i+window]
		for name, text := range map[string]string{
			"plain": w, "reversed": reverse(w), "hex": hex.EncodeToString([]byte(w)),
			"percent": each(w, "%%%02x"), "JSON": each(w, `\u%04x`), "XML": each(w, "&#%d;"),
		} {
			if bytes.Contains(folded, []byte(strings.ToLower(text))) {
				found = append(found, name)
			}
		}
		for before := range 3 {
			text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + w))
			if bytes.Contains(output, []byte(text[(before*8+5)/6:(before+window)*8/6])) {
				found = append(found, "base64")
			}
		}
	}
	if bytes.ContainsRune(output, '\x1b') {
		found = append(found, "terminal escape")
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func each(s, format string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

func reverse(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// Without planted leaks the suite could find nothing because it looks for none.
func TestDetectorFindsPlantedLeaks(t *testing.T) {
	for name, leak := range map[string]func(c string) string{
		"plain":    func(c string) string { return "compose.yaml:3:1: error " + c },
		"plain ":   func(c string) string { return "service " + strings.ToLower(c[:window]) },
		"plain  ":  func(c string) string { return strings.ToUpper(c[len(c)-window:]) },
		"reversed": reverse,
		"hex":      func(c string) string { return hex.EncodeToString([]byte(c)) },
		"percent":  func(c string) string { return url.PathEscape("ä") + each(c, "%%%02X") },
		"JSON":     func(c string) string { return each(c[4:12], `\u%04x`) },
		"XML":      func(c string) string { return each(c[4:12], "&#%d;") },
		"base64":   func(c string) string { return base64.StdEncoding.EncodeToString([]byte("x" + c)) },
		"base64 ":  func(c string) string { return base64.RawURLEncoding.EncodeToString([]byte("xy" + c[2:9])) },
	} {
		for range 50 {
			canary := newCanary()
			if got := leaks([]byte("before "+leak(canary)+" after"), canary); !slices.Contains(got, strings.TrimSpace(name)) {
				t.Errorf("a leak that is %s is found as %v", name, got)
				break
			}
		}
	}
	text := []byte(overview + checkHelp + versions() + inProcess(nil, "", "--list-rules").out)
	for range 50 {
		if got := leaks(text, newCanary()); len(got) > 0 {
			t.Fatalf("in ordinary text the detector finds %v", got)
		}
	}
}
