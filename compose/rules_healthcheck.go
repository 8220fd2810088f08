package compose

import (
	"slices"
	"strings"
)

// concerned are the services whose health matters to a worker: itself, the
// brokers, and what it waits for.
func (s *stack) concerned() []*service {
	waited := map[string]bool{}
	for _, v := range s.of(worker) {
		for _, d := range v.dependencies() {
			if d.at("condition").text().effective == "service_healthy" {
				waited[d.path[len(d.path)-1]] = true
			}
		}
	}
	var found []*service
	for _, v := range s.services {
		if v.role == worker || v.role == broker || waited[v.name] {
			found = append(found, v)
		}
	}
	return found
}

// asked is the broker as its own healthcheck asks it.
func (v *service) asked(s state) asked {
	name, tag := v.repository(), v.tag()
	before := func(versions ...string) bool {
		return slices.ContainsFunc(versions, func(version string) bool {
			rest, ok := strings.CutPrefix(tag, version)
			return ok && (rest == "" || rest[0] == '.' || rest[0] == '-')
		})
	}
	redis := name == "redis" || name == "valkey" || name == "redis-stack" || name == "redis-stack-server"
	return asked{
		state: s, hosts: v.hostNames(), port: v.listens(), keydb: name == "keydb",
		async: redis && !marked(tag) && !before("2", "3", "4", "5", "6"),
		old:   name == "redis" && before("2", "3", "4", "5", "6.0"),
	}
}

// listens is the port that the broker listens on, "" when a configuration file
// or an image's own ways decide.
func (v *service) listens() string {
	args, _ := v.argv()
	all := words(args)
	if configured(all) || slices.ContainsFunc(all, func(arg string) bool {
		return strings.HasPrefix(arg, "--tls-port") || strings.HasPrefix(arg, "--flagfile")
	}) {
		return ""
	}
	port, _ := option(all, "--port")
	own := v.entrypoint.written || v.command.written
	if port == "" && slices.Contains(officialBrokers, v.imageName()) && (!own || startsServer(all)) {
		return "6379"
	}
	if strings.Trim(port, "0123456789") != "" || port == "0" {
		return ""
	}
	return port
}

// clients are all calls of redis-cli in a healthcheck.
func (h healthcheck) clients() []redisClient {
	if h.script == "" {
		return clientsIn([]simple{{words: h.args}}, nil)
	}
	commands, _ := shellCommands(h.script)
	return clientsIn(commands, nil)
}

func clientsIn(commands []simple, found []redisClient) []redisClient {
	for _, c := range commands {
		words := unwrap(c.words)
		if len(words) > 0 && slices.Contains(clientNames, program(words[0])) {
			found = append(found, readClient(words))
		}
		for _, w := range c.words {
			if i := strings.Index(w, "$("); i >= 0 && closingParen(w[i:]) > 0 {
				inner, _ := shellCommands(w[i+2 : i+closingParen(w[i:])])
				found = clientsIn(inner, found)
			}
		}
	}
	return found
}

// weakHealthcheck finds a broker's check that passes while it loads (SG504).
func weakHealthcheck(c *check, v *service) {
	h := v.healthcheck()
	if !h.tested() {
		return
	}
	if v.asked(loading).of(h) != passes || v.asked(ready).of(h) == fails || v.asked(down).of(h) == passes {
		return
	}
	f := c.say(h.node.at("test"), "this check passes while the broker still loads its data set")
	if v.asked(ready).keydb {
		f.fixed("KeyDB says PONG while it loads: keydb-cli info persistence | grep -q '^loading:0'")
	}
	if v.keepsNothing() {
		f.as(Warn)
	}
}

// keepsNothing reports whether the broker is told to have no data set to load.
func (v *service) keepsNothing() bool {
	args, _ := v.argv()
	all := words(args)
	saves, given := option(all, "--save")
	return given && saves == "" && !slices.Contains(all, "--appendonly")
}

// password tells whether the broker wants one, as far as its command line or
// environment says, and whether that is certain.
func (v *service) password() (set, certain bool) {
	args, _ := v.argv()
	if value, given := option(words(args), "--requirepass"); given {
		return value != "", v.neverBlank(value)
	}
	name := v.imageName()
	if strings.Contains(name, "bitnami") && (v.variables["REDIS_PASSWORD"].set() || v.variables["VALKEY_PASSWORD"].set()) {
		return true, true
	}
	return v.variables["DFLY_requirepass"].set(), true
}

