package compose

import (
	"regexp"
	"slices"
	"strings"
)

// forShell is what only a shell can replace, so that it was meant for one.
// compose lets it pass today.
var forShell = regexp.MustCompile(`(^|[^$])(\$\$)*\$[(0-9?@#!*]`)

// shellSets finds the variables that a script sets itself, and the one of
// compose that it sets each to.
var shellSets = regexp.MustCompile(`(?:^|[\s;&|('"])(?:for\s+([A-Za-z_]\w*)\s+in\b|read\s+(?:-\w+\s+)*([A-Za-z_]\w*)|([A-Za-z_]\w*)=["']?(?:\$\{?([A-Za-z_]\w*))?)`)

// expandedTooEarly finds variables of a command that the container has, and
// that compose replaces before (SG407).
func expandedTooEarly(c *check) {
	for _, v := range c.concerned() {
		for _, n := range [...]node{v.at("entrypoint"), v.at("command"), v.at("healthcheck", "test")} {
			if n.isText() {
				c.tooEarly(v, n)
			}
			for _, item := range n.each() {
				c.tooEarly(v, item)
			}
		}
	}
}

func (c *check) tooEarly(v *service, n node) {
	t := n.text()
	var own []string
	meant := map[string]int{} // uses in NAME=${NAME:-default}
	for _, m := range shellSets.FindAllStringSubmatch(t.symbolic, -1) {
		own = append(own, m[1]+m[2]+m[3])
		if m[3] == m[4] {
			meant[m[3]]++
		}
	}
	for _, each := range t.variables {
		_, known := c.environment[each.name]
		switch {
		case meant[each.name] > 0:
			meant[each.name]--
		case slices.Contains(own, each.name):
			c.say(n, "compose replaces %s before the script that sets it runs", keyName(each.name))
			return
		case known:
		case v.hasItself(each.name), each.name == "HOSTNAME" && each.form == bare:
			c.say(n, "compose replaces %s, which is set in the container and not where compose runs", keyName(each.name))
			return
		}
	}
	if forShell.MatchString(t.symbolic) {
		c.say(n, "a $ that is meant for a shell is written as $$: not every compose lets this one pass").as(Info)
	}
}

// hasItself reports whether the container gets a variable from an env_file, or
// with a value that does not come from a variable of the same name.
func (v *service) hasItself(name string) bool {
	e := v.variables[name]
	return e != nil && !e.passed && e.source != fromImage && !slices.ContainsFunc(e.variables, func(each variable) bool { return each.name == name })
}

// waitTools are programs that wait until a port is open.
var waitTools = []string{"wait-for-it", "wait-for-it.sh", "wait-for", "wait-for.sh", "waitforit", "wait-port", "wait-on", "wait4x", "dockerize", "docker-compose-wait", "wait"}

// waitsForPort reports whether a command waits until a port is open.
func waitsForPort(words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch p := program(words[0]); {
	case p == "nc" || p == "ncat" || p == "netcat":
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") && strings.Contains(w, "z") })
	case p == "wait":
		return words[0] != p // the shell's own waits for processes
	case p == "wait4x":
		return len(words) > 1 && words[1] == "tcp"
	case p == "dockerize":
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "tcp://") || strings.HasPrefix(w, "-wait=tcp") })
	case slices.Contains(waitTools, p):
		return true
	}
	return strings.Contains(strings.Join(words, " "), "/dev/tcp/")
}

// portWait finds workers that wait with a tool that does not see whether Redis
// is ready (SG411).
func portWait(c *check, v *service) {
	if v.gating() == gated {
		return
	}
	hosts := []string{}
	for _, n := range v.needed() {
		if !n.declared {
			hosts = append(hosts, n.hostNames()...)
		}
	}
	for _, t := range v.targets() {
		hosts = append(hosts, t.host)
	}
	args, _ := v.argv()
	end := unwrap(args)
	at, waits := v.argNode(len(args)-len(end)), []simple{{words: end}}
	if start, ok := v.shellStart(); ok {
		at, waits = start.at, start.commands
	}
	waited, names, unknown := false, false, false
	for i, each := range waits {
		words := unwrap(each.words)
		if waitsLoading(waits[i:]) {
			c.say(at, "the worker is started while Redis still loads: this wait takes LOADING for an answer").fixed("wait with startgate, or until redis-cli -e ping")
			return
		}
		if !waitsForPort(words) {
			continue
		}
		text := strings.ToLower(strings.Join(words, " "))
		waited, unknown = true, unknown || strings.ContainsAny(text, "$") || marked(text)
		names = names || slices.ContainsFunc(hosts, func(h string) bool { return h != "" && namesHost(text, h) })
	}
	switch {
	case !waited || len(hosts) == 0:
	case names || unknown && len(v.needed()) > 0:
		c.say(at, "the worker is started as soon as a port is open: this wait does not see that Redis still loads")
	case !unknown && !slices.ContainsFunc(v.needed(), func(n need) bool { return v.reachesHealthy(n.name) }):
		c.say(at, "this wait is for something else than the worker's Redis, which nothing waits for")
	}
}

// namesHost reports whether a host stands in a text as a word of its own.
func namesHost(text, host string) bool {
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" :/=,", r) }), host)
}

// waitsLoading reports whether a script's loop waits for an answer of Redis
// that also one that loads gives.
func waitsLoading(commands []simple) bool {
	if first := commands[0].words[0:min(1, len(commands[0].words))]; len(first) == 0 || first[0] != "until" {
		return false
	}
	n := 1
	for n < len(commands) && commands[n-1].after == "|" {
		n++
	}
	a := asked{state: loading}
	for _, client := range clientsIn(commands[:n], nil) {
		a.hosts = append(a.hosts, strings.ToLower(client.host))
	}
	return len(a.hosts) > 0 && a.pipeline(commands[:n]) == passes
}
