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
