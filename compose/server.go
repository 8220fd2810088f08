package compose

import (
	"slices"
	"strings"
)

// server is what a broker's command line says of how it listens.
type server struct {
	known         bool // nothing else says it: no configuration file, no image of its own kind
	port, tlsPort string
	// password is the one it asks for; the rest is whether there is one, and
	// whether that is certain.
	password          string
	asks, asksPerhaps bool
	acl               bool // users of its own
}

// server reads a broker's command line.
func (v *service) server() server {
	args, _ := v.argv()
	s := server{port: "6379", known: slices.Contains([]string{"redis", "valkey/valkey"}, v.imageName()) && v.command.known && !v.entrypoint.written}
	for name := range v.variables {
		for _, word := range [...]string{"PASS", "ARGS", "FLAGS", "CONF", "PORT"} {
			s.known = s.known && !strings.Contains(name, word)
		}
	}
	var all []string
	for _, word := range words(args) {
		all = append(all, strings.Fields(word)...)
	}
	if _, shell := shellScript(args); shell {
		s.known = false // it can do more than start the server
	}
	s.known = s.known && !configured(all)
	for _, word := range all {
		s.acl = s.acl || word == "--user" || word == "--aclfile"
	}
	if value, given := option(all, "--requirepass"); given {
		s.asks, s.asksPerhaps, s.password = value != "" && !marked(value), marked(value), value
		s.known = s.known && value != ""
	}
	if value, given := option(all, "--port"); given {
		s.port = value
	}
	s.tlsPort, _ = option(all, "--tls-port")
	return s
}

// configured reports whether a server's command line names a configuration
// file, be it called *.conf or else stand where the server looks for one.
func configured(args []string) bool {
	for i, arg := range args {
		file := i > 0 && isServer(args[i-1]) && !strings.HasPrefix(arg, "-")
		if file || strings.Contains(arg, ".conf") || arg == "-" || arg == "--include" {
			return true
		}
	}
	return false
}

// contradicted looks for brokers whose command line does not go with the URL
// that leads to them.
func contradicted(c *check, v *service) {
	for _, t := range v.targets() {
		there := c.servicesAt(t.host)
		if len(there) != 1 || there[0].role != broker || there[0] == v || t.parts.Sentinels != nil {
			continue
		}
		b, s := there[0], there[0].server()
		key, broker := keyName(t.variable.name), nameOf(there[0].name)
		c.portContradicted(v, t, s, key, broker)
		switch {
		case s.acl || t.parts.User != "" && t.parts.User != "default":
		case (s.asks || s.asksPerhaps) && t.parts.Password == "":
			if v.hasPassword() || !s.asks && !b.neverBlank(s.password) {
				continue
			}
			c.sayOf(v, t.variable, "%s has no password, and %s is started with one", key, broker)
		case s.asks && !strings.Contains(s.password, "$") && t.parts.Password != "" && !marked(t.parts.Password) && t.parts.Password != s.password:
			c.sayOf(v, t.variable, "%s has another password than %s is started with", key, broker)
		case s.known && !s.asks && !s.asksPerhaps && t.parts.Password != "":
			found := c.sayOf(v, t.variable, "%s has a password, and %s is started without one", key, broker)
			if v.client != "celery" || marked(t.parts.Password) {
				found.as(Warn) // most clients go on, and the password protects nothing
			}
		}
	}
}

func (c *check) portContradicted(v *service, t target, s server, key, broker name) {
	switch {
	case marked(t.parts.Port) || marked(s.port) || t.parts.TLS:
	case s.port != t.parts.Port && (s.known || s.port != "6379" && s.port != "" && s.port != "0"):
		c.sayOf(v, t.variable, "%s leads to another port than %s listens on", key, broker).
			fixed("inside the stack the port is the container's, not the published one")
	}
}

// hasPassword reports whether the service may have a Redis's password from
// somewhere else than the URL.
func (v *service) hasPassword() bool {
	for name := range v.variables {
		server := strings.Contains(name, "REDIS") || strings.Contains(name, "VALKEY")
		if server && (strings.Contains(name, "PASS") || strings.Contains(name, "AUTH")) {
			return true
		}
	}
	return !v.complete
}
