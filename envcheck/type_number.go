package envcheck

import (
	"math/big"
	"strconv"
	"strings"
	"time"
)

// maxDecimals bounds a fraction to nanoseconds, so that a number's canonical
// text is the number.
const maxDecimals = 9

func readInt(s string, k *KeySpec) (value, Reason) {
	switch {
	case onlyDigits(s):
		return k.number(s)
	case k.rule.unit != 0 && hasUnit(s):
		return value{}, UnitNotAllowed
	}
	return value{}, NotInteger
}

func readNumber(s string, k *KeySpec) (value, Reason) {
	whole, fraction, dot := strings.Cut(s, ".")
	switch {
	case onlyDigits(whole) && (!dot || fraction != "" && only(fraction, numerals)):
		if len(fraction) > maxDecimals {
			return value{}, OutOfRange
		}
		return k.number(s)
	case k.rule.unit != 0 && hasUnit(s):
		return value{}, UnitNotAllowed
	}
	return value{}, NotNumber
}

func readPort(s string, k *KeySpec) (value, Reason) {
	v, reason := readInt(s, k)
	if reason == "" && (v.number.Sign() == 0 || v.number.Cmp(big.NewRat(65535, 1)) > 0) {
		return value{}, OutOfRange
	}
	return v, reason
}

func readDuration(s string, k *KeySpec) (value, Reason) {
	if s != "" && only(s, numerals+".") && s != "0" {
		return value{}, UnitMissing
	}
	d, err := time.ParseDuration(s)
	if err != nil || s[0] == '+' || s[0] == '-' {
		return value{}, NotDuration
	}
	v, reason := k.bounded(new(big.Rat).SetFrac64(int64(d), int64(time.Second)))
	v.text = d.String()
	return v, reason
}

// onlyDigits takes what every language reads as the same whole number: no
// sign, no leading zero, which is octal to some.
func onlyDigits(s string) bool {
	return s != "" && only(s, numerals) && (s[0] != '0' || len(s) == 1)
}

// digits reads a number that has digits only; strconv would take a sign.
func digits(s string) (int, bool) {
	if s == "" || !only(s, numerals) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 32)
	return int(n), err == nil
}

func hasUnit(s string) bool {
	_, err := time.ParseDuration(s)
	return err == nil && s[0] != '+' && s[0] != '-'
}

// number reads digits that have been looked at.
func (k *KeySpec) number(s string) (value, Reason) {
	if len(s) > 32 {
		return value{}, OutOfRange
	}
	n, ok := new(big.Rat).SetString(s)
	if !ok {
		return value{}, NotNumber
	}
	return k.bounded(n)
}

func (k *KeySpec) bounded(n *big.Rat) (value, Reason) {
	switch {
	case k.Min != nil && n.Cmp(k.Min) < 0:
		return value{}, BelowMin
	case k.Max != nil && n.Cmp(k.Max) > 0:
		return value{}, AboveMax
	}
	return value{text: decimal(n), number: n}, ""
}

// decimal is n without zeros that say nothing.
func decimal(n *big.Rat) string {
	return strings.TrimRight(strings.TrimRight(n.FloatString(maxDecimals), "0"), ".")
}

// seconds is v's number as seconds, of a type that is a time.
func (k *KeySpec) seconds(v value) *big.Rat {
	if k.rule.unit == 0.001 {
		return new(big.Rat).Mul(v.number, big.NewRat(1, 1000))
	}
	return v.number
}
