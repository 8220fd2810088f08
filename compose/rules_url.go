package compose

import (
	"slices"
	"strings"

	"github.com/startgate/startgate/envcheck"
)

// badURL looks for values that no client reads as a Redis URL. Without a
// contract it takes only what all clients refuse.
func badURL(c *check, v *service) {
	c.faultsOf(v, func(f fault) { c.tell(v, f) })
	if v.contract != nil || v.role == broker {
		return
	}
	for _, t := range v.redisURLs() {
		switch t.reason {
		case envcheck.PortInvalid, envcheck.DBInvalid, envcheck.HostMissing, envcheck.HostInvalid,
			envcheck.ControlOrSpace, envcheck.CredentialsNotEncoded, envcheck.BadPercentEncoding:
			c.sayOf(v, t.variable, "the value of %s cannot be read as a Redis URL", keyName(t.variable.name))
		case envcheck.SchemeMissing:
			// Some programs take HOST:PORT.
			c.sayOf(v, t.variable, "the value of %s has no scheme, without which most clients refuse it", keyName(t.variable.name)).as(Warn)
		}
	}
}

// loopbackHost looks for a Redis that is wanted in the worker's own container.
func loopbackHost(c *check, v *service) {
	args, complete := v.argv()
	if v.role == broker || v.hostNetwork() || v.sharesNetwork() || startsServer(words(args)) {
		return
	}
	for _, h := range v.redisHosts() {
		if !loopback(h.host) {
			continue
		}
		found := c.sayOf(v, h.variable, "%s leads to the container of %s itself", keyName(h.variable.name), nameOf(v.name))
		if v.role != worker || !complete && !v.command.written {
			found.as(Warn) // a Redis may run beside the program
		}
	}
}

// sharesNetwork reports whether another container is in the service's network
// namespace, so that localhost is its too.
func (v *service) sharesNetwork() bool {
	name := v.at("container_name").text()
	return slices.ContainsFunc(v.stack.services, func(o *service) bool {
		mode := o.at("network_mode").text().effective
		return mode == "service:"+v.name || name.effective != "" && mode == "container:"+name.effective || marked(mode)
	})
}

// unknownHost looks for hosts that nothing in the stack has for a name.
func unknownHost(c *check, v *service) {
	if v.role == broker {
		return
	}
	for _, h := range v.redisHosts() {
		if v.cannotReach(h.host) && !(v.contract != nil && v.defaultsElsewhere(h.variable)) {
			c.sayOf(v, h.variable, "%s leads to a host that is no service of the stack", keyName(h.variable.name))
		}
	}
}

// encodedWords are in the names of variables whose values are for URLs.
var encodedWords = []string{"ENCODED", "ESCAPED", "QUOTED", "URLSAFE", "URL_SAFE"}

// rawPassword looks for variables that are pasted into a URL as its password.
func rawPassword(c *check, v *service) {
	for _, name := range v.variableNames() {
		e := v.variables[name]
		if !v.isRedisKey(name) || e.source != fromEnvironment {
			continue
		}
		for _, u := range passwordVariables(e.symbolic) {
			value, set := c.environment[u.name]
			if set && strings.Trim(value, unreserved) == "" || u.form == ifSet || u.form == ifNotBlank ||
				slices.ContainsFunc(encodedWords, func(w string) bool { return strings.Contains(strings.ToUpper(u.name), w) }) {
				continue
			}
			c.sayOf(v, e, "%s has %s in it as it is: a password with / ? # @ or % makes another URL of it", keyName(name), keyName(u.name))
			break
		}
	}
}

// unreserved characters are the same in a URL (RFC 3986, section 2.3).
const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

// passwordVariables are those that stand in the password of a URL, be it the
// default of a variable.
func passwordVariables(s string) []variable {
	found := pasted(s)
	for _, v := range variables(s) {
		if v.form == orDefault || v.form == orDefaultAny {
			found = append(found, pasted(v.rest)...)
		}
	}
	return found
}

func pasted(s string) []variable {
	rest, taken := holes(s)
	login, _ := userinfo(rest)
	user, password, _ := strings.Cut(login, ":")
	scheme, _, _ := strings.Cut(rest, "://")
	first := strings.Count(scheme+user, hole)
	return variables(strings.Join(taken[first:first+strings.Count(password, hole)], ""))
}

// noNetwork looks for brokers that the worker's URL names and that it has no
// network in common with.
func noNetwork(c *check, v *service) {
	told := map[*service]bool{}
	for _, h := range v.redisHosts() {
		there := c.servicesAt(h.host)
		if len(there) != 1 || told[there[0]] || there[0] == v || v.hasOwnName(h.host) {
			continue
		}
		told[there[0]] = true
		if yes, known := v.shared(there[0]); known && !yes {
			c.say(v.at("networks"), "%s and %s, which its %s leads to, have no network in common",
				nameOf(v.name), nameOf(there[0].name), keyName(h.variable.name))
		}
	}
}

// keepalive looks for connections to a Redis elsewhere that what lies between
// may drop while they are idle.
func keepalive(c *check, v *service) {
	switch v.client {
	case envcheck.Asynq, envcheck.Sidekiq, envcheck.Celery:
		return // go-redis and redis-client send keepalives, and kombu pings every 25 s
	}
	config := c.options.Config.Stacks[c.name]
	for name := range v.variables {
		if strings.Contains(name, "KEEPALIVE") || strings.Contains(name, "KEEP_ALIVE") || strings.Contains(name, "HEALTH_CHECK_INTERVAL") {
			return
		}
	}
	for _, t := range v.at("sysctls").each() {
		if t.path[len(t.path)-1] == "net.ipv4.tcp_keepalive_time" || strings.Contains(t.text().effective, "tcp_keepalive_time") {
			return
		}
	}
	for _, t := range v.targets() {
		query := t.variable.effective
		if strings.Contains(query, "keepalive") || strings.Contains(query, "health_check_interval") || strings.Contains(query, "keepAlive") {
			continue
		}
		if t.parts.Socket != "" || marked(t.host) || loopback(t.host) || len(c.servicesAt(t.host)) > 0 {
			continue
		}
		declared := config.Broker != "" || slices.ContainsFunc(config.External, func(e string) bool { return strings.EqualFold(e, t.host) })
		if declared || strings.ContainsAny(t.host, ".:") && t.host != "host.docker.internal" {
			c.sayOf(v, t.variable, "%s leads out of the stack, and nothing keeps an idle connection alive", keyName(t.variable.name))
			return
		}
	}
}

// tlsMismatch looks for a scheme that does not go with what listens there.
func tlsMismatch(c *check, v *service) {
	const azureTLS = "6380" // by convention, as 6379 is the plain one
	for _, t := range v.targets() {
		there := c.servicesAt(t.host)
		switch {
		case !t.parts.TLS && t.parts.Port == azureTLS && len(there) == 0 && strings.Contains(t.host, ".") && strings.Trim(t.host, "0123456789.") != "":
			c.sayOf(v, t.variable, "%s has a scheme without TLS and the port that is mostly for TLS", keyName(t.variable.name)).
				fixed("write rediss:// if it speaks TLS there")
		case t.parts.TLS && len(there) == 1 && there[0].role == broker:
			if s := there[0].server(); s.known && s.tlsPort == "" {
				c.sayOf(v, t.variable, "%s asks for TLS, which %s is not started with", keyName(t.variable.name), nameOf(there[0].name)).
					fixed("write redis://, or start the broker with --tls-port").as(Warn)
			}
		}
	}
}
