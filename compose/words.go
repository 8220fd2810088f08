package compose

import (
	"strings"
)

// word is a word of a command line or a script, with its variables still in it.
type word struct {
	text
	node  node
	first bool // of a command line, or behind an operator
}

// hole stands for a variable while a text is taken apart. No program can be
// given a text with one: YAML writes it as "\0".
const hole = "\x00"

// holes is s with each variable replaced by a hole, and those variables.
func holes(s string) (rest string, taken []string) {
	s = strings.ReplaceAll(s, hole, "")
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '$')
		if i < 0 || i+1 == len(s) {
			b.WriteString(s)
			return b.String(), taken
		}
		n := 1 + wordLength(s[i+1:])
		switch {
		case s[i+1] == '$':
			b.WriteString(s[:i+2])
			s = s[i+2:]
			continue
		case s[i+1] == '{':
			n = 2 + closing(s[i+1:])
		}
		b.WriteString(s[:i])
		if n > 1 {
			b.WriteString(hole)
			taken = append(taken, s[i:i+n])
		} else {
			b.WriteByte('$')
		}
		s = s[i+n:]
	}
}

// filled is s with its holes filled by the first of taken, and the others.
func filled(s string, taken []string) (string, []string) {
	parts := strings.Split(s, hole)
	n := len(parts) - 1
	for i, each := range taken[:n] {
		parts[i] += each
	}
	return strings.Join(parts, ""), taken[n:]
}

// wordsAt are the words of a command line at n, those of the scripts in it
// among them.
func wordsAt(n node) []word {
	items := []node{n}
	if !n.isText() {
		items = n.each()
	}
	var found []word
	for _, item := range items {
		rest, taken := holes(item.text().symbolic)
		first := len(found) == 0
		for _, part := range strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("\n;|&()", r) }) {
			for _, w := range strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune(" \t\"'`", r) }) {
				w, taken = filled(w, taken)
				found = append(found, word{n.stack.environment.interpolate(w), item, first})
				first = false
			}
			first = true
		}
	}
	return found
}

// commandWords are all words that the service's processes are started with.
func (v *service) commandWords() []word { return v.facts.words.of(v, v.findCommandWords) }

func (v *service) findCommandWords() []word {
	all := append(wordsAt(v.at("entrypoint")), wordsAt(v.at("command"))...)
	return append(all, wordsAt(v.at("healthcheck", "test"))...)
}
