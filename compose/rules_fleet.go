package compose

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/startgate/startgate/envcheck"
)

// member is a worker of one of the groups.
type member struct {
	*service
	group string
	by    *envVar // nil where the contract's default says the group
}

// members are the workers that read a group from the configured key, in the
// order of the files. all is
// false when there may be more.
func (c *check) members() (found []member, all bool) {
	g, all := c.options.Config.Groups, true
	if g == nil {
		return nil, false
	}
	for _, v := range c.of(worker) {
		group, e, known := v.reads(g.Key)
		if n, _, counted := v.replicas(); counted && n == 0 {
			continue
		}
		if all = all && known; known && group != "" {
			found = append(found, member{v, group, e})
		}
	}
	slices.SortStableFunc(found, func(a, b member) int {
		return cmp.Or(strings.Compare(a.position().File, b.position().File), cmp.Compare(a.position().Line, b.position().Line))
	})
	return found, all
}

// groupsOnce is SG701.
func groupsOnce(c *check) {
	members, all := c.members()
	if len(members) == 0 {
		return
	}
	g, first := c.options.Config.Groups, map[string]*service{}
	for _, m := range members {
		switch other := first[m.group]; {
		case !slices.Contains(g.All, m.group):
			c.sayAt(m.service, m.by, m.node, "%s of %s is none of the groups", keyName(g.Key), nameOf(m.name)).
				fixed("correct it, or add the group to groups.all")
		case other != nil:
			c.sayAt(m.service, m.by, m.node, "%s and %s have the same %s", nameOf(other.name), nameOf(m.name), keyName(g.Key)).
				fixed("give each group one service, and that as many replicas as it needs")
		default:
			first[m.group] = m.service
		}
	}
	for i, group := range g.All {
		if first[group] == nil && all {
			c.sayConfigured(path{"groups", "all", strconv.Itoa(i)}, "no worker of the stack has this group")
		}
	}
}

// distinctPorts is SG702.
func distinctPorts(c *check) {
	members, _ := c.members()
	if len(members) == 0 {
		return
	}
	for _, key := range c.options.Config.Groups.Distinct {
		first := map[string]*service{}
		for _, m := range members {
			value, e, known := m.reads(key)
			switch other := first[value]; {
			case !known || value == "":
			case other == nil:
				first[value] = m.service
			default:
				c.sayAt(m.service, e, m.node, "%s and %s have the same %s", nameOf(other.name), nameOf(m.name), keyName(key))
			}
		}
	}
}

// portKeys are the names of a worker's variables, and of the keys of its
// contract, that hold ports of its own.
func (v *service) portKeys(of ...string) []string {
	is := func(name string) bool {
		return slices.ContainsFunc(of, func(part string) bool {
			return strings.HasSuffix(name, "PORT") && strings.Contains(name, part)
		})
	}
	var found []string
	for _, name := range v.variableNames() {
		if is(name) {
			found = append(found, name)
		}
	}
	if v.contract != nil {
		for _, k := range v.contract.Keys {
			if name := string(k.Key); is(name) && v.variables[name] == nil {
				found = append(found, name)
			}
		}
	}
	return found
}

// ownPorts is SG703. What a rule of the contract is about is said by that.
func ownPorts(c *check, v *service) {
	for _, health := range v.portKeys("HEALTH") {
		for _, admin := range v.portKeys("ADMIN", "METRICS") {
			a, e, known := v.reads(health)
			b, other, alsoKnown := v.reads(admin)
			if health == admin || !known || !alsoKnown || a == "" || a != b || v.ruledDistinct(health, admin) {
				continue
			}
			if other != nil {
				e = other
			}
			c.sayAt(v, e, v.node, "%s and %s of %s have the same value", keyName(health), keyName(admin), nameOf(v.name))
		}
	}
}

// ruledDistinct reports whether the contract has a rule by which two keys differ.
func (v *service) ruledDistinct(a, b string) bool {
	return slices.ContainsFunc(contractRules(v, envcheck.Distinct), func(r *envcheck.Rule) bool {
		return slices.Contains(r.Keys, envcheck.Key(a)) && slices.Contains(r.Keys, envcheck.Key(b))
	})
}

// localPort is a port of the container itself in the test of a healthcheck.
var localPort = regexp.MustCompile(`(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0):(\d{1,5})\b`)

// checkedPort is SG704. A port that any key of the worker has is taken as meant.
func checkedPort(c *check, v *service) {
	h := v.healthcheck()
	m := localPort.FindStringSubmatch(strings.Join(h.args, " "))
	if m == nil || !h.known || h.disabled {
		return
	}
	declared := ""
	for _, key := range v.portKeys("") {
		value, _, known := v.reads(key)
		if !known || value == m[1] {
			return
		}
		if declared == "" && strings.Contains(key, "HEALTH") {
			declared = key
		}
	}
	if e := v.variables["STARTGATE_HEALTH_LISTEN"]; e != nil && (!e.known || strings.HasSuffix(e.effective, m[1])) {
		return
	}
	if declared != "" {
		c.say(h.node.at("test"), "the healthcheck of %s asks another port than %s says", nameOf(v.name), keyName(declared))
	}
}

// publishedWorker is SG705.
func publishedWorker(c *check, v *service) {
	for _, p := range v.ports() {
		f := c.sayPort(p, "%s publishes a port", nameOf(v.name))
		if p.loopback() || !p.known {
			f.as(Warn)
		}
	}
}
