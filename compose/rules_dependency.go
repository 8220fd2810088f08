package compose

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/startgate/startgate/envcheck"
	"go.yaml.in/yaml/v4"
)

// need is a service that a worker must find ready.
type need struct {
	*service
	declared bool // by the configuration; else it is the broker
	named    bool // by a Redis URL of the worker, and not only alone in its stack
	chosen   bool // by the default of a variable: it may be another one elsewhere
}

// needed are the services of the stack that the worker must find ready.
func (v *service) needed() []need {
	var all []need
	targets := v.targets()
	for _, b := range v.brokers() {
		n := need{service: b, chosen: true}
		for _, t := range targets {
			if slices.Contains(b.hostNames(), t.host) {
				n.named = true
				n.chosen = n.chosen && len(t.variable.variables) > 0
			}
		}
		all = append(all, n)
	}
	for _, name := range v.config.Needs {
		s := v.stack.service(name)
		if s != nil && !slices.ContainsFunc(all, func(n need) bool { return n.service == s }) {
			all = append(all, need{service: s, declared: true, named: true})
		}
	}
	return all
}

// weighed gives a finding about a missing wait the severity that it has for a
// worker: the gate waits for the broker, and for what its contract names.
func (v *service) weighed(f *Finding, n need) {
	switch {
	case n.declared && !v.gateWaits(n.service):
	case v.gating() == gated:
		f.as(Info)
	case v.gating() == perhapsGated, !n.named:
		f.as(Warn)
	}
}

// gateWaits reports whether a wait of the worker's contract is for the service.
func (v *service) gateWaits(on *service) bool {
	if v.contract == nil {
		return false
	}
	return slices.ContainsFunc(v.contract.Waits, func(w envcheck.WaitSpec) bool {
		e := v.variables[string(w.Address)]
		return e != nil && slices.Contains(on.hostNames(), strings.ToLower(hostIn(e.effective)))
	})
}

