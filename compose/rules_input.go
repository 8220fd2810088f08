package compose

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Rules about what of a stack is looked at.
const noService = "SG107"

// unsetVariables looks for variables without which compose does nothing. It
// reads the files and not the model, since compose replaces the variables of
// each file before it merges them, those of x- extensions too.
func unsetVariables(c *check) {
	type use struct{ variable, file string }
	first := map[use]spotAt{}
	c.index.root.scalars(nil, func(p path, w written) {
		if !strings.Contains(w.value.Value, "?") {
			return
		}
		for _, u := range variables(w.value.Value) {
			if u.form != mustNotBlank && u.form != mustBeSet || u.name == "COMPOSE_PROJECT_NAME" {
				continue
			}
			if value, set := c.environment[u.name]; set && (value != "" || u.form == mustBeSet) {
				continue
			}
			at := use{u.name, w.File}
			known, ok := first[at]
			if !ok || cmp.Or(cmp.Compare(w.Line, known.Line), cmp.Compare(w.Column, known.Column), slices.Compare(p, known.path)) < 0 {
				first[at] = spotAt{w.Position, p}
			}
		}
	})
	for at, s := range first {
		c.stack.add(c.rule, s.Position, s.path, "%s has no value here: what depends on it is judged by how it is written", keyName(at.variable))
	}
}

// spotAt is a path with one place where it is written.
type spotAt struct {
	Position
	path path
}

// scalars calls visit for each scalar below s.
func (s *spot) scalars(p path, visit func(path, written)) {
	for _, w := range s.places {
		if w.value != nil && w.value.Kind == yaml.ScalarNode {
			visit(p, w)
		}
	}
	for name, below := range s.below {
		below.scalars(p.with(name), visit)
	}
}

// hiddenWorker looks for workers that a plain up leaves out.
func hiddenWorker(c *check, v *service) {
	profiles := v.profiles()
	if len(profiles) == 0 || v.active() {
		return
	}
	own, written := c.index.root.at(v.path.with("profiles")).last()
	switch _, extends := c.index.bases[v.path.key()]; {
	case extends && written && own.value.Kind == yaml.SequenceNode && len(own.value.Content) == 0:
		c.say(v.at("profiles"), "%s has the profiles of the service that it extends: an empty list does not undo them", nameOf(v.name)).
			fixed("write profiles: !reset [], or take them out of the base")
	case extends && !written:
		c.say(v.at("extends"), "%s is in a profile only by the service that it extends", nameOf(v.name))
	case c.hasOthersIn(profiles):
		return // what the worker belongs to is in the profile too
	case slices.ContainsFunc(c.services, func(other *service) bool { return len(other.profiles()) == 0 }):
		c.say(v.at("profiles"), "%s only starts with a profile, and other services start without one", nameOf(v.name))
	}
}

// last is the place that counts.
func (s *spot) last() (written, bool) {
	if s == nil || len(s.places) == 0 {
		return written{}, false
	}
	return s.places[len(s.places)-1], true
}

// profiles are those that the service is in.
func (v *service) profiles() []string {
	var names []string
	for _, t := range v.at("profiles").texts() {
		names = append(names, t.effective)
	}
	return names
}

// active reports whether a profile of the service is active where compose
// takes its variables from, or a variable that is not known says so.
func (v *service) active() bool {
	active := strings.Split(v.stack.environment["COMPOSE_PROFILES"], ",")
	return slices.ContainsFunc(v.profiles(), func(p string) bool {
		return marked(p) || slices.Contains(active, p) || slices.Contains(active, "*")
	})
}

// hasOthersIn reports whether a service that is neither worker nor broker is
// in one of the profiles.
func (c *check) hasOthersIn(profiles []string) bool {
	return slices.ContainsFunc(c.of(other), func(v *service) bool {
		return slices.ContainsFunc(v.profiles(), func(p string) bool { return slices.Contains(profiles, p) })
	})
}

// nothingJudged looks for a contract that no service of the stack is held to.
func nothingJudged(c *check) {
	if c.options.Contract == nil || len(c.services) == 0 || len(c.of(worker)) > 0 || c.stuck() {
		return
	}
	c.say(c.model.at("services"), "no service here is a worker, so that the contract is held against nothing").
		fixed("give the files with the worker, or say in startgate.compose.yaml which service it is: role: worker")
}

// goneServices looks for services that the configuration says something of and
// that none of the stacks has. all says that the stacks are those of the
// configuration.
func goneServices(config *Config, stacks []*stack, all bool) []Finding {
	s := &stack{files: []string{config.Source}, index: config.index}
	if config.index == nil || len(config.Stacks) > 0 && !all {
		return nil
	}
	there := map[string]bool{}
	for _, each := range stacks {
		if each.model.value == nil || slices.ContainsFunc(each.findings, func(f Finding) bool { return f.Rule == missingFile }) {
			return nil // what was not read may have it
		}
		for _, v := range each.services {
			there[v.name] = true
		}
	}
	look := func(service string, p path) {
		if !there[service] {
			s.say(noService, node{stack: s, path: p}.position(), p, "no stack has a service %s", nameOf(service)).
				fixed("correct the name, or take it out")
		}
	}
	for _, name := range sortedKeys(config.Services) {
		p := path{"services", name}
		look(name, p)
		for i, need := range config.Services[name].Needs {
			look(need, p.with("needs", strconv.Itoa(i)))
		}
	}
	return s.findings
}
