package envcheck

import "strings"

// address finds out where a wait leads that is for no Redis.
func (j *judge) address(r *reading, t *Target) Reason {
	u, reason := addressOf(r)
	if reason != "" {
		return reason
	}
	if t.Kind == "postgres" {
		ca, reason := u.setPostgres(t.TLS.Verify)
		if reason != "" {
			return reason
		}
		if ca != "" {
			// The URL wins over the contract, as it does in all that both say.
			t.CAFile, t.TLS.CA = Seal(ca), ""
		}
	}
	t.Address, t.Header = Seal(u), j.secret(t.WaitSpec.Header.Key)
	return ""
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

// addressOf is where a key leads that is no Redis: HOST:PORT, or a URL with a
// port or with a scheme that has one.
func addressOf(r *reading) (URLParts, Reason) {
	u := r.value.url
	if p := r.value.redis.Reveal(); p.Host != "" {
		return URLParts{Scheme: "redis", Host: p.Host, Port: p.Port, User: p.User, Password: p.Password}, ""
	}
	if u.Host == "" && strings.Contains(r.value.text, "://") {
		var reason Reason
		if u, reason = splitURL(r.value.text, true); reason != "" {
			return u, reason
		}
	}
	if u.Host == "" {
		var p RedisParts
		if reason := p.setHostPort(r.value.text); reason != "" {
			return u, reason
		}
		if !portOf(r.value.text) {
			return u, PortInvalid
		}
		return URLParts{Host: p.Host, Port: p.Port}, ""
	}
	if u.Port == "" {
		u.Port = u.DefaultPort()
	}
	if u.Port == "" {
		return u, PortInvalid
	}
	return u, ""
}
