package envcheck

import (
	"slices"
	"strconv"
	"strings"
)

// param is a parameter of a URL's query, and what stands in front of the query.
type param struct {
	name, value string
	form        form
	db, login   bool // the URL has a database in its path, or credentials
}

// setQuery reads the query. A parameter that stands there twice, or that is
// encoded where nothing needs to be, is read differently even by one client.
func (d *dialect) setQuery(p *RedisParts, query string, q param) Reason {
	var names []string
	for one := range strings.SplitSeq(query, "&") {
		if one == "" {
			continue
		}
		q.name, q.value, _ = strings.Cut(one, "=")
		switch {
		case strings.Contains(one, "@"):
			return CredentialsNotEncoded // see parse
		case !plain(one), strings.ContainsAny(q.name, "%+"), slices.Contains(names, q.name):
			return ParameterUnsupported
		}
		names = append(names, q.name)
		if reason := d.param(p, q); reason != "" {
			return reason
		}
	}
	if p.Sentinels != nil && d.guarded && p.Master == "" {
		return MasterMissing
	}
	return ""
}

// plain reports whether every client can read s as a part of a URL.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' || strings.IndexByte("\"<>\\^`{|}", s[i]) >= 0 || s[i] == '%' && !hexAt(s, i+1) {
			return false
		}
	}
	return true
}

// text is the value decoded, where clients agree on it: + is a blank for most,
// and redis-py decodes twice.
func (q param) text() (string, Reason) {
	s, ok := unescape(q.value)
	if !ok || strings.Contains(q.value, "+") || strings.Contains(s, "%") || strings.ContainsFunc(s, control) {
		return "", ParameterUnsupported
	}
	return s, ""
}

// genericParam judges only the parameters that change where a client connects
// and as whom; clients ignore or refuse the others by themselves.
func genericParam(p *RedisParts, q param) Reason {
	switch q.name {
	case "db":
		if q.db {
			return DBInQuery // some take the path's, some the query's
		}
		return p.setQueryDB(q)
	case "username", "password", "sentinels":
		return ClientsDiffer
	case "tls", "ssl":
		if !p.TLS {
			return ClientsDiffer
		}
	case "skip_verify", "verify":
		return TLSModeUnsupported
	case "ssl_cert_reqs":
		return p.setCertReqs(q.value, true)
	}
	return ""
}

// rqParam: redis-py hands every parameter to its connection, which fails at
// first use for one that it does not know. Those without a value are dropped.
func rqParam(p *RedisParts, q param) Reason {
	if q.value == "" {
		return ""
	}
	ok := true
	switch q.name {
	case "db":
		if q.db {
			p.doubt(DBInQuery)
		}
		return p.setDB(q.value)
	case "username", "password":
		return p.setQueryLogin(q)
	case "socket_timeout", "socket_connect_timeout":
		_, err := strconv.ParseFloat(q.value, 64)
		ok = err == nil
	case "max_connections", "health_check_interval":
		_, ok = digits(q.value)
	case "protocol":
		ok = q.value == "2" || q.value == "3"
	case "client_name", "decode_responses", "retry_on_timeout", "socket_keepalive":
	default:
		if q.form == tlsForm && strings.HasPrefix(q.name, "ssl_") {
			return p.setPythonTLS(q, false)
		}
		ok = false
	}
	if !ok {
		return ParameterUnsupported
	}
	return ""
}

// celeryParam: kombu takes parameters of TLS, which also turn it on, and of a
// socket the database. It fails at others.
func celeryParam(p *RedisParts, q param) Reason {
	switch {
	case q.value == "":
		return ""
	case q.name == "virtual_host" && q.form == socketForm:
		return p.setDB(q.value)
	case (q.form == tcpForm || q.form == tlsForm) && strings.HasPrefix(q.name, "ssl_"):
		p.TLS = true
		if p.lax {
			p.Verify, p.lax = "", false
		}
		return p.setPythonTLS(q, true)
	}
	return ParameterUnsupported
}

