package envcheck

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"
)

// RedisURL is a sealed Redis URL, taken apart.
type RedisURL = Sealed[RedisParts]

// RedisParts is what a Redis URL says. Whoever reveals it must not print it.
type RedisParts struct {
	Host     string // name or IP address, IPv6 without brackets
	Port     string // decimal, 6379 when the URL has none
	Socket   string // path of a unix socket; Host and Port are "" then
	User     string
	Password string
	DB       int
	TLS      bool
	Verify   TLSVerify // "" when the URL says nothing

	// Paths of PEM files: trusted authorities, and the client's own
	// certificate with its key. "" when the URL names none.
	CAFile, CertFile, KeyFile string

	// Sentinels are HOST:PORT each; Host, Port and Socket are "" then. Master
	// is the name that they know the master by, "" when the URL has none.
	Sentinels                      []string
	Master                         string
	SentinelUser, SentinelPassword string

	// Others are the further servers of a list, of which one must be ready.
	Others []RedisParts
}

// TLSVerify says how far a server's certificate is verified.
type TLSVerify string

// How a server's certificate is verified.
const (
	VerifyFull TLSVerify = "full" // signed by a trusted authority, for the host that was dialled
	VerifyCA   TLSVerify = "ca"   // signed by a trusted authority
	VerifyNone TLSVerify = "none" // not at all
)

const redisPort = "6379"

// ParseRedisURL reads a URL as the client family generic does: it takes what
// redis-py 8, ioredis 5.11, redis-client 0.30 and go-redis 9.23 read alike (as
// found by running them on 181 URLs), and refuses the rest with a reason. Three
// forms on which they agree are refused all the same, since no worker wants
// them: no host, a negative database, port 0.
//
// No name is looked up, and a value that could leak in a look-up is refused.
func ParseRedisURL(s string) (RedisURL, Reason) {
	p, reason := parseRedis(s)
	if reason != "" {
		return RedisURL{}, reason
	}
	return Seal(p), ""
}

func parseRedis(s string) (p RedisParts, _ Reason) {
	if strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) >= 0 {
		return p, ControlOrSpace
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return p, SchemeMissing
	}
	if reason := p.setScheme(scheme); reason != "" {
		return p, reason
	}

	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	at := strings.LastIndexByte(authority, '@')
	if at < 0 && strings.ContainsRune(tail, '@') {
		// A raw / ? or # in the password ends the authority early, and some
		// clients would take the password's first part for the host.
		return p, CredentialsNotEncoded
	}
	if at >= 0 {
		if reason := p.setCredentials(authority[:at]); reason != "" {
			return p, reason
		}
	}
	if reason := p.setHostPort(authority[at+1:]); reason != "" {
		return p, reason
	}

	tail, _, _ = strings.Cut(tail, "#")
	path, query, _ := strings.Cut(tail, "?")
	path = strings.TrimPrefix(path, "/")
	if reason := p.setDB(path); reason != "" {
		return p, reason
	}
	return p, p.setQuery(query, path != "")
}

func (p *RedisParts) setScheme(scheme string) Reason {
	switch lower := strings.ToLower(scheme); lower {
	case "redis":
	case "rediss":
		if scheme != lower {
			return ClientsDiffer // ioredis speaks plain TCP for Rediss://
		}
		p.TLS = true
	case "unix", "socket", "redis+socket", "redis-socket":
		return SocketNotSupported
	case "":
		return SchemeMissing
	default:
		return SchemeUnsupported
	}
	return ""
}

// setCredentials reads USER:PASSWORD. Outside percent-encoding only the
// characters pass that no client treats in a way of its own.
func (p *RedisParts) setCredentials(s string) Reason {
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case strings.IndexByte("-._~!$&'()*,;=:%+", c) >= 0:
		default:
			return CredentialsNotEncoded
		}
	}
	user, password, colon := strings.Cut(s, ":")
	if !colon && user != "" {
		return ClientsDiffer // redis-client takes a lone user for the password
	}
	if strings.Contains(user, "%") || strings.Contains(s, "+") {
		return ClientsDiffer // redis-client keeps a user encoded, and reads + as a blank
	}
	password, ok := unescape(password)
	if !ok {
		return BadPercentEncoding
	}
	p.User, p.Password = user, password
	return ""
}

// unescape decodes %XX. ioredis refuses what does not decode to UTF-8.
func unescape(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(n))
		i += 2
	}
	return b.String(), utf8.ValidString(b.String())
}

func (p *RedisParts) setHostPort(s string) Reason {
	if strings.ContainsRune(s, ',') {
		return MultipleHosts
	}
	host, port := s, ""
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return HostInvalid
		}
		host, port = s[1:end], s[end+1:]
		if ip, err := netip.ParseAddr(host); err != nil || !ip.Is6() || ip.Zone() != "" {
			return HostInvalid
		}
		if port != "" && port[0] != ':' {
			return HostInvalid
		}
		port = strings.TrimPrefix(port, ":")
	} else {
		if strings.Count(s, ":") > 1 {
			return HostInvalid // an IPv6 address without brackets
		}
		host, port, _ = strings.Cut(s, ":")
		if host == "" {
			return HostMissing
		}
		if !validHost(host) {
			return HostInvalid
		}
	}
	if port == "" {
		port = redisPort
	}
	n, ok := digits(port)
	if !ok || n < 1 || n > 65535 {
		return PortInvalid
	}
	p.Host, p.Port = host, strconv.Itoa(n)
	return ""
}

// validHost takes what a resolver can be asked for (RFC 1123 and the
// underscores that compose allows in service names), so that a fault is said
// before anything is looked up.
func validHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	host = strings.TrimSuffix(host, ".")
	if len(host) > 253 || strings.Trim(host, "0123456789.") == "" {
		return false // resolvers take a number for an address or for nothing
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			c := label[i]
			if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	return true
}

func (p *RedisParts) setDB(path string) Reason {
	if path == "" {
		return ""
	}
	n, ok := digits(path)
	if !ok || len(path) > 1 && path[0] == '0' {
		return DBInvalid
	}
	p.DB = n
	return ""
}

// setQuery judges only the parameters that change where a client connects and
// as whom; clients ignore or refuse the others by themselves.
func (p *RedisParts) setQuery(query string, pathDB bool) Reason {
	for param := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(param, "=")
		switch name {
		case "db":
			n, ok := digits(value)
			switch {
			case pathDB:
				return DBInQuery // some take the path's, some the query's
			case !ok:
				return DBInvalid
			}
			p.DB = n
		case "username", "password", "sentinels":
			return ClientsDiffer
		case "tls", "ssl":
			if !p.TLS {
				return ClientsDiffer
			}
		case "skip_verify", "verify":
			return TLSModeUnsupported
		case "ssl_cert_reqs":
			switch value {
			case "none", "CERT_NONE":
				p.Verify = VerifyNone
			case "optional", "required", "CERT_OPTIONAL", "CERT_REQUIRED":
				p.Verify = VerifyFull
			default:
				return TLSModeUnsupported
			}
		}
	}
	return ""
}

// digits reads a number that has digits only; strconv would take a sign.
func digits(s string) (int, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 32)
	return int(n), err == nil
}

// validAddress reports whether host is an IPv6 address without brackets.
func validAddress(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Is6() && ip.Zone() == ""
}

// bracket is host as a URL has it.
func bracket(host string) string {
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return "[" + host + "]"
	}
	return host
}
