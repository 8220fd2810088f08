package envcheck

import "time"

// A Fact says what a key was found to be. It is the one thing that can show a
// value: of a key that the contract exposes, re-rendered, and never of a type
// that could carry a secret.
type Fact struct {
	Key   Key
	State State
	Via   Key // the key that stands in for it, "" for none

	shown Word
}

// State is what a key was found to be.
type State Word

// The states of a key.
const (
	Missing State = "missing" // unset, with no default
	Invalid State = "invalid"
	Default State = "default" // unset: the worker takes its own default
	Present State = "present"
)

// takeFacts says of each key what it was found to be.
func (j *judge) takeFacts() {
	for _, k := range j.contract.Keys {
		r := j.readings[k.Key]
		f := Fact{Key: k.Key}
		switch {
		case r.status == faulty:
			f.State = Invalid
		case r.status == present:
			f.State = Present
			if r.via != nil {
				f.Via = r.via.spec.Key
			}
			if k.Expose {
				f.shown = Word(r.value.text)
			}
		case k.Default != nil:
			f.State = Default
		default:
			f.State = Missing
		}
		j.result.Facts = append(j.result.Facts, f)
	}
}

// Value is the value of a key that the contract exposes, re-rendered.
func (f Fact) Value() (string, bool) { return string(f.shown), f.shown != "" }

// line is f as a line of output.
func (f Fact) line() Diagnostic {
	d := Diagnostic{Code: FactCode, Keys: []Key{f.Key}, Fields: []Field{Is("state", Word(f.State))}}
	if f.Via != "" {
		d.Fields = append(d.Fields, Is("via", Word(f.Via)))
	}
	if f.shown != "" {
		d.Fields = append(d.Fields, Is("value", f.shown))
	}
	return d
}

// AppendText appends f as a line without its break, see [Diagnostic.AppendText].
func (f Fact) AppendText(b []byte) []byte { return f.line().AppendText(b) }

// AppendJSON appends f as a JSON object, see [Diagnostic.AppendJSON].
func (f Fact) AppendJSON(b []byte, now time.Time) []byte { return f.line().AppendJSON(b, now) }
