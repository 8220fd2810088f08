package compose

import (
	"slices"
	"strings"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// brokerWindow is SG601: a broker that loads for long is taken for dead.
func brokerWindow(c *check) {
	all := c.patience()
	for _, b := range c.of(broker) {
		p, load := all[b], time.Duration(b.config.LoadTime)
		for _, v := range p.workers {
			if budget := v.budget(); load > 0 && v.throughGate() && budget.known && budget.value > 0 && budget.value < load {
				c.sayAt(v, budget.by, budget.node, "the gate of %s gives up before %s has loaded", nameOf(v.name), nameOf(b.name)).as(Warn).
					fixed("let STARTGATE_TIMEOUT be longer than the declared load_time")
			}
		}
		h := b.healthcheck()
		if without, known := b.withoutHealth(); without || !known || !h.written || !h.known {
			continue
		}
		at := h.node.at("start_period").or(h.node)
		switch {
		case load > 0 && h.window() < load:
			c.say(at, "%s counts as unhealthy before its declared load_time is over", nameOf(b.name)).as(Error).
				fixed("let start_period be longer than the load_time")
		case load == 0 && h.startPeriod > 0 && p.waiter != nil && h.window() < p.budget:
			c.say(at, "%s counts as unhealthy before the gate of %s, which waits for its health, would give up", nameOf(b.name), nameOf(p.waiter.name))
		}
	}
}

// brokerStartPeriod is SG602. What SG601 says of a declared load time is not
// said again, and neither is anything where the retries alone last as long.
func brokerStartPeriod(c *check) {
	all := c.patience()
	for _, b := range c.of(broker) {
		h, p := b.healthcheck(), all[b]
		without, known := b.withoutHealth()
		if without || !known || !h.written || !h.known || h.startPeriod > 0 || !p.matters(b) {
			continue
		}
		needed := p.longest
		if needed == 0 {
			needed = defaultTimeout
		}
		if b.config.LoadTime == 0 && h.window() < needed {
			c.say(h.node, "the healthcheck of %s has no start_period: while it loads, its failures count", nameOf(b.name))
		}
	}
}

// workerWindow is SG603.
func workerWindow(c *check, v *service) {
	h := v.healthcheck()
	if !v.throughGate() || !h.written || h.disabled || !h.known || strings.Contains(strings.Join(h.args, " "), " --liveness") {
		return
	}
	var longest time.Duration
	for _, s := range [...]setting{v.budget(), v.setting("DELAY", 0), v.setting("START_JITTER", 0)} {
		if !s.known {
			return
		}
		longest += s.value
	}
	if h.window() >= longest {
		return
	}
	c.say(h.node.at("start_period").or(h.node), "%s counts as unhealthy while its gate may still wait", nameOf(v.name))
}

// defaultGrace is how long the engine waits after SIGTERM.
const defaultGrace = 10 * time.Second

// graceMargin is what a worker needs beside its jobs: to notice the signal, and
// to say goodbye to its broker.
const graceMargin = 5 * time.Second

// stopGrace is SG604.
func stopGrace(c *check, v *service) {
	n := v.at("stop_grace_period")
	grace, known := n.duration(defaultGrace)
	drain := time.Duration(v.config.Drain)
	at := n.or(v.node)
	switch {
	case !known, v.scheduler && drain == 0:
	case drain > 0 && grace < drain:
		c.say(at, "%s is killed before its jobs have had their declared drain time", nameOf(v.name)).as(Error).
			fixed("let stop_grace_period be 5s longer than the drain time")
	case drain > 0 && grace < drain+graceMargin:
		c.say(at, "%s is killed as soon as its declared drain time is over", nameOf(v.name)).
			fixed("let stop_grace_period be 5s longer than the drain time")
	case drain == 0 && !n.exists():
		c.say(at, "the jobs of %s are killed 10s after a stop: it has no stop_grace_period", nameOf(v.name))
	}
}

// restartLoop is SG605.
func restartLoop(c *check, v *service) {
	p, patience := v.restartPolicy(), v.setting("REFUSE_AFTER", 0)
	if !v.throughGate() || !p.known || !p.restarts() || !patience.known || patience.value > 0 || !v.enforces() {
		return
	}
	if p.limited {
		c.say(p.node, "%s uses up its restarts within seconds when its gate refuses, and then stays down", nameOf(v.name))
		return
	}
	c.say(p.node, "%s is started again without end when its gate refuses", nameOf(v.name))
}

// enforces reports whether the service's gate can end with a failure.
func (v *service) enforces() bool {
	e := v.variables["STARTGATE_MODE"]
	return e == nil || e.known && (e.effective == "" || e.effective == "enforce")
}

// noRestart is SG606. What is meant to end is passed over, and so is a policy
// that was chosen.
func noRestart(c *check, v *service) {
	if v.at("restart").exists() || v.at("deploy", "restart_policy").exists() {
		return
	}
	args, _ := v.argv()
	args = words(args)
	if slices.Contains(args, "--burst") || v.client == envcheck.RQ && slices.Contains(args, "-b") || c.awaited(v) {
		return
	}
	c.say(v.node, "nothing starts %s again after its gate has given up, or after a crash", nameOf(v.name))
}

// awaited reports whether a service waits for v to end.
func (c *check) awaited(v *service) bool {
	return slices.ContainsFunc(c.services, func(o *service) bool {
		return o.dependency(v.name).at("condition").text().effective == "service_completed_successfully"
	})
}

// probeTimes is SG609.
func probeTimes(c *check, v *service) {
	if v.role != worker && v.role != broker {
		return
	}
	h := v.healthcheck()
	if !h.written || h.disabled || !h.known {
		return
	}
	at := h.node.at("interval").or(h.node)
	first := h.interval
	if s, known := h.node.at("start_interval").duration(h.interval); known && h.startPeriod > 0 {
		first = min(first, s)
	}
	switch {
	case first > checkInterval:
		c.say(at, "the first check of %s comes late, and until then all that waits for it stands", nameOf(v.name)).
			fixed("shorten interval, or give a start_interval beside start_period")
	case h.interval < time.Second:
		c.say(at, "%s is checked more than once a second, each time by a new process", nameOf(v.name)).
			fixed("lengthen interval to some seconds")
	}
}

// knobs are the gate's settings that must stay below its budget.
var knobs = []struct {
	setting string
	message phrase
}{
	{"INTERVAL_MAX", "the gate of %s may pause for its whole budget between two attempts"},
	{"INTERVAL_MIN", "the gate of %s pauses for its whole budget between two attempts"},
	{"DIAL_TIMEOUT", "one attempt to connect may spend the whole budget of the gate of %s"},
	{"REPLY_TIMEOUT", "one answer that does not come may spend the whole budget of the gate of %s"},
}

// contradictions is SG608: what the contract says of it by its rules, and what
// the gate's own settings say.
func contradictions(c *check, v *service) {
	said := map[string]bool{} // keys about which the contract has a rule
	for _, r := range contractRules(v, envcheck.Less) {
		for _, k := range r.Keys {
			said[string(k)] = true
		}
	}
	c.faultsOf(v, func(f fault) {
		if keys := keyNames(f.Diagnostic); f.unset == nil {
			c.sayFault(v, f, "%s must be less than %s in %s", keys[0], keys[1], nameOf(v.name))
		}
	})
	budget := v.budget()
	if !budget.known || budget.value == 0 || !v.throughGate() {
		return
	}
	for _, k := range knobs {
		s := v.setting(k.setting, 0)
		if !s.known || !s.given || s.value < budget.value || said[s.key] && said[budget.key] {
			continue
		}
		c.sayAt(v, s.by, s.node, k.message, nameOf(v.name)).as(Warn)
	}
}

// contractRules are the rules of a kind in the contract of a worker.
func contractRules(v *service, kind envcheck.Word) []*envcheck.Rule {
	if v.contract == nil {
		return nil
	}
	var found []*envcheck.Rule
	for _, r := range v.contract.Rules {
		if r.Kind == kind {
			found = append(found, r)
		}
	}
	return found
}
