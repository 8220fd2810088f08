package compose

import (
	"slices"
	"strings"

	"github.com/startgate/startgate/envcheck"
)

// fixedContainer is SG706. Of other services than workers it finds what compose
// refuses.
func fixedContainer(c *check, v *service) {
	n := v.at("container_name")
	if !n.exists() || v.role != worker && !v.several() {
		return
	}
	f := c.say(n, "%s has a container_name, and so cannot have a second container", nameOf(v.name))
	if v.several() {
		f.as(Error)
	}
}

// oneScheduler is SG707.
func oneScheduler(c *check) {
	first := map[string]*service{}
	for _, v := range c.services {
		inside, ok := v.beat()
		n, at, known := v.replicas()
		if !ok || known && n == 0 {
			continue
		}
		if v.several() {
			message := phrase("%s is the scheduler and has more than one container")
			if inside {
				message = "%s has the scheduler inside and more than one container"
			}
			c.say(at, message, nameOf(v.name))
			continue
		}
		schedule, known := v.schedule()
		switch other := first[schedule]; {
		case !known:
		case other == nil:
			first[schedule] = v
		default:
			c.say(v.node, "%s and %s schedule the same tasks", nameOf(other.name), nameOf(v.name))
		}
	}
}

// schedule tells apart what beats schedule: by their application, image and
// profiles, and the Redis servers that they know.
func (v *service) schedule() (key string, known bool) {
	args, _ := v.argv()
	app, _ := option(words(args), "-A", "--app")
	image := v.at("image").text()
	build := v.at("build", "context").text()
	if v.at("build").isText() {
		build = v.at("build").text()
	}
	parts := []string{app, image.effective, build.effective}
	for _, p := range v.at("profiles").texts() {
		parts = append(parts, p.effective)
	}
	for _, t := range v.targets() {
		parts = append(parts, t.variable.name, t.variable.effective)
	}
	return strings.Join(parts, "\x1f"), app != "" && image.effective+build.effective != ""
}

// declaredWorkers is SG708.
func declaredWorkers(c *check) {
	want := c.options.Config.Stacks[c.name].Workers
	if len(want) == 0 {
		return
	}
	for _, name := range sortedKeys(want) {
		v := c.service(name)
		if v == nil {
			c.sayConfigured(path{"stacks", c.name, "workers", name}, "the stack has no service %s", nameOf(name)).
				fixed("add the worker to the stack, or take it out here")
			continue
		}
		if n, at, known := v.replicas(); known && n != want[name] {
			c.say(at, "%s has another number of containers than the configuration declares", nameOf(name))
		}
	}
	for _, v := range c.of(worker) {
		if _, ok := want[v.name]; !ok {
			c.say(v.node, "the configuration does not declare %s as a worker of this stack", nameOf(v.name)).
				fixed("declare it under workers, or take it out of the stack")
		}
	}
}

// sharedNetwork is SG711.
func sharedNetwork(c *check, v *service) {
	n := v.at("network_mode")
	t := n.text()
	if t.effective == "host" || strings.HasPrefix(t.effective, "service:") || strings.HasPrefix(t.effective, "container:") {
		c.say(n, "%s has not its own network: its ports are the others' too, and localhost is theirs", nameOf(v.name))
	}
}

// enabledElsewhere is SG713. A service of which the image alone decides what it
// runs may well be a worker, and one that waits for others to be ready, or that
// others wait for to end, needs a worker's environment.
func enabledElsewhere(c *check, v *service) {
	args, _ := v.argv()
	said := v.config.Role == string(other)
	written := v.entrypoint.written && len(v.entrypoint.args) > 0 || v.command.written && len(v.command.args) > 0
	if v.role != other || !said && !written || len(args) > 0 && program(args[0]) == gate || c.awaited(v) {
		return
	}
	for _, contract := range c.contracts() {
		if key := v.enabling(contract); key != "" {
			c.sayOf(v, v.variables[key], "%s switches on a worker, and %s is none", keyName(key), nameOf(v.name))
			return
		}
	}
}

// contracts are those of the stack's workers.
func (s *stack) contracts() []*envcheck.Contract {
	var found []*envcheck.Contract
	for _, v := range s.of(worker) {
		if v.contract != nil && !slices.Contains(found, v.contract) {
			found = append(found, v.contract)
		}
	}
	if c := s.options.Contract; len(found) == 0 && c != nil {
		found = append(found, c)
	}
	return found
}

// enabling is the variable but for which the contract would take the service for
// one that is to be no worker, "" when there is none.
func (v *service) enabling(contract *envcheck.Contract) string {
	if contract.SkipWhen == nil {
		return ""
	}
	skips := func(without string) bool {
		var env envcheck.Environ
		for name, e := range v.variables {
			if e.known && name != without && !strings.HasSuffix(name, "_FILE") {
				env = append(env, name+"="+e.effective)
			}
		}
		return contract.Check(env).Skipped
	}
	if skips("") {
		return ""
	}
	for _, k := range contract.Keys {
		e := v.variables[string(k.Key)]
		if e.set() && e.source != fromImage && (contract.SkipKey == "" || contract.SkipKey == k.Key) && skips(e.name) {
			return e.name
		}
	}
	return ""
}

// fixedNode is SG714. Celery takes a name without @ for that of a host, fills
// in %h and %n, and makes up a host behind an @ that nothing follows.
func fixedNode(c *check, v *service) {
	if !v.several() {
		return
	}
	args, _ := v.argv()
	all := words(args)
	at := v.at("command").or(v.node)
	shell := func(s string) bool { return strings.ContainsAny(s, "$`") || marked(s) }
	switch v.client {
	case envcheck.Celery:
		node, ok := option(all, "-n", "--hostname")
		host := v.at("hostname")
		switch {
		case ok && !strings.Contains(node, "%") && !strings.HasSuffix(node, "@") && !shell(node):
			c.say(at, "all containers of %s have the same node name", nameOf(v.name)).
				fixed("let the name end in @%h, which is the container's host name")
		case strings.Contains(host.text().effective, "{{"): // Swarm fills it in
		case host.exists() && (!ok || strings.Contains(node, "%h")):
			c.say(host, "all containers of %s have the same host name, which their node names are made of", nameOf(v.name)).
				fixed("take hostname out: each container has one of its own")
		}
	case envcheck.RQ:
		if node, ok := option(all, "-n", "--name"); ok && !shell(node) {
			c.say(at, "all containers of %s have the same worker name, of which RQ starts one", nameOf(v.name)).
				fixed("take the name out: RQ makes one up for each worker")
		}
	}
}
