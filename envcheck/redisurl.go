package envcheck

import "strings"

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

	// Doubt is what the client makes of the URL that whoever wrote it may not
	// expect: it reads it like this, and is to be warned about. "" for nothing.
	Doubt Reason

	// lax says that Verify is the client's own default, not the URL's word.
	lax bool
}

// TLSVerify says how far a server's certificate is verified.
type TLSVerify string

// How a server's certificate is verified.
const (
	VerifyFull TLSVerify = "full" // signed by a trusted authority, for the host that was dialled
	VerifyCA   TLSVerify = "ca"   // signed by a trusted authority
	VerifyNone TLSVerify = "none" // not at all
)

const (
	redisPort    = "6379"
	sentinelPort = "26379"
)

// ParseRedisURL reads a URL as the client of a family does, as found by running
// it on 181 URLs (redis-py 8.0, kombu 5.6, redis-client 0.30, ioredis 5.11,
// asynq 0.26), or refuses it with a reason. [Generic], which is also taken for
// a client that is none of the families, reads what redis-py, ioredis,
// redis-client and go-redis 9.23 read alike.
//
// Refused are what the client itself refuses, at once or at first use, and
// what it takes to lead somewhere that no worker wants: localhost for want of a
// host, a negative database, port 0, no encryption.
//
// No name is looked up, and a value that could leak in a look-up is refused.
func ParseRedisURL(c Client, s string) (RedisURL, Reason) {
	d := dialectOf(c)
	parse := d.parse
	if d.lists && strings.Contains(s, ";") {
		parse = d.parseList
	}
	p, reason := parse(s)
	if reason != "" {
		return RedisURL{}, reason
	}
	return Seal(p), ""
}

// parse reads one URL: SCHEME://USER:PASSWORD@HOST:PORT/DB?NAME=VALUE#FRAGMENT.
func (d *dialect) parse(s string) (p RedisParts, _ Reason) {
	if strings.ContainsFunc(s, control) || !d.literal(' ') && strings.Contains(s, " ") {
		return p, ControlOrSpace
	}
	form, rest, reason := d.form(s)
	if reason != "" {
		return p, reason
	}
	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	at := strings.LastIndexByte(authority, '@')
	login, host := authority[:max(at, 0)], authority[at+1:]
	tail, fragment, _ := strings.Cut(tail, "#")
	path, query, _ := strings.Cut(tail, "?")
	switch {
	case at < 0 && strings.Contains(path+query+fragment, "@"), strings.Contains(fragment, "@"), !plain(fragment):
		// A raw / ? or # in the password ends the authority early, and some
		// clients would take the password's first part for the host.
		return p, CredentialsNotEncoded
	case strings.Contains(host+path+query+fragment, " "):
		return p, ControlOrSpace
	case form == socketForm && d.rawSocket && at >= 0:
		return p, SocketPathInvalid
	}

	p.TLS = form == tlsForm
	if p.TLS && d.lax {
		p.Verify, p.lax = VerifyNone, true
	}
	if at >= 0 {
		if reason := d.setLogin(&p, login); reason != "" {
			return p, reason
		}
	}
	if reason := d.setPlace(&p, form, host, path); reason != "" {
		return p, reason
	}
	db := form != socketForm && d.number(path) != ""
	return p, d.setQuery(&p, query, param{form: form, db: db, login: login != "" && login != ":"})
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

// form is the kind of place that s leads to, and what follows its scheme.
func (d *dialect) form(s string) (_ form, rest string, _ Reason) {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return d.bareForm(s)
	}
	lower := strings.ToLower(scheme)
	for _, known := range d.schemes {
		if known.name != lower {
			continue
		}
		if known.form == tlsForm && scheme != lower && d.plainInCapitals {
			return 0, "", ClientsDiffer
		}
		return known.form, rest, ""
	}
	switch lower {
	case "":
		return 0, "", SchemeMissing
	case "unix", "socket", "redis+socket", "redis-socket":
		return 0, "", SocketNotSupported
	}
	return 0, "", SchemeUnsupported
}

// bareForm is form for what has no scheme.
func (d *dialect) bareForm(s string) (_ form, rest string, _ Reason) {
	path := strings.TrimPrefix(s, "unix:")
	switch {
	case d.bareHost && strings.HasPrefix(s, "//"):
		return tcpForm, s[2:], ""
	case d.barePath && strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//"):
		return socketForm, path, ""
	case !d.bareHost, strings.ContainsAny(s, "/?#@[") || strings.HasPrefix(s, ":"):
		return 0, "", SchemeMissing
	case onlyDigits(s):
		return 0, "", HostMissing // a port of localhost
	}
	return tcpForm, s, ""
}