// sidekiqParam: redis-client reads db where the path has none.
func sidekiqParam(p *RedisParts, q param) Reason {
	switch {
	case q.name == "sentinels":
		return ClientsDiffer // to it the host is a Redis, to redis-rb 5 a master's name
	case q.name == "db" && !q.db:
		return p.setDB(q.value)
	}
	p.ignore(q)
	return ""
}

// bullmqParam: ioredis takes parameters for its options, where nothing else in
// the URL gives them. Any value of tls is TLS to it, also false.
func bullmqParam(p *RedisParts, q param) Reason {
	switch q.name {
	case "host", "port", "path", "sentinels":
		return ParameterUnsupported
	case "username", "password":
		return p.setQueryLogin(q)
	case "tls":
		if q.value != "true" || q.form == socketForm {
			return TLSModeUnsupported
		}
		p.TLS = true
		return ""
	case "db":
		if !q.db {
			return p.setQueryDB(q)
		}
	}
	p.ignore(q)
	return ""
}

// asynqParam: asynq reads one parameter of sockets and one of Sentinels.
func asynqParam(p *RedisParts, q param) (reason Reason) {
	switch {
	case q.name == "sentinels":
		return ClientsDiffer
	case q.name == "master" && q.form == sentinelForm:
		p.Master, reason = q.text()
		return reason
	case q.name == "db" && q.form == socketForm:
		return p.setDB(q.value)
	}
	p.ignore(q)
	return ""
}

// ignore doubts a parameter that the client does not read, if elsewhere it
// changes where one connects or as whom, and to something else than is read.
func (p *RedisParts) ignore(q param) {
	same := false
	switch q.name {
	case "db", "virtual_host":
		same = q.value == "" || q.value == strconv.Itoa(p.DB)
	case "tls", "ssl":
		same = (q.value == "true") == p.TLS
	case "ssl_cert_reqs":
		same = p.TLS && strings.EqualFold(strings.TrimPrefix(q.value, "CERT_"), "required")
	case "ssl_check_hostname":
		same = p.TLS && q.value == "true"
	case "username", "password", "verify", "skip_verify", "master":
	default:
		same = !strings.HasPrefix(q.name, "ssl_")
	}
	if !same {
		p.doubt(ParameterIgnored)
	}
}

// setQueryDB is setDB for clients that fail at no number.
func (p *RedisParts) setQueryDB(q param) Reason {
	if q.value == "" {
		return DBInvalid
	}
	return p.setDB(q.value)
}

// setQueryLogin refuses credentials in two places.
func (p *RedisParts) setQueryLogin(q param) (reason Reason) {
	switch {
	case q.login:
		return ClientsDiffer
	case q.name == "username":
		p.User, reason = q.text()
	default:
		p.Password, reason = q.text()
	}
	return reason
}

// setPythonTLS reads the parameters of redis-py's TLS connection. constants
// says that ssl_cert_reqs may also be a name of Python's module ssl.
func (p *RedisParts) setPythonTLS(q param, constants bool) (reason Reason) {
	switch q.name {
	case "ssl_cert_reqs":
		return p.setCertReqs(q.value, constants)
	case "ssl_check_hostname":
		switch strings.ToLower(q.value) {
		case "true":
		case "false":
			if p.Verify != VerifyNone {
				p.Verify = VerifyCA
			}
		default:
			return TLSModeUnsupported
		}
	case "ssl_ca_certs":
		p.CAFile, reason = q.text()
	case "ssl_certfile":
		p.CertFile, reason = q.text()
	case "ssl_keyfile":
		p.KeyFile, reason = q.text()
	default:
		return TLSModeUnsupported
	}
	return reason
}

func (p *RedisParts) setCertReqs(word string, constants bool) Reason {
	if name, ok := strings.CutPrefix(word, "CERT_"); ok && constants && name == strings.ToUpper(name) {
		word = strings.ToLower(name)
	}
	switch word {
	case "none":
		p.Verify = VerifyNone
	case "optional", "required":
		if p.Verify != VerifyCA {
			p.Verify = VerifyFull
		}
	default:
		return TLSModeUnsupported
	}
	return ""
}
