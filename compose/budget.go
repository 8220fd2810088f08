package compose

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// defaultTimeout is the gate's budget where nothing sets it.
const defaultTimeout = 300 * time.Second

// setting is a duration of the gate, as far as the files tell it.
type setting struct {
	value time.Duration
	known bool    // nothing that is not known sets it
	given bool    // something sets it
	by    *envVar // the variable that does
	node  node    // or else where it is set
	key   string  // of the worker, as the contract names it
}

// setting is one of the gate's durations in a service, by the setting's name
// in variables: a flag wins, then the variable, then what the contract has the
// worker's own key say.
func (v *service) setting(name string, otherwise time.Duration) setting {
	if text, ok := v.gateFlag(strings.ReplaceAll(strings.ToLower(name), "_", "-")); ok {
		return readSetting(text, v.start(), nil)
	}
	variable := "STARTGATE_" + name
	switch e := v.variables[variable]; {
	case e != nil && !e.known:
		return setting{given: true, by: e}
	case e != nil && e.effective != "":
		return readSetting(e.effective, v.node, e)
	case e == nil && !v.complete:
		return setting{}
	}
	if v.contract != nil {
		for _, k := range v.contract.Settings {
			if string(k.Setting) == strings.ToLower(name) {
				return v.settingOf(k, otherwise)
			}
		}
	}
	return setting{value: otherwise, known: true, node: v.node}
}

// settingOf is what the contract makes of the key of a setting.
func (v *service) settingOf(k envcheck.SettingKey, otherwise time.Duration) setting {
	key := string(k.Key)
	e := v.variables[key]
	for _, s := range v.result.Settings {
		if s.Key == k.Key && s.Name == k.Setting {
			read := readSetting(s.Text.Reveal(), v.node, e)
			read.key, read.given = key, !s.Default
			return read
		}
	}
	// The contract gives none for a key that is wrong or not known, that has
	// no default, or where a skip keeps it from looking.
	return setting{value: otherwise, known: e == nil && v.complete && !v.result.Skipped, node: v.node, by: e, key: key}
}

func readSetting(text string, n node, by *envVar) setting {
	d, ok := gateDuration(text)
	return setting{value: d, known: ok, given: true, node: n, by: by}
}

// gateDuration reads a duration as the gate does: seconds, or with a unit.
func gateDuration(text string) (time.Duration, bool) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds >= 0 && seconds < 1e9 {
		return time.Duration(seconds * float64(time.Second)), true
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0
}

// gateFlag is the value of a flag of the gate in a service's command line.
func (v *service) gateFlag(name string) (text string, ok bool) {
	args, _ := v.argv()
	start, _ := v.shellStart()
	calls, _ := start.gates()
	if call, ok := gateIn(args); ok {
		calls = []gateCall{call}
	}
	for _, call := range calls {
		if call.verb == "run" || call.verb == "wait" {
			text, ok = call.flags[name]
			return text, ok
		}
	}
	return "", false
}

// budget is how long the worker's gate waits at most.
func (v *service) budget() setting { return v.setting("TIMEOUT", defaultTimeout) }

// throughGate reports whether the worker starts through the gate, be it that a
// contract is there and its image, of which nothing is known, decides.
func (v *service) throughGate() bool {
	g := v.gating()
	return g == gated || g == perhapsGated && v.contract != nil
}

// window is how long a healthcheck may fail before the container counts as
// unhealthy (moby, daemon/health.go).
func (h healthcheck) window() time.Duration {
	return h.startPeriod + time.Duration(h.retries)*h.interval
}

// patience is how long the workers of a broker wait for it.
type patience struct {
	workers []*service
	longest time.Duration // of the budgets that are known, 0 for none
	waiter  *service      // with the longest budget of those that wait for the broker's health
	budget  time.Duration // of the waiter
}

// patience is that of each broker's workers.
func (s *stack) patience() map[*service]*patience {
	all := map[*service]*patience{}
	for _, b := range s.of(broker) {
		all[b] = &patience{}
	}
	for _, v := range s.of(worker) {
		budget := v.budget()
		for _, b := range v.brokers() {
			p := all[b]
			p.workers = append(p.workers, v)
			if !v.throughGate() || !budget.known {
				continue
			}
			p.longest = max(p.longest, budget.value)
			if v.dependency(b.name).at("condition").text().effective == "service_healthy" && budget.value > p.budget {
				p.waiter, p.budget = v, budget.value
			}
		}
	}
	return all
}

// matters reports whether a broker is one that workers queue at, as far as the
// stack or its configuration tells.
func (p *patience) matters(b *service) bool {
	return len(p.workers) > 0 || b.config.Role == string(broker) || b.config.LoadTime > 0
}

// restartPolicy is what the engine does when a service's process ends.
type restartPolicy struct {
	node    node
	name    string // no, always, unless-stopped or on-failure; "", which is no, where none is written
	limited bool   // it gives up after some attempts
	known   bool
}

// restartPolicy reads both places. The one under deploy wins, also where it has
// no condition (compose, getRestartPolicy).
func (v *service) restartPolicy() restartPolicy {
	if n := v.at("deploy", "restart_policy"); n.exists() {
		condition, attempts := n.at("condition"), n.at("max_attempts")
		p := restartPolicy{node: n, name: condition.text().effective, known: condition.text().known && attempts.text().known}
		count, _ := attempts.integer(0)
		p.limited = count > 0
		switch p.name {
		case "any":
			p.name = "always"
		case "none":
			p.name = "no"
		}
		return p
	}
	n := v.at("restart")
	t := n.text()
	name, count, _ := strings.Cut(t.effective, ":")
	if t.effective == "false" {
		name = "no" // restart: no, as YAML reads it
	}
	return restartPolicy{node: n, name: name, limited: count != "" && count != "0", known: t.known}
}

// restarts reports whether the policy starts the process again.
func (p restartPolicy) restarts() bool {
	return slices.Contains([]string{"always", "unless-stopped", "on-failure"}, p.name)
}
