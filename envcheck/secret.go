package envcheck

import (
	"fmt"
	"io"
)

const redacted = "[redacted]"

// Sealed holds a value that must never be printed. fmt, encoding/json and
// log/slog all render it as [redacted], also inside other structs.
//
// fmt calls no methods on unexported fields: a plain value in one would be
// printed. It sits behind two pointers, since fmt follows one to a struct when
// the verb does not suit it, as %s does not.
type Sealed[T any] struct{ v **T }

// Secret is a sealed string: the value of an environment variable.
type Secret = Sealed[string]

// Seal hides v. The only way back is [Sealed.Reveal].
func Seal[T any](v T) Sealed[T] {
	p := &v
	return Sealed[T]{&p}
}

// Reveal returns the value, or T's zero value when nothing was sealed. Whoever
// calls it must not print, log or wrap what it returns.
func (s Sealed[T]) Reveal() T {
	if s.v == nil {
		var zero T
		return zero
	}
	return **s.v
}

// Format implements [fmt.Formatter] for every verb.
func (Sealed[T]) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// MarshalText implements [encoding.TextMarshaler], which JSON and slog honour.
func (Sealed[T]) MarshalText() ([]byte, error) { return []byte(redacted), nil }
