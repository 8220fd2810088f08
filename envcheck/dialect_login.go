package envcheck

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// literalInURI takes the characters of user and password of RFC 3986, which no
// client treats in a way of its own, but for + (see genericLogin).
func literalInURI(r rune) bool {
	return strings.ContainsRune(lowers+uppers+numerals+"-._~!$&'()*,;=:+", r)
}

// literalInGo: net/url takes the last @ for the end.
func literalInGo(r rune) bool { return literalInURI(r) || r == '@' }

// literalInPython: urllib refuses brackets, and characters of which Unicode's
// normal form NFKC has one that parts a URL.
func literalInPython(r rune) bool {
	return !strings.ContainsRune("[]⁇⁈⁉℀℁℅℆⩴︓︖﹕﹖﹟﹫＃／：？＠", r)
}

func literalInNode(rune) bool { return true }

func genericLogin(p *RedisParts, user, password string, colon bool) Reason {
	if !colon && user != "" {
		return ClientsDiffer // redis-client takes a lone user for the password
	}
	if strings.Contains(user, "%") || strings.Contains(user+password, "+") {
		return ClientsDiffer // redis-client keeps a user encoded, and reads + as a blank
	}
	return bullmqLogin(p, user, password, colon)
}

// bullmqLogin decodes both, as decodeURIComponent does.
func bullmqLogin(p *RedisParts, user, password string, _ bool) Reason {
	user, ok := unescape(user)
	password, ok2 := unescape(password)
	if !ok || !ok2 {
		return BadPercentEncoding
	}
	p.User, p.Password = user, password
	return ""
}

// pythonLogin decodes both; a % that starts no code stands for itself.
func pythonLogin(p *RedisParts, user, password string, colon bool) Reason {
	return bullmqLogin(p, literalPercent(user), literalPercent(password), colon)
}

// sidekiqLogin: redis-client takes a lone user for the password, decodes the
// password as a form's, with + for a blank, and does not decode the user.
func sidekiqLogin(p *RedisParts, user, password string, colon bool) Reason {
	if !colon {
		user, password = "", user
	}
	decoded, ok := unescape(strings.ReplaceAll(password, "+", " "))
	if _, valid := unescape(user); !ok || !valid {
		return BadPercentEncoding
	}
	if !colon && password != "" || strings.Contains(password, "+") || strings.Contains(user, "%") {
		p.doubt(ClientsDiffer)
	}
	p.User, p.Password = user, decoded
	return ""
}

// asynqLogin: asynq has no use for the user.
func asynqLogin(p *RedisParts, user, password string, colon bool) Reason {
	if reason := bullmqLogin(p, user, password, colon); reason != "" {
		return reason
	}
	if p.User != "" && p.User != "default" {
		p.doubt(CredentialsIgnored)
	}
	p.User = ""
	return ""
}

// unescape decodes %XX. It takes no bytes that are not UTF-8: ioredis refuses
// them, and Python sends others in their place.
func unescape(s string) (string, bool) {
	s, err := url.PathUnescape(s) // the error would quote s
	return s, err == nil && utf8.ValidString(s)
}

// hexAt reports whether two hex digits stand at i.
func hexAt(s string, i int) bool {
	if i+2 > len(s) {
		return false
	}
	_, err := strconv.ParseUint(s[i:i+2], 16, 8)
	return err == nil
}

// literalPercent encodes each % that starts no code.
func literalPercent(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte(s[i])
		if s[i] == '%' && !hexAt(s, i+1) {
			b.WriteString("25")
		}
	}
	return b.String()
}
