package envcheck

import (
	"math"
	"strconv"
	"time"
	"unicode/utf16"
)

// SchemaVersion is the "v" of every JSON line. It grows when a field changes
// its meaning, not when one is added.
const SchemaVersion = 1

// AppendJSON appends d as one JSON object, without a line break. Durations are
// numbers of seconds. The field names are events.schema.json.
func (d Diagnostic) AppendJSON(b []byte, now time.Time) []byte {
	b = append(b, `{"v":`...)
	b = strconv.AppendInt(b, SchemaVersion, 10)
	b = append(b, `,"time":"`...)
	b = now.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
	b = append(b, `","level":"`...)
	b = append(b, d.Severity()...)
	b = append(b, `","code":"`...)
	b = append(append(b, d.Code...), '"')
	b = appendJSONFields(b, d.Head)
	if d.Wait != "" {
		b = appendJSONString(append(b, `,"wait":`...), string(d.Wait))
	}
	if len(d.Keys) > 0 {
		b = append(b, `,"keys":[`...)
		for i, k := range d.Keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSONString(b, string(k))
		}
		b = append(b, ']')
	}
	if d.Near != "" {
		b = appendJSONString(append(b, `,"near":`...), string(d.Near))
	}
	if d.Reason != "" {
		b = appendJSONString(append(b, `,"reason":`...), string(d.Reason))
	}
	b = appendJSONFields(b, d.Fields)
	if d.Exit != 0 {
		b = strconv.AppendInt(append(b, `,"exit":`...), int64(d.Exit), 10)
	}
	if msg := d.Message(); msg != "" {
		b = appendJSONString(append(b, `,"message":`...), msg)
	}
	return append(b, '}')
}

func appendJSONFields(b []byte, fields []Field) []byte {
	for _, f := range fields {
		b = append(appendJSONString(append(b, ','), string(f.Name)), ':')
		switch v := f.value.(type) {
		case time.Duration:
			b = appendSeconds(b, v)
		case int64:
			b = strconv.AppendInt(b, v, 10)
		case percent:
			b = strconv.AppendInt(b, int64(v), 10)
		case Word:
			b = appendJSONString(b, string(v))
		case Code:
			b = appendJSONString(b, string(v))
		case []Cause:
			b = append(b, '{')
			for i, c := range v {
				if i > 0 {
					b = append(b, ',')
				}
				b = append(appendJSONString(b, string(c.Code)), `:{"attempts":`...)
				b = strconv.AppendInt(b, int64(c.Attempts), 10)
				b = append(appendSeconds(append(b, `,"seconds":`...), c.Time), '}')
			}
			b = append(b, '}')
		}
	}
	return b
}

func appendSeconds(b []byte, d time.Duration) []byte {
	return strconv.AppendFloat(b, math.Round(d.Seconds()*1e4)/1e4, 'f', -1, 64)
}

// appendJSONString quotes s. A contract's texts are one line of printable
// characters; everything else is printable ASCII.
func appendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r >= ' ' && r < 0x7f:
			b = append(b, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = appendUnicode(appendUnicode(b, high), low)
		default:
			b = appendUnicode(b, r)
		}
	}
	return append(b, '"')
}

func appendUnicode(b []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