// setLogin reads USER:PASSWORD.
func (d *dialect) setLogin(p *RedisParts, s string) Reason {
	for _, r := range s {
		if !d.literal(r) && r != '%' {
			return CredentialsNotEncoded
		}
	}
	user, password, colon := strings.Cut(s, ":")
	return d.login(p, user, password, colon)
}

// setPlace reads where the URL leads: a host and a database, a socket, or
// Sentinels.
func (d *dialect) setPlace(p *RedisParts, form form, host, path string) Reason {
	switch form {
	case socketForm:
		return p.setSocket(host, path)
	case sentinelForm:
		return d.setSentinels(p, host, path)
	}
	if reason := p.setHostPort(host); reason != "" {
		return reason
	}
	if d.needsPort && !portOf(host) {
		return PortMissing
	}
	return p.setDB(d.number(path))
}

// setSocket refuses a path that is relative, or that clients would decode.
func (p *RedisParts) setSocket(host, path string) Reason {
	const longest = 107 // of sockaddr_un
	if host != "" || len(path) < 2 || path[1] == '/' || len(path) > longest || !plain(path) || strings.Contains(path, "%") {
		return SocketPathInvalid
	}
	p.Socket = path
	return ""
}

// setSentinels reads HOST:PORT, and of asynq HOST:PORT,HOST:PORT.
func (d *dialect) setSentinels(p *RedisParts, hosts, path string) Reason {
	list := []string{hosts}
	if d.guarded {
		list = strings.Split(hosts, ",")
	}
	if len(list) > 1 && strings.Contains(hosts, "[") {
		return HostInvalid // net/url takes no list with an IPv6 address
	}
	for _, host := range list {
		sentinel, reason := sentinelAddress(host)
		if reason != "" {
			return reason
		}
		if d.needsPort && !portOf(host) {
			return PortMissing
		}
		p.Sentinels = append(p.Sentinels, sentinel)
	}
	if !d.guarded {
		return p.setDB(d.number(path))
	}
	p.SentinelPassword, p.Password = p.Password, ""
	if strings.Trim(path, "/") != "" {
		p.doubt(DBIgnored)
	}
	return ""
}

// sentinelAddress is HOST or HOST:PORT with the port of a Sentinel.
func sentinelAddress(s string) (string, Reason) {
	var p RedisParts
	if reason := p.setHostPort(s); reason != "" {
		return "", reason
	}
	if !portOf(s) {
		p.Port = sentinelPort
	}
	return bracket(p.Host) + ":" + p.Port, ""
}

// setDB reads a database's number. None leaves it as it is.
func (p *RedisParts) setDB(s string) Reason {
	if s == "" {
		return ""
	}
	n, ok := digits(s)
	if !ok || len(s) > 1 && s[0] == '0' {
		return DBInvalid
	}
	p.DB = n
	return ""
}

// parseList reads the list of brokers that kombu takes: URLs with ; between.
// Of Sentinels it is one place.
func (d *dialect) parseList(s string) (p RedisParts, _ Reason) {
	urls := strings.Split(s, ";")
	for _, url := range urls {
		if !strings.Contains(url, "://") && strings.Contains(url, "@") {
			return p, CredentialsNotEncoded // the ; is one of the password
		}
	}
	for i, url := range urls {
		one, reason := d.parse(url)
		switch {
		case reason != "":
			return p, reason
		case i == 0:
			p = one
			continue
		case (one.Sentinels == nil) != (p.Sentinels == nil), one.Socket != "", p.Socket != "":
			return p, MultipleHosts
		case one.Sentinels == nil:
			p.Others = append(p.Others, one)
			continue
		}
		// Credentials and database are the first's.
		p.Sentinels = append(p.Sentinels, one.Sentinels...)
		if one.User != p.User || one.Password != p.Password {
			p.doubt(CredentialsIgnored)
		}
		if one.DB != p.DB {
			p.doubt(DBIgnored)
		}
	}
	return p, ""
}

// doubt keeps the first doubt.
func (p *RedisParts) doubt(reason Reason) {
	if p.Doubt == "" {
		p.Doubt = reason
	}
}
