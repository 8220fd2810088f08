package envcheck

import (
	"cmp"
	"strings"
)

// SSLMode says how a client of PostgreSQL uses TLS, in the words of libpq
// (PostgreSQL's documentation, "SSL Mode Descriptions").
type SSLMode Word

// The modes of libpq.
const (
	SSLDisable    SSLMode = "disable"
	SSLAllow      SSLMode = "allow"  // plain, and TLS where that is turned away
	SSLPrefer     SSLMode = "prefer" // TLS, and plain where that is turned away; libpq's default
	SSLRequire    SSLMode = "require"
	SSLVerifyCA   SSLMode = "verify-ca"
	SSLVerifyFull SSLMode = "verify-full"
)

// setPostgres reads the database and the parameters of a URL as libpq does,
// and refuses those that would lead the gate elsewhere than the worker. verify
// is what the contract says where the URL has no sslmode. ca is the path of a
// file of trusted authorities, "" when the URL names none.
func (u *URLParts) setPostgres(verify TLSVerify) (ca string, _ Reason) {
	var ok bool
	if u.Database, ok = libpqText(strings.TrimPrefix(u.Path, "/")); !ok {
		return "", BadPercentEncoding
	}
	for param := range strings.SplitSeq(u.Query, "&") {
		name, value, _ := strings.Cut(param, "=")
		name, ok := libpqText(name)
		value, ok2 := libpqText(value)
		if !ok || !ok2 {
			return "", BadPercentEncoding
		}
		switch name {
		case "user":
			u.User = value
		case "password":
			u.Password = value
		case "dbname":
			u.Database = value
		case "sslrootcert":
			ca = value
		case "sslmode":
			u.SSLMode = SSLMode(value)
		case "ssl": // JDBC's, which libpq takes too
			if value != "true" {
				return "", SSLModeUnsupported
			}
			u.SSLMode = SSLRequire
		case "host", "hostaddr", "port", "service", "servicefile", "sslcert", "sslkey", "requirepeer":
			return "", ParameterUnsupported
		case "sslnegotiation":
			if value != "postgres" {
				return "", ParameterUnsupported
			}
		case "gssencmode":
			if value == "require" {
				return "", ParameterUnsupported
			}
		}
	}
	if ca == "system" { // the machine's own
		ca, u.SSLMode = "", cmp.Or(u.SSLMode, SSLVerifyFull)
		if u.SSLMode != SSLVerifyFull {
			return "", SSLModeUnsupported // libpq refuses the weaker ones
		}
	}
	switch u.SSLMode {
	case "":
		u.SSLMode = verify.sslMode()
	case SSLDisable:
		ca = ""
	case SSLAllow, SSLPrefer, SSLRequire, SSLVerifyCA, SSLVerifyFull:
	default:
		return "", SSLModeUnsupported
	}
	return ca, ""
}

// sslMode is the mode that means the same.
func (v TLSVerify) sslMode() SSLMode {
	switch v {
	case VerifyFull:
		return SSLVerifyFull
	case VerifyCA:
		return SSLVerifyCA
	case VerifyNone:
		return SSLRequire
	}
	return SSLPrefer
}

// libpqText decodes %XX. A NUL would end a text of the protocol early.
func libpqText(s string) (string, bool) {
	text, ok := unescape(s)
	return text, ok && !strings.Contains(text, "\x00")
}
