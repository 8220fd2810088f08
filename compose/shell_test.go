package compose

import (
	"fmt"
	"strings"
	"testing"
)

func TestShellCommands(t *testing.T) {
	for script, want := range map[string]string{
		`redis-cli ping`: `[redis-cli ping]`,
		`redis-cli ping | grep -qx 'PO NG' || exit 1`: `[redis-cli ping] | [grep -qx PO NG] || [exit 1]`,
		`[ "$(redis-cli ping)" = PONG ]`:              `[[ $(redis-cli ping) = PONG ]]`,
		"[ `redis-cli ping` = PONG ]":                 `[[ $(redis-cli ping) = PONG ]]`,
		`a > /dev/null 2>&1 && b`:                     `[a]> && [b]`,
		`a >/dev/null; b 2>/dev/null`:                 `[a]> ; [b]>`,
		`a &>/dev/null || b`:                          `[a]> || [b]`,
		`echo "a;b" 'c|d' e\;f`:                       `[echo a;b c|d e;f]`,
		"# why\na\n\nb # so\n":                        `[a] ; [b] ;`,
		`a & b`:                                       `[a] & [b]`,
		"a \\\n  b":                                   `[a b]`,
		`if a; then b; fi`:                            `? [if a] ; [then b] ; [fi]`,
		`(a; b)`:                                      `? [a] ; [b] ;`,
		`a "b`:                                        `? [a b]`,
		`test "$(redis-cli -a "$PW" ping | head -1)" = PONG`: `[test $(redis-cli -a "$PW" ping | head -1) = PONG]`,
		`a <<EOF`: `? [a]>`,
		`a 3<f b`: `[a b]>`,
		``:        ``,
	} {
		commands, plain := shellCommands(script)
		var b strings.Builder
		if !plain {
			b.WriteString("? ")
		}
		for i, c := range commands {
			if i > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "[%s]", strings.Join(c.words, " "))
			if c.redirected {
				b.WriteByte('>')
			}
			if c.after != "" {
				b.WriteString(" " + c.after)
			}
		}
		if got := b.String(); got != want {
			t.Errorf("%q:\n got %s\nwant %s", script, got, want)
		}
	}
}

func TestUnwrap(t *testing.T) {
	for line, want := range map[string]string{
		"celery worker":                                "celery worker",
		"exec celery worker":                           "celery worker",
		"A=b C=d exec env E=f celery":                  "celery",
		"timeout -k 1 5 redis-cli ping":                "redis-cli ping",
		"/usr/bin/tini -g -- /startgate -- rq worker":  "/startgate -- rq worker",
		"gosu app nice -n 5 rq worker":                 "rq worker",
		"exec":                                         "",
		"until redis-cli ping":                         "redis-cli ping",
		"setpriv --reuid=1000 --init-groups rq worker": "rq worker",
	} {
		if got := strings.Join(unwrap(strings.Fields(line)), " "); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// FuzzShellCommands holds the lexer to its end: it stops, and makes up nothing.
func FuzzShellCommands(f *testing.F) {
	f.Add("a | b && c || (d; e) > f 2>&1 'x' \"y $(z)\" `w` # v\nu")
	f.Fuzz(func(t *testing.T, script string) {
		commands, _ := shellCommands(script)
		n := 0
		for _, c := range commands {
			if len(c.words) == 0 {
				t.Fatal("a command without words")
			}
			n += len(c.words)
		}
		if n > len(script) {
			t.Fatal("more words than characters")
		}
	})
}
