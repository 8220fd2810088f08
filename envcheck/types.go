package envcheck

import (
	"math/big"
	"slices"
)

// Type is the type of a key's value.
type Type Word

// The types. They are strict, since the worker reads the raw text: what is
// refused here is what some client or language would read differently.
const (
	TypeString   Type = "string"   // one line of text
	TypeText     Type = "text"     // any text
	TypeBool     Type = "bool"     // true, false, 1 or 0
	TypeInt      Type = "int"      // a whole number, digits only
	TypeNumber   Type = "number"   // digits, and a fraction
	TypePort     Type = "port"     // 1 to 65535
	TypeSeconds  Type = "seconds"  // a number without a unit
	TypeMillis   Type = "millis"   // a whole number without a unit
	TypeDuration Type = "duration" // numbers with units, as in 1m30s
	TypeEnum     Type = "enum"     // one of the words under enum
	TypeURL      Type = "url"      // any scheme
	TypeHTTPURL  Type = "http_url"
	TypeRedis    Type = "redis_url"
	TypePostgres Type = "postgres_url"
	TypeEmail    Type = "email"
	TypePath     Type = "path" // absolute and clean
	TypePEM      Type = "pem"
	TypeList     Type = "list" // separated by commas
)

// traits are what the package must know of a type beside how it is read.
type traits uint8

const (
	closed  traits = 1 << iota // its values are re-rendered and cannot carry a secret
	secret                     // its values hold credentials
	numeric                    // takes min and max
	worded                     // takes min_len and pattern
	lines                      // may hold line breaks, and end in one
	open                       // a value that starts with tcp:// may be meant
)

// typeRule is all that the package knows of a type.
type typeRule struct {
	name Type
	// read turns a text into what it means. Two values are the same when
	// their canonical texts are.
	read   func(s string, k *KeySpec) (value, Reason)
	traits traits
	// unit is one of the type's numbers in seconds, 0 when it is no time.
	unit    float64
	suffix  Code   // end of the code for a value that cannot be read
	schemes Word   // that a URL of the type starts with, for advice; "" for any
	example string // for .env.example, "" when none would be of use
	doc     Word   // what a value must be
}

// value is a parsed value. Nothing prints it but the fact of a key that the
// contract exposes.
type value struct {
	text   string   // canonical
	number *big.Rat // of numeric types
	redis  RedisURL // of redis_url
	url    URLParts // of other URLs
}

// types is where a type is declared: a line here and the function that reads it
// are all that a new one takes, but for canFail when it takes any text.
var types = [...]typeRule{
	{TypeString, readText, worded | open, 0, "_invalid", "", "", "one line of text"},
	{TypeText, readText, worded | open | lines, 0, "_invalid", "", "", "text"},
	{TypeBool, readBool, closed, 0, "_invalid", "", "false", "true, false, 1 or 0"},
	{TypeInt, readInt, closed | numeric, 0, "_invalid", "", "1", "a whole number, digits only"},
	{TypeNumber, readNumber, closed | numeric, 0, "_invalid", "", "1", "a number such as 1 or 0.5"},
	{TypePort, readPort, closed | numeric, 0, "_invalid", "", "8080", "a port from 1 to 65535"},
	{TypeSeconds, readNumber, closed | numeric, 1, "_invalid", "", "1", "seconds without a unit, such as 5 or 0.5"},
	{TypeMillis, readInt, closed | numeric, 0.001, "_invalid", "", "1000", "whole milliseconds without a unit"},
	{TypeDuration, readDuration, closed | numeric, 1, "_invalid", "", "5s", "a duration with units, such as 1m30s"},
	{TypeEnum, readEnum, closed, 0, "_invalid", "", "", "one of the words that the contract lists"},
	{TypeURL, readURL, worded | open, 0, "_invalid", "", "", "a URL"},
	{TypeHTTPURL, readHTTPURL, worded, 0, "_invalid", "http:// or https://", "https://example.org", "an http or https URL"},
	{TypeRedis, readRedis, secret, 0, "_parse_failed", "", "", "a Redis URL"},
	{TypePostgres, readPostgres, secret, 0, "_parse_failed", "postgres:// or postgresql://", "", "a PostgreSQL URL"},
	{TypeEmail, readEmail, worded, 0, "_invalid", "", "name@example.org", "an e-mail address"},
	{TypePath, readPath, worded, 0, "_invalid", "", "/var/lib/worker", "an absolute path"},
	{TypePEM, readPEM, secret | lines, 0, "_invalid", "", "", "a PEM block"},
	{TypeList, readText, worded | open, 0, "_invalid", "", "a,b", "words separated by commas"},
}

// rule returns what is known of t, nil when there is no such type.
func (t Type) rule() *typeRule {
	i := slices.IndexFunc(types[:], func(r typeRule) bool { return r.name == t })
	if i < 0 {
		return nil
	}
	return &types[i]
}

func (r *typeRule) is(t traits) bool { return r.traits&t != 0 }

// canFail reports whether there is a text that the key's type refuses.
func (k *KeySpec) canFail() bool {
	switch k.Type {
	case TypeString, TypeText, TypeList:
		return k.MinLen > 0 || k.Pattern != nil
	}
	return true
}