// hostIn is the host of a URL or of host:port.
func hostIn(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Hostname()
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// startedOnly finds workers that wait for a service to be started, and not for
// it to be healthy (SG501).
func startedOnly(c *check, v *service) {
	for _, n := range v.needed() {
		d := v.dependency(n.name)
		condition := d.at("condition").text()
		if !d.exists() || !condition.known {
			continue
		}
		var f *Finding
		switch condition.effective {
		case "service_started":
			f = c.say(d, "the worker is started as soon as %s is, and does not wait until it is healthy", nameOf(n.name))
		case "service_completed_successfully":
			if n.declared {
				continue
			}
			f = c.say(d, "the worker waits until %s has ended, which a broker does not do", nameOf(n.name))
		default:
			continue
		}
		v.weighed(f, n)
	}
}

// independent finds workers that do not depend on what they need (SG503).
func independent(c *check, v *service) {
	for _, n := range v.needed() {
		if v.dependency(n.name).exists() || n.service == v {
			continue
		}
		f := c.say(v.at("depends_on").or(v.node), "the worker does not depend on %s", nameOf(n.name)).fixed("depends_on: {%s: {condition: service_healthy}}", nameOf(n.name))
		v.weighed(f, n)
		if v.reachesHealthy(n.name) {
			f.as(Info)
			f.Message = phrase("the worker depends on %s only through another service").with(nameOf(n.name))
		}
	}
}

// reachesHealthy reports whether the service is started only after another one
// is healthy, because of what it depends on.
func (v *service) reachesHealthy(name string) bool {
	if v.stack.behind == nil {
		v.stack.behind = map[string]map[string]bool{}
	}
	if v.stack.behind[name] == nil {
		v.stack.behind[name] = v.stack.behindHealthy(name)
	}
	return v.stack.behind[name][v.name]
}

// behindHealthy are the services that are started only after one is healthy.
func (s *stack) behindHealthy(name string) map[string]bool {
	dependents := map[string][]*service{}
	var open []*service
	for _, v := range s.services {
		if v.dependency(name).at("condition").text().effective == "service_healthy" {
			open = append(open, v)
		}
		for _, d := range v.dependencies() {
			on := d.path[len(d.path)-1]
			dependents[on] = append(dependents[on], v)
		}
	}
	found := map[string]bool{}
	for len(open) > 0 {
		v := open[0]
		open = open[1:]
		if !found[v.name] {
			found[v.name] = true
			open = append(open, dependents[v.name]...)
		}
	}
	return found
}

// healthless finds dependencies on the health of what has none (SG502).
func healthless(c *check, v *service) {
	for _, d := range v.dependencies() {
		on := d.path[len(d.path)-1]
		target := c.service(on)
		if target == nil || d.at("condition").text().effective != "service_healthy" {
			continue
		}
		without, known := target.withoutHealth()
		if !without {
			continue
		}
		message := phrase("%s has no healthcheck: compose up refuses to start this service")
		switch {
		case target.healthcheck().disabled:
			message = "the healthcheck of %s is switched off: compose up refuses to start this service"
		case !known:
			message = "%s has no healthcheck, unless its image brings one"
		}
		f := c.say(d.at("condition"), message, nameOf(on))
		if optional, known := d.at("required").falsehood(); optional || !known {
			f.as(Warn)
		}
		if !known {
			f.as(Warn).fixed("give %s a healthcheck, or say in startgate.compose.yaml that its image has one", nameOf(on))
		}
	}
}

// falsehood is a bool that is true when it is absent.
func (n node) falsehood() (value, known bool) {
	if !n.exists() {
		return false, true
	}
	is, known := n.truth()
	return !is, known
}

// optionalBroker finds workers that start without their broker (SG511).
func optionalBroker(c *check, v *service) {
	for _, n := range v.needed() {
		d := v.dependency(n.name)
		if optional, known := d.at("required").falsehood(); d.exists() && optional && known {
			f := c.say(d.at("required"), "the worker is started also when %s cannot be", nameOf(n.name))
			if v.gating() == gated {
				f.as(Info)
			}
		}
	}
}

// profiledBroker finds brokers that are not there when their worker is
// (SG512).
func profiledBroker(c *check, v *service) {
	active := strings.Split(c.environment["COMPOSE_PROFILES"], ",")
	for _, n := range v.needed() {
		d := v.dependency(n.name)
		profiles := n.at("profiles").texts()
		optional, known := d.at("required").falsehood()
		if len(profiles) == 0 || !d.exists() && !n.named || optional || !known {
			continue
		}
		among := func(name string) bool {
			return slices.ContainsFunc(profiles, func(t text) bool { return t.effective == name || !t.known })
		}
		with := slices.ContainsFunc(active, func(p string) bool { return p == "*" || among(p) })
		own := v.at("profiles").texts()
		if with || len(own) > 0 && !slices.ContainsFunc(own, func(t text) bool { return t.known && !among(t.effective) }) {
			continue
		}
		f := c.say(n.at("profiles"), "%s is in a profile that %s is not in, and is not started with it", nameOf(n.name), nameOf(v.name))
		if n.chosen && !d.exists() && !n.declared {
			f.as(Warn)
		}
	}
}

// restartedOneShot finds services that others wait for to end, and that the
// engine starts again when they do (SG515).
func restartedOneShot(c *check) {
	said := map[string]bool{}
	for _, v := range c.services {
		for _, d := range v.dependencies() {
			on := d.path[len(d.path)-1]
			target := c.service(on)
			if target == nil || said[on] || d.at("condition").text().effective != "service_completed_successfully" {
				continue
			}
			if p := target.restartPolicy(); p.name == "always" || p.name == "unless-stopped" {
				said[on] = true
				c.say(p.node, "%s waits for this service to end, and it is restarted whenever it does", nameOf(v.name))
			}
		}
	}
}

// uncheckedBroker finds brokers without any healthcheck (SG519). One that
// another service waits for is found by SG502.
func uncheckedBroker(c *check, v *service) {
	without, known := v.withoutHealth()
	if !without {
		return
	}
	for _, o := range c.services {
		if o.dependency(v.name).at("condition").text().effective == "service_healthy" {
			return
		}
	}
	h := v.healthcheck()
	switch {
	case h.disabled:
		c.say(h.node.at("disable").or(h.node.at("test")), "the broker's healthcheck is switched off")
	case known:
		c.say(v.node, "the broker has no healthcheck")
	default:
		c.say(v.node, "the broker has no healthcheck, unless its image brings one").as(Info)
	}
}

// lostByMerge finds what a merge key would have brought to a worker, and a key
// of its own replaces (SG518).
func lostByMerge(c *check, v *service) {
	at, ok := c.index.exact(v.path)
	if !ok {
		return
	}
	own := resolve(at.value)
	for _, key := range [...]string{"depends_on", "environment"} {
		explicit := entry(own, key)
		if explicit == nil {
			continue
		}
		for _, base := range mergedInto(own) {
			var lost []name
			for _, each := range entryNames(entry(base, key)) {
				if v.misses(key, each) {
					lost = append(lost, keyOr(key, each))
				}
			}
			if len(lost) > 0 {
				c.say(v.at(key), "this replaces what the merge key brings, and %s is lost", list(lost))
				break
			}
		}
	}
}

// misses reports whether the worker is without what it needs.
func (v *service) misses(key, name string) bool {
	if key == "depends_on" {
		return !v.dependency(name).exists() && slices.ContainsFunc(v.needed(), func(n need) bool { return n.name == name })
	}
	needed := v.isRedisKey(name)
	if v.contract != nil {
		needed = slices.ContainsFunc(v.contract.Keys, func(k *envcheck.KeySpec) bool { return string(k.Key) == name && k.Required != nil })
	}
	return needed && v.variables[name] == nil && v.complete
}

func keyOr(key, text string) name {
	if key == "environment" {
		return keyName(text)
	}
	return nameOf(text)
}

// mergedInto are the mappings that a mapping's merge key names.
func mergedInto(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	var found []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag != "!!merge" {
			continue
		}
		if value := resolve(n.Content[i+1]); value != nil && value.Kind == yaml.SequenceNode {
			for _, item := range value.Content {
				found = append(found, resolve(item))
			}
		} else {
			found = append(found, value)
		}
	}
	return found
}

// entryNames are the names in a mapping, or in the list that is its other
// spelling.
func entryNames(n *yaml.Node) []string {
	var names []string
	switch {
	case n == nil:
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			names = append(names, n.Content[i].Value)
		}
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			name, _, _ := strings.Cut(item.Value, "=")
			names = append(names, name)
		}
	}
	return names
}
