package compose

import (
	"slices"
	"strconv"
	"strings"

	"github.com/startgate/startgate/envcheck"
)

// alignedParts are the parts of a Redis URL that the contract's rules compare,
// and how a finding names them.
var alignedParts = [...]struct {
	name   string
	phrase phrase
}{
	{"tls", "%s and %s lead to different places: only one asks for TLS"},
	{"host", "%s and %s lead to different hosts"},
	{"port", "%s and %s lead to different ports"},
	{"credentials", "%s and %s log in differently"},
	{"db", "%s and %s lead to different databases"},
}

// partsOf are the parts of a Redis URL as the contract compares them, see
// envcheck.Aligned.
func partsOf(p envcheck.RedisParts) [len(alignedParts)]string {
	user := p.User
	if user == "default" {
		user = ""
	}
	host := strings.ToLower(strings.TrimSuffix(p.Host, ".")) + " " + p.Socket + " " + strings.Join(p.Sentinels, ",") + " " + p.Master
	for _, other := range p.Others {
		o := partsOf(other)
		host += " " + strings.Join(o[:], " ")
	}
	return [...]string{strconv.FormatBool(p.TLS), host, p.Port, user + ":" + p.Password, strconv.Itoa(p.DB)}
}

// alignedURLs holds the contract's aligned rules against what is written, too:
// two variables can drift apart however equal they are today.
func alignedURLs(c *check, v *service) {
	compared := map[[2]*envVar]bool{}
	for _, r := range v.contract.Rules {
		if r.Kind != envcheck.Aligned {
			continue
		}
		var first *envVar
		for _, k := range r.Keys {
			e := v.variables[string(k)]
			switch {
			case e == nil || e.known && e.effective == "" || e.passed && !e.known:
			case first == nil:
				first = e
			default:
				c.alignedPair(v, r, first, e)
				compared[[2]*envVar{first, e}] = true
			}
		}
	}
	// The contract also compares what fallbacks stand in for, and passes over
	// what is not known.
	c.faultsOf(v, func(f fault) {
		if len(f.Keys) == 2 && compared[[2]*envVar{v.variables[string(f.Keys[0])], v.variables[string(f.Keys[1])]}] {
			return
		}
		found := c.tell(v, f)
		found.Message = string(list(keyNames(f.Diagnostic))) + ": " + found.Message
		if slices.ContainsFunc(f.Keys, func(k envcheck.Key) bool { e := v.variables[string(k)]; return e != nil && !e.known }) {
			found.as(Warn)
		}
	})
}

// alignedPair compares two variables.
func (c *check) alignedPair(v *service, r *envcheck.Rule, a, b *envVar) {
	said := slices.ContainsFunc(v.faults, func(f fault) bool {
		return f.Code == r.Code && len(f.Keys) == 2 && v.variables[string(f.Keys[0])] == a && v.variables[string(f.Keys[1])] == b
	})
	say := func(message phrase) *Finding {
		found := c.sayOf(v, b, message, keyName(a.name), keyName(b.name))
		found.Code = string(r.Code)
		if r.Fix != "" {
			found.Fix = string(r.Fix)
		}
		if r.Level == envcheck.Warn {
			found.as(Warn)
		}
		return found
	}
	// What differs for certain is worse than what a variable decides.
	if i := v.differ(a, b, r.Ignore, false); i >= 0 && (said || v.applies(r, a, b)) {
		say(alignedParts[i].phrase)
		return
	}
	if v.sameSource(a, b, r.Ignore) {
		if i := v.differ(v.unset(a), v.unset(b), r.Ignore, false); i >= 0 && v.applies(r, a, b) {
			say("%s and %s have different defaults for the same variable")
		}
		return
	}
	if len(a.variables)+len(b.variables) == 0 || !said && !v.applies(r, a, b) {
		return
	}
	found := say("%s and %s come from different variables, which can differ").as(Warn)
	if !said && c.given(a) && c.given(b) {
		found.as(Info) // they agree here, with values of their own
	}
}

// given reports whether all variables of a value have one here.
func (c *check) given(e *envVar) bool {
	return !slices.ContainsFunc(e.variables, func(u variable) bool { _, set := c.environment[u.name]; return !set })
}

// differ is the index of the first part in which two URLs differ, -1 for none.
// A part that is not known is passed over, unless marks are to be compared too.
func (v *service) differ(a, b *envVar, ignore []string, marks bool) int {
	x, ok := v.redisURL(a)
	y, ok2 := v.redisURL(b)
	if !ok || !ok2 || x.reason != "" || y.reason != "" {
		return -1
	}
	p, q := partsOf(x.parts), partsOf(y.parts)
	for i := range alignedParts {
		loose := x.parts.DB < 0 || y.parts.DB < 0
		known := marks || !marked(p[i]) && !marked(q[i]) && !(i == len(alignedParts)-1 && loose)
		if p[i] != q[i] && known && !slices.Contains(ignore, alignedParts[i].name) {
			return i
		}
	}
	return -1
}

// unset is a variable as it is with nothing but its defaults.
func (v *service) unset(e *envVar) *envVar {
	if len(e.variables) == 0 {
		return e
	}
	return &envVar{name: e.name, text: environment{}.interpolate(e.symbolic)}
}

// sources is a variable with marks in place of all variables, those with
// values and defaults too.
func sources(e *envVar) *envVar {
	s := e.effective
	if len(e.variables) > 0 {
		s = markAll(e.symbolic)
	}
	return &envVar{name: e.name, text: text{effective: s}}
}

// markAll puts marks in for all variables of a text.
func markAll(s string) string {
	rest, taken := holes(s)
	for i, each := range taken {
		taken[i] = ""
		if used := variables(each); len(used) > 0 {
			taken[i] = mark(used[0].name)
		}
	}
	s, _ = filled(strings.ReplaceAll(rest, "$$", "$"), taken)
	return s
}

// sameSource reports whether the parts that count of two URLs come from the
// same variables, or are written out.
func (v *service) sameSource(a, b *envVar, ignore []string) bool {
	x, y := sources(a), sources(b)
	if x.effective == y.effective {
		return true
	}
	_, ok := v.redisURL(x)
	_, ok2 := v.redisURL(y)
	if !ok || !ok2 {
		return false
	}
	i := v.differ(x, y, ignore, true)
	return i < 0
}

// applies reports whether the contract would find a and b different, were they.
func (v *service) applies(r *envcheck.Rule, a, b *envVar) bool {
	p := v.process()
	for i, e := range [...]*envVar{a, b} {
		url := [...]string{"redis://one:1/1", "rediss://x:y@two:2/2"}[i]
		p = v.changed(p, e.name, &envVar{name: e.name, text: text{effective: url, known: true}})
	}
	return slices.ContainsFunc(v.contract.CheckProcess(p).Diagnostics, func(d envcheck.Diagnostic) bool { return d.Code == r.Code })
}
