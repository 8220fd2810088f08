package probetest

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A Reply writes the answer to a command to w; args are the command and its
// arguments as the client sent them. When it returns an error, such as one that
// w returned, the connection is closed.
type Reply func(w io.Writer, args []string) error

// How a connection ends, or goes on, without an error of its own.
var (
	errHangup  = errors.New("probetest: hang up")
	errReset   = errors.New("probetest: reset")
	errSilence = errors.New("probetest: fall silent")
	errDeaf    = errors.New("probetest: read without understanding")
)

// reply returns the scripted answer to a command, or nil.
func (b *Behaviour) reply(args []string) Reply {
	if len(b.Replies) == 0 {
		return nil
	}
	name := strings.ToUpper(args[0])
	if len(args) > 1 {
		if r := b.Replies[name+" "+strings.ToUpper(args[1])]; r != nil {
			return r
		}
	}
	if r := b.Replies[name]; r != nil {
		return r
	}
	return b.Replies["*"]
}

// Raw answers with exactly these bytes.
func Raw(s string) Reply {
	return func(w io.Writer, _ []string) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// Error answers with an error reply, such as "NOPERM no permissions".
func Error(text string) Reply { return Raw(errorLine(text)) }

// Half sends these bytes, the beginning of an answer or only the announcement
// of a big one ("*100000000\r\n"), and nothing more on that connection.
func Half(s string) Reply {
	return func(w io.Writer, _ []string) error {
		if _, err := io.WriteString(w, s); err != nil {
			return err
		}
		return errSilence
	}
}

// Never sends nothing, neither now nor later on that connection, and leaves it
// open.
func Never() Reply { return Half("") }

// HangUp closes the connection, after sending these bytes.
func HangUp(s string) Reply {
	return func(w io.Writer, _ []string) error {
		if _, err := io.WriteString(w, s); err != nil {
			return err
		}
		return errHangup
	}
}

// Abort closes the connection with a RST.
func Abort() Reply {
	return func(io.Writer, []string) error { return errReset }
}

// Bulk answers with a bulk string of n bytes that begins with prefix, which is
// not longer; the rest is filled up. It is streamed, never held in memory.
func Bulk(prefix string, n int64) Reply {
	return func(w io.Writer, _ []string) error {
		if _, err := fmt.Fprintf(w, "$%d\r\n%s", n, prefix); err != nil {
			return err
		}
		if _, err := io.CopyN(w, fill("x"), n-int64(len(prefix))); err != nil {
			return err
		}
		_, err := io.WriteString(w, "\r\n")
		return err
	}
}

// Nested answers with an integer inside depth arrays of one element each.
func Nested(depth int64) Reply {
	return func(w io.Writer, _ []string) error {
		const level = "*1\r\n"
		if _, err := io.CopyN(w, fill(level), depth*int64(len(level))); err != nil {
			return err
		}
		_, err := io.WriteString(w, ":1\r\n")
		return err
	}
}

// Endless sends prefix, then one more byte for as long as the client takes
// them. Endless("+") is a line that never ends.
func Endless(prefix string) Reply {
	return func(w io.Writer, _ []string) error {
		if _, err := io.WriteString(w, prefix); err != nil {
			return err
		}
		_, err := io.Copy(w, fill("x"))
		return err
	}
}

// Unknown answers as Redis does to a command that it does not know: with up to
// 128 bytes of what the client sent. {"HELLO": Unknown()} is a server before
// Redis 6.
func Unknown() Reply {
	return func(w io.Writer, args []string) error {
		_, err := io.WriteString(w, unknownCommand(args))
		return err
	}
}

// TerminalEscapes clears a terminal's screen and sets its title and colour, if
// what prints it lets it through.
const TerminalEscapes = "\x1b[2J\x1b[H\x1b]0;title from a peer\x07\x1b[31m"

// Echo answers with an error that repeats everything the client sent, each
// argument after the given bytes, for which see [TerminalEscapes].
func Echo(before string) Reply {
	return func(w io.Writer, args []string) error {
		text := "ERR unknown command '" + before + args[0] + "', with args beginning with: "
		for _, a := range args[1:] {
			text += "'" + before + a + "' "
		}
		_, err := io.WriteString(w, errorLine(text))
		return err
	}
}

// A filler reads as text repeated for ever.
type filler struct {
	text string // several times already: to copy single bytes takes long
	at   int    // where the next byte comes from
}

func fill(text string) *filler { return &filler{text: strings.Repeat(text, 1024)} }

func (f *filler) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		k := copy(p[n:], f.text[f.at:])
		n += k
		f.at = (f.at + k) % len(f.text)
	}
	return len(p), nil
}

// errorLine is an error reply. Line breaks would end it early, so Redis turns
// them into blanks.
func errorLine(text string) string {
	return "-" + strings.NewReplacer("\r", " ", "\n", " ").Replace(text) + "\r\n"
}

func simple(s string) string { return "+" + s + "\r\n" }
func integer(n int) string   { return ":" + strconv.Itoa(n) + "\r\n" }
func bulk(s string) string   { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

// array is an array reply of elements that are encoded already.
func array(elements ...string) string {
	return fmt.Sprintf("*%d\r\n%s", len(elements), strings.Join(elements, ""))
}

// The replies whose form depends on the protocol that the client has chosen.

func (c *conn) null() string {
	if c.proto == 3 {
		return "_\r\n"
	}
	return "$-1\r\n"
}

func (c *conn) nullArray() string {
	if c.proto == 3 {
		return "_\r\n"
	}
	return "*-1\r\n"
}

// dict is a map reply of keys and values that are encoded already.
func (c *conn) dict(pairs ...string) string {
	if c.proto == 3 {
		return fmt.Sprintf("%%%d\r\n%s", len(pairs)/2, strings.Join(pairs, ""))
	}
	return array(pairs...)
}

// verbatim is a reply of plain text in several lines.
func (c *conn) verbatim(s string) string {
	if c.proto == 3 {
		return fmt.Sprintf("=%d\r\ntxt:%s\r\n", len(s)+4, s)
	}
	return bulk(s)
}
