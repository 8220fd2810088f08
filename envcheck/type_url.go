package envcheck

import "strings"

// URLParts is what a URL says. Whoever has one must not print it.
type URLParts struct {
	Scheme string // lower case
	Host   string // IPv6 without brackets
	Port   string // "" when the URL has none
	User   string // decoded, as Password is
	Password,
	Path, // as it stands in the URL, with its slash
	Query string // as it stands in the URL, without its mark

	// Of the target of a postgres wait alone.
	Database string  // "" for the one that has the user's name
	SSLMode  SSLMode // never ""
}

// schemePorts are the ports that a URL without one leads to.
var schemePorts = [...]struct{ scheme, port string }{
	{"http", "80"}, {"https", "443"}, {"postgres", "5432"}, {"postgresql", "5432"}, {"redis", "6379"}, {"rediss", "6379"},
	{"amqp", "5672"}, {"amqps", "5671"}, {"smtp", "25"}, {"smtps", "465"}, {"mysql", "3306"}, {"mongodb", "27017"},
	{"nats", "4222"}, {"kafka", "9092"}, {"ldap", "389"}, {"ldaps", "636"},
}

// DefaultPort is the port that the URL's scheme leads to, "" when there is
// none that is known.
func (u URLParts) DefaultPort() string {
	for _, s := range schemePorts {
		if s.scheme == u.Scheme {
			return s.port
		}
	}
	return ""
}

func readURL(s string, k *KeySpec) (value, Reason) { return readURLOf(s, k) }

func readHTTPURL(s string, k *KeySpec) (value, Reason) { return readURLOf(s, k, "http", "https") }

// readPostgres also takes SQLAlchemy's name of a driver, as in
// postgresql+asyncpg://, which changes nothing of where the URL leads.
func readPostgres(s string, k *KeySpec) (value, Reason) {
	scheme, rest, ok := strings.Cut(s, "://")
	name, driver, named := strings.Cut(scheme, "+")
	if !ok || !named || driver == "" || !only(strings.ToLower(driver), lowers+numerals+"_") {
		return readURLOf(s, k, "postgres", "postgresql")
	}
	v, reason := readURLOf(name+"://"+rest, k, "postgres", "postgresql")
	v.text = s
	return v, reason
}

// readURLOf reads a URL with one of the schemes, or with any.
func readURLOf(s string, k *KeySpec, schemes ...string) (value, Reason) {
	u, reason := splitURL(s, k.rule.is(secret))
	if reason != "" {
		return value{}, reason
	}
	known := len(schemes) == 0
	for _, scheme := range schemes {
		known = known || u.Scheme == scheme
	}
	if !known {
		return value{}, SchemeUnsupported
	}
	return value{text: s, url: u}, k.worded(s)
}

func readRedis(s string, k *KeySpec) (value, Reason) {
	u, reason := ParseRedisURL(k.client, s)
	return value{text: s, redis: u}, reason
}

// splitURL takes a URL apart as far as all readers agree: SCHEME://[USER@]HOST
// with nothing that would move the host into another part. Where a URL holds
// credentials, an @ behind the host is one of a password that is not encoded.
func splitURL(s string, credentials bool) (URLParts, Reason) {
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return URLParts{}, ControlOrSpace
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || scheme == "" || !only(strings.ToLower(scheme), lowers+numerals+"+-.") {
		return URLParts{}, SchemeMissing
	}
	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	end := strings.LastIndexByte(authority, '@')
	if end < 0 && strings.Contains(tail, "@") && (credentials || strings.Contains(authority, ":") && !portOf(authority)) {
		return URLParts{}, CredentialsNotEncoded
	}
	u := URLParts{Scheme: strings.ToLower(scheme)}
	if end >= 0 {
		login := authority[:end]
		if strings.Contains(login, "@") {
			return URLParts{}, CredentialsNotEncoded
		}
		if _, ok := unescape(login); !ok {
			return URLParts{}, BadPercentEncoding
		}
		user, password, _ := strings.Cut(login, ":")
		u.User, _ = unescape(user)
		u.Password, _ = unescape(password)
	}
	path, _, _ := strings.Cut(tail, "?")
	if end >= 0 && credentials && strings.Contains(path, "@") && !portOf(authority[end+1:]) {
		return URLParts{}, CredentialsNotEncoded // what stands for the host is more of the password
	}
	var p RedisParts
	if reason := p.setHostPort(authority[end+1:]); reason != "" {
		return URLParts{}, reason
	}
	u.Host = p.Host
	if portOf(authority[end+1:]) {
		u.Port = p.Port
	}
	tail, _, _ = strings.Cut(tail, "#")
	u.Path, u.Query, _ = strings.Cut(tail, "?")
	return u, ""
}

// portOf reports whether an authority without a user ends in a port.
func portOf(authority string) bool {
	i := strings.LastIndexByte(authority, ':')
	if i < 0 || strings.HasSuffix(authority, "]") {
		return false
	}
	_, ok := digits(authority[i+1:])
	return ok
}
