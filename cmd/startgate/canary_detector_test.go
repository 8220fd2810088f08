package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// window is how many characters in a row count as a leak.
const window = 6

// injected starts the line that some hostile values try to forge.
const injected = "INJECTED"

// newCanary returns 16 random characters. Every window of it has letters of
// both cases that no hexadecimal number has, and two digits, and none a vowel:
// so that no window can be a part of a word, a number or an address.
func newCanary() string {
	const alphabet = "BCDFGHJKLMNPQRSTVWXZbcdfghjkmnpqrstvwxz23456789234567892345678923456789"
	c := make([]byte, 16)
	for {
		rand.Read(c)
		for i := range c {
			c[i] = alphabet[int(c[i])%len(alphabet)]
		}
		if !slices.ContainsFunc(windows(string(c)), ordinary) {
			return string(c)
		}
	}
}

// ordinary reports whether w could stand in a text by chance.
func ordinary(w string) bool {
	upper, lower, digits := 0, 0, 0
	for _, r := range w {
		switch {
		case unicode.IsDigit(r):
			digits++
		case r > 'F' && r <= 'Z':
			upper++
		case r > 'f':
			lower++
		}
	}
	return upper < 1 || lower < 1 || digits < 2
}

func windows(s string) []string {
	var all []string
	for i := range len(s) - window + 1 {
		all = append(all, s[i:i+window])
	}
	return all
}

// leaks tells what of the canary is in output, by the encoding in which it is
// there, and what else has no business in it. It returns nothing of output.
// What leaks as a whole leaks by its windows, so only those are looked for.
func leaks(output []byte, canary string) (found []string) {
	folded := bytes.ToLower(output)
	for _, w := range windows(canary) {
		for _, e := range encodings {
			for _, text := range e.encode(w) {
				if e.exact && bytes.Contains(output, []byte(text)) ||
					!e.exact && bytes.Contains(folded, []byte(strings.ToLower(text))) {
					found = append(found, e.name)
				}
			}
		}
	}
	for line := range bytes.Lines(output) {
		if bytes.HasPrefix(bytes.TrimLeft(line, " \t\r"), []byte(injected)) {
			found = append(found, "injected line")
		}
	}
	if bytes.ContainsRune(output, '\x1b') || bytes.ContainsRune(output, '\u009b') {
		found = append(found, "terminal escape")
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// encodings are those in which a window is looked for. Letters count in either
// case, since texts are lowered (host names) or raised (names) on their way.
var encodings = [...]struct {
	name   string
	exact  bool // the case of letters means something
	encode func(string) []string
}{
	{"plain", false, func(s string) []string { return []string{s} }},
	{"reversed", false, func(s string) []string { return []string{reverse(s)} }},
	{"hex", false, func(s string) []string { return []string{hex.EncodeToString([]byte(s)), each(s, "%02x", " ")} }},
	{"percent", false, func(s string) []string { return []string{each(s, "%%%02x", ""), each(s, "=%02x", "")} }},
	{"escaped", false, func(s string) []string {
		return []string{each(s, `\x%02x`, ""), each(s, `\u%04x`, ""), each(s, `\%03o`, ""), each(s, "&#%d;", "")}
	}},
	{"decimal", false, func(s string) []string {
		return []string{each(s, "%d", " "), each(s, "%d", ","), each(s, "%d", ", ")}
	}},
	{"base64", true, aligned},
	{"UTF-16", false, func(s string) []string { return []string{each(s, "%c", "\x00")} }},
}

// each formats every byte of s by itself.
func each(s, format, separator string) string {
	parts := make([]string, len(s))
	for i := range s {
		parts[i] = fmt.Sprintf(format, s[i])
	}
	return strings.Join(parts, separator)
}

// aligned is what of the base64 of any text that has s in it is due to s
// alone, for the three places in a group of three bytes where s can begin.
func aligned(s string) []string {
	var all []string
	for before := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + s))
		const bits, character = 8, 6
		first := (before*bits + character - 1) / character
		end := (before + len(s)) * bits / character
		text = text[first:end]
		all = append(all, text, strings.NewReplacer("+", "-", "/", "_").Replace(text))
	}
	return all
}

func reverse(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}
