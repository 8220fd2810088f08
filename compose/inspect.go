package compose

// check is one rule that is held against a stack.
type check struct {
	*stack
	rule *rule
}

// run holds all rules against the stack. It returns what was looked at: of a
// stack without a model only what is found while it is loaded.
func (s *stack) run() []Case {
	var cases []Case
	for i := range rules {
		r := &rules[i]
		c := &check{s, r}
		loading := r.all == nil && r.each == nil
		if !loading && s.model.value == nil {
			continue
		}
		if loading || r.all != nil {
			cases = append(cases, Case{Rule: r.ID, Stack: s.name, File: s.files[0]})
		}
		if r.all != nil {
			r.all(c)
		}
		if r.each == nil {
			continue
		}
		for _, v := range s.of(r.of) {
			if r.Contract && v.contract == nil {
				continue
			}
			cases = append(cases, Case{Rule: r.ID, Stack: s.name, Service: string(nameOf(v.name)), File: v.position().File})
			r.each(c, v)
		}
	}
	return cases
}

// say adds a finding of the rule about what stands at n.
func (c *check) say(n node, message phrase, names ...name) *Finding {
	return c.stack.add(c.rule, n.position(), n.path, message, names...)
}

// sayOf adds a finding of the rule about a variable of a service.
func (c *check) sayOf(v *service, e *envVar, message phrase, names ...name) *Finding {
	return c.stack.add(c.rule, e.position, v.path.with("environment", e.name), message, names...)
}

// sayAt adds a finding of the rule about a variable of a service, or about what
// stands at n where there is none.
func (c *check) sayAt(v *service, e *envVar, n node, message phrase, names ...name) *Finding {
	if e != nil {
		return c.sayOf(v, e, message, names...)
	}
	return c.say(n, message, names...)
}

// say adds a finding of a rule that is found while loading.
func (s *stack) say(id string, at Position, p path, message phrase, names ...name) *Finding {
	return s.add(ruleOf(id), at, p, message, names...)
}

// add adds a finding. Its severity and advice are the rule's, until the caller
// changes them.
func (s *stack) add(r *rule, at Position, p path, message phrase, names ...name) *Finding {
	f := Finding{
		Rule: r.ID, Severity: r.Severity, Stack: s.name, Position: at, Path: p.String(),
		Message: message.with(names...), Fix: string(r.fix), Unjudged: r.unjudged,
	}
	if len(p) > 1 && p[0] == "services" {
		f.Service = string(nameOf(p[1]))
	}
	s.findings = append(s.findings, f)
	return &s.findings[len(s.findings)-1]
}

// as gives the finding another severity than its rule's.
func (f *Finding) as(s Severity) *Finding {
	f.Severity = s
	return f
}

// fixed gives the finding other advice than its rule's.
func (f *Finding) fixed(advice phrase, names ...name) *Finding {
	f.Fix = advice.with(names...)
	return f
}
