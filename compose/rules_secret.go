package compose

import (
	"slices"
	"strings"
)

// once remembers what was said at a place, which an anchor may bring into many
// services.
type once map[Position]bool

func (o once) first(at Position) bool {
	if o[at] {
		return false
	}
	o[at] = true
	return true
}

// literalSecrets is SG801.
func literalSecrets(c *check) {
	said, declared := once{}, c.declaredSecrets()
	for _, v := range c.services {
		for _, name := range v.variableNames() {
			e := v.variables[name]
			if e.source != fromEnvironment || !secretName(name) && !slices.Contains(declared, name) {
				continue
			}
			if l, _ := urlPassword(e.symbolic); l != noLiteral {
				continue // SG802 says that
			}
			switch literalSecret(e.symbolic) {
			case asText:
				if said.first(e.position) {
					c.sayOf(v, e, "%s of %s is a secret in plain text", keyName(name), nameOf(v.name))
				}
			case asDefault:
				if said.first(e.position) {
					c.sayOf(v, e, "%s of %s has a secret for its default", keyName(name), nameOf(v.name))
				}
			}
		}
		for _, p := range v.passwords() {
			if literalSecret(p.symbolic) != noLiteral && said.first(p.node.position()) {
				c.say(p.node, "a command line of %s has a password in plain text", nameOf(v.name))
			}
		}
	}
}

// literalCredentials is SG802.
func literalCredentials(c *check) {
	said := once{}
	for _, v := range c.services {
		for _, name := range v.variableNames() {
			e := v.variables[name]
			if e.source != fromEnvironment {
				continue
			}
			if l, _ := urlPassword(e.symbolic); l != noLiteral && said.first(e.position) {
				c.sayOf(v, e, "%s of %s is a URL with a password in plain text", keyName(name), nameOf(v.name))
			}
		}
		for _, w := range v.commandWords() {
			if l, _ := urlPassword(w.symbolic); l != noLiteral && said.first(w.node.position()) {
				c.say(w.node, "a command line of %s has a URL with a password in plain text", nameOf(v.name))
			}
		}
	}
}

// publishedBroker is SG803.
func publishedBroker(c *check, v *service) {
	for _, p := range v.ports() {
		switch {
		case p.everywhere():
			c.sayPort(p, "%s is published on all interfaces of the host", nameOf(v.name))
		case !p.known && p.address == "":
			c.sayPort(p, "%s is published on all interfaces of the host, unless a variable has an address", nameOf(v.name)).as(Warn)
		}
	}
}

// openBroker is SG804. What guards a broker that is in no file cannot be seen.
func openBroker(c *check) {
	for _, v := range c.services {
		if v.role != broker || !v.asksNobody() {
			continue
		}
		for _, p := range v.ports() {
			if p.known && !p.loopback() {
				c.sayPort(p, "%s is published and asks for no password", nameOf(v.name))
				break
			}
		}
	}
	said := once{}
	for _, v := range c.of(worker) {
		if v.hasPassword() {
			continue
		}
		for _, t := range v.targets() {
			outside := strings.ContainsAny(t.host, ".:") && len(c.servicesAt(t.host)) == 0 && !marked(t.host) && !loopback(t.host) && t.host != "host.docker.internal"
			if outside && t.parts.Password == "" && !t.parts.TLS && said.first(t.variable.position) {
				c.sayOf(v, t.variable, "%s of %s leads to a broker outside of the stack, without a password", keyName(t.variable.name), nameOf(v.name)).as(Info)
			}
		}
	}
}

// asksNobody reports whether a broker is known to have no password: its command
// line is known, and there is nothing else that could configure it.
func (v *service) asksNobody() bool {
	if !v.command.known || v.entrypoint.written || v.at("build").exists() || !slices.Contains([]string{"redis", "valkey"}, v.repository()) || !v.complete {
		return false
	}
	for _, name := range v.variableNames() {
		for _, part := range [...]string{"PASS", "ARGS", "FLAGS", "CONF", "AUTH", "ACL"} {
			if strings.Contains(name, part) {
				return false
			}
		}
	}
	args := words(v.command.args)
	return !configured(args) && !slices.ContainsFunc(args, func(s string) bool {
		return strings.HasPrefix(s, "--user") || strings.HasPrefix(s, "--aclfile") || strings.HasPrefix(s, "--requirepass") || strings.HasPrefix(s, "/")
	})
}

// builtInSecrets is SG805.
func builtInSecrets(c *check) {
	said := once{}
	for _, v := range c.services {
		for _, place := range [...]struct {
			node    node
			message phrase
			passed  bool // an entry without a value has one all the same
		}{
			{v.at("build", "args"), "a build argument of %s is a secret", true},
			{v.at("build", "labels"), "a label of the image of %s is a secret", false},
			{v.at("labels"), "a label of %s is a secret", false},
			{v.at("deploy", "labels"), "a label of %s is a secret", false},
		} {
			for _, e := range entries(place.node) {
				given := secretText(e.value) || len(variables(e.value)) > 0 || !e.valued && place.passed
				if secretName(e.name) && given && said.first(e.node.position()) {
					c.say(e.node, place.message, nameOf(v.name))
				}
			}
		}
	}
}

// namedEntry is an entry of a mapping, or of a list that is another spelling of
// one.
type namedEntry struct {
	node        node
	name, value string // with its variables
	valued      bool
}

func entries(n node) []namedEntry {
	var found []namedEntry
	if _, list := n.value.([]any); list {
		for _, item := range n.each() {
			name, value, valued := strings.Cut(item.text().symbolic, "=")
			found = append(found, namedEntry{item, name, value, valued})
		}
		return found
	}
	for _, name := range n.names() {
		e := n.at(name)
		found = append(found, namedEntry{e, name, e.text().symbolic, e.exists()})
	}
	return found
}

// shownPasswords is SG807. A literal one is SG801's or SG802's.
func shownPasswords(c *check, v *service) {
	if v.role != worker && v.role != broker {
		return
	}
	said := once{}
	for _, p := range v.passwords() {
		if p.client && literalSecret(p.symbolic) == noLiteral && strings.Contains(p.symbolic, "$") && said.first(p.node.position()) {
			c.say(p.node, "a command line of %s has a password in it", nameOf(v.name))
		}
	}
	for _, w := range v.commandWords() {
		if l, filled := urlPassword(w.symbolic); l == noLiteral && filled && said.first(w.node.position()) {
			c.say(w.node, "a command line of %s has a URL with a password in it", nameOf(v.name)).
				fixed("give the URL by an environment variable")
		}
	}
}
