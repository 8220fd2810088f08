package envcheck

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"
)

// Key is the name of an environment variable that a contract or a setting
// declares. Only the contract's loader and the settings make keys out of text,
// after [ValidKey].
type Key string

// ValidKey reports whether name may be declared: [A-Z_][A-Z0-9_]{0,127}.
func ValidKey(name string) bool {
	return name != "" && len(name) <= 128 && !only(name[:1], numerals) && only(name, uppers+numerals+"_")
}

// Alphabets that forms are made of. No other letter is one of them, whatever
// Unicode says.
const (
	lowers   = "abcdefghijklmnopqrstuvwxyz"
	uppers   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	numerals = "0123456789"
)

// only reports whether s has no other characters than chars.
func only(s, chars string) bool { return strings.Trim(s, chars) == "" }

// Word is a constant of the program, such as a field's name or a closed fact.
type Word string

// A Field is a named number, duration or word of a diagnostic.
type Field struct {
	Name  Word
	value any // time.Duration, int64, percent, Word, Code or []Cause
}

// Dur is a field that holds a duration. JSON has it in seconds.
func Dur(name Word, d time.Duration) Field { return Field{name, d} }

// Int is a field that holds a count.
func Int(name Word, n int) Field { return Field{name, int64(n)} }

// Percent is a field that holds a whole per cent.
func Percent(name Word, n int) Field { return Field{name, percent(n)} }

// Is is a field that holds a word.
func Is(name, word Word) Field { return Field{name, word} }

// Says is a field that holds a code, such as the cause of a wait.
func Says(name Word, c Code) Field { return Field{name, c} }

// A Cause is how often and for how long a wait was held up by one code.
type Cause struct {
	Code     Code
	Attempts int
	Time     time.Duration
}

// Causes is a field that holds what held a wait up.
func Causes(name Word, causes []Cause) Field { return Field{name, causes} }

type percent int

// A Diagnostic is one line of output: a code, the keys it is about and closed
// facts. No field of it can hold a value, a server's text or an error: its
// words are the program's or, like a rule's advice, the contract's.
type Diagnostic struct {
	Code    Code
	Level   Level // "" is the catalogue's
	Head    []Field
	Wait    Word // the wait's name
	Keys    []Key
	Near    Key // a name that is close to the key's, "" for none
	Reason  Reason
	Fields  []Field
	Text    Word // the sentence, "" is the catalogue's
	Purpose Word // of the key, for a code that ends in _missing
	Fix     Word // what to do, "" is the reason's or the code's
	Exit    int  // of the process when this is its last line, else 0
}

// Severity returns the diagnostic's own level, or the catalogue's.
func (d Diagnostic) Severity() Level {
	if d.Level != "" {
		return d.Level
	}
	return lookup(d.Code).level
}

// Message returns the constant sentence for the code, what to do about it
// when it is an error, and what the exit code means.
func (d Diagnostic) Message() string {
	e := lookup(d.Code)
	msg := cmp.Or(string(d.Text), e.text)
	if d.Purpose != "" && strings.HasSuffix(string(d.Code), "_missing") {
		msg = string(d.Purpose) + " missing " + joinWords(d.Keys, " or ")
	}
	switch {
	case d.Near == "":
	case d.Code == EnvUnknownKey:
		msg += "; it is close to " + string(d.Near)
	default:
		msg += "; " + string(d.Near) + " may be a misspelling of it"
	}
	fix := cmp.Or(string(d.Fix), string(reasonFix(d.Reason)), e.fix)
	if fix != "" && d.Severity() != Info {
		msg += "; " + fix
	}
	if d.Exit != 0 {
		msg += " (exit " + strconv.Itoa(d.Exit) + exitHint(d.Exit) + ")"
	}
	return strings.TrimLeft(msg, " ")
}

// exitHint says what an exit code means for whoever restarts the container.
func exitHint(code int) string {
	switch {
	case code == 75:
		return ": restarting may help"
	case code == 70:
		return ": a fault of startgate"
	case code > 128:
		return ""
	}
	return ": fix first"
}

// AppendText appends d in the fixed grammar of the text format, without a
// line break:
//
//	startgate: LEVEL CODE [wait=W] [key=K|keys=K,K] [reason=R] [NAME=VALUE…][: MESSAGE]
func (d Diagnostic) AppendText(b []byte) []byte {
	level := d.Severity()
	b = append(b, "startgate: "...)
	b = append(b, level...)
	for range len(Error) - len(level) {
		b = append(b, ' ')
	}
	b = append(append(b, ' '), d.Code...)
	b = appendFields(b, d.Head)
	if d.Wait != "" {
		b = append(append(b, " wait="...), d.Wait...)
	}
	switch len(d.Keys) {
	case 0:
	case 1:
		b = append(append(b, " key="...), d.Keys[0]...)
	default:
		b = append(append(b, " keys="...), joinWords(d.Keys, ",")...)
	}
	if d.Reason != "" {
		b = append(append(b, " reason="...), d.Reason...)
	}
	b = appendFields(b, d.Fields)
	if msg := d.Message(); msg != "" {
		b = append(append(b, ": "...), msg...)
	}
	return b
}

func appendFields(b []byte, fields []Field) []byte {
	for _, f := range fields {
		b = append(append(append(b, ' '), f.Name...), '=')
		switch v := f.value.(type) {
		case time.Duration:
			b = appendDuration(b, v)
		case int64:
			b = strconv.AppendInt(b, v, 10)
		case percent:
			b = append(strconv.AppendInt(b, int64(v), 10), '%')
		case Word:
			b = append(b, v...)
		case Code:
			b = append(b, v...)
		case []Cause:
			for i, c := range v {
				if i > 0 {
					b = append(b, ',')
				}
				b = strconv.AppendInt(append(append(b, c.Code...), ':'), int64(c.Attempts), 10)
				b = appendDuration(append(b, '/'), c.Time)
			}
		}
	}
	return b
}

// appendDuration writes tenths of a second from one second on, and whole
// milliseconds below.
func appendDuration(b []byte, d time.Duration) []byte {
	switch {
	case d == 0:
		return append(b, "0s"...)
	case d < time.Second:
		return append(strconv.AppendInt(b, max(1, d.Round(time.Millisecond).Milliseconds()), 10), "ms"...)
	}
	return append(strconv.AppendFloat(b, math.Round(d.Seconds()*10)/10, 'f', -1, 64), 's')
}

func joinWords[W ~string](words []W, sep string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(string(w))
	}
	return b.String()
}