// neverBlank reports whether an argument is more than a variable that could be
// empty where the stack is deployed, to compose or to the container's shell.
func (v *service) neverBlank(arg string) bool {
	if name, ok := strings.CutPrefix(arg, "$"); ok {
		e := v.variables[strings.Trim(name, "{}")]
		return e != nil && e.effective != "" && v.neverBlank(e.effective)
	}
	if !marked(arg) {
		return true
	}
	all := v.variables
	texts := append(v.entrypoint.node.texts(), v.command.node.texts()...)
	for _, key := range sortedKeys(all) {
		texts = append(texts, all[key].text)
	}
	for _, t := range texts {
		for _, each := range t.variables {
			if each.form == mustNotBlank && strings.Contains(arg, mark(each.name)) {
				return true
			}
		}
	}
	return false
}

// unauthenticatedHealthcheck finds a check without the password that the
// broker wants (SG505).
func unauthenticatedHealthcheck(c *check, v *service) {
	h := v.healthcheck()
	set, certain := v.password()
	if !h.tested() || !set || !v.complete {
		return
	}
	for _, key := range [...]string{"REDISCLI_AUTH", "VALKEYCLI_AUTH"} {
		if v.variables[key] != nil || strings.Contains(h.script, key+"=") {
			return
		}
	}
	for _, client := range h.clients() {
		if !client.known || client.auth || client.version || len(client.command) == 0 || strings.EqualFold(client.command[0], "auth") {
			continue
		}
		message := phrase("the broker wants a password and this check gives none: it passes on the refusal")
		if client.exits || v.asked(unauthenticated).of(h) == fails {
			message = "the broker wants a password and this check gives none: it never passes"
		}
		f := c.say(h.node.at("test"), message)
		if !certain {
			f.as(Warn)
		}
		return
	}
}

// brokerHealthcheck finds a broker's check that cannot tell anything (SG507).
func brokerHealthcheck(c *check, v *service) {
	h := v.healthcheck()
	if !h.tested() {
		return
	}
	test := h.node.at("test")
	a := v.asked(ready)
	for _, client := range h.clients() {
		switch {
		case !client.known || client.elsewhere(a.hosts) || len(client.command) == 0:
		case client.otherPort(a.port):
			c.say(test, "this check asks another port than the one that the broker listens on").fixed("give redis-cli the broker's own port with -p")
			return
		case slices.Contains(writing, strings.ToLower(client.command[0])):
			c.say(test, "this check changes the data that the broker holds").fixed("ask with redis-cli -e ping, which changes nothing")
			return
		}
	}
	switch {
	case v.asked(down).of(h) == passes:
		c.say(test, "this check passes also when the broker is down")
	case a.of(h) == fails && a.old && slices.ContainsFunc(h.clients(), func(c redisClient) bool { return c.exits }):
		c.say(test, "this check never passes: the redis-cli of this image has no -e").fixed("pipe redis-cli ping to grep -qx PONG, or take Redis 6.2 or later")
	case a.of(h) == fails:
		c.say(test, "this check never passes, also when the broker is ready").fixed("redis-cli -e ping is enough; lines of INFO end in a carriage return, which $ in a pattern does not match")
	}
}

// workerHealthcheck finds a worker's check that cannot fail (SG507).
func workerHealthcheck(c *check, v *service) {
	h := v.healthcheck()
	if !h.tested() {
		return
	}
	with := asked{state: down}
	if with.of(h) != passes {
		return
	}
	test := h.node.at("test")
	commands, _ := shellCommands(h.script)
	switch {
	case h.script == "" || with.run(h.script) == passes: // without a shell to find
		c.say(test, "this check passes whatever the worker does")
	case len(commands) == 1 && !commands[0].redirected:
		// bash and busybox become a single command, dash stays in front of it.
		if commands[0].words[0] != "exec" && !strings.Contains(v.tag(), "alpine") {
			c.say(test, "with some shells this check finds the shell that it runs in, and always passes").as(Warn).fixed(findOthers)
		}
	default:
		c.say(test, "this check finds the shell that it runs in, and always passes").fixed(findOthers)
	}
}

const findOthers = "use the list form without a shell, [CMD, pgrep, -f, …], or startgate health"

// healthcheckKinds holds the services' checks against SG507.
func healthcheckKinds(c *check, v *service) {
	switch v.role {
	case broker:
		brokerHealthcheck(c, v)
	case worker:
		workerHealthcheck(c, v)
	}
}
