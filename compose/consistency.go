package compose

import (
	"slices"
	"strings"
)

// references are where a service names what the files must define, by what
// that is.
var references = []struct {
	kind string
	at   path
	says phrase
}{
	{"services", path{"depends_on"}, noSuchService},
	{"services", path{"links"}, noSuchService},
	{"services", path{"volumes_from"}, noSuchService},
	{"services", path{"network_mode"}, noSuchService},
	{"services", path{"ipc"}, noSuchService},
	{"services", path{"pid"}, noSuchService},
	{"networks", path{"networks"}, "the files define no such network"},
	{"volumes", path{"volumes"}, "the files define no such volume"},
	{"secrets", path{"secrets"}, "the files define no such secret"},
	{"secrets", path{"build", "secrets"}, "the files define no such secret"},
	{"configs", path{"configs"}, "the files define no such config"},
	{"models", path{"models"}, "the files define no such model"},
}

const noSuchService phrase = "the files define no such service"

// checkConsistency finds what compose refuses though it keeps to the schema
// (compose-go, loader, checkConsistency). Where a file is missing, what is not
// here may be in that one.
func (s *stack) checkConsistency() {
	if slices.ContainsFunc(s.findings, func(f Finding) bool { return f.Rule == missingFile }) {
		return
	}
	for _, v := range s.model.at("services").each() {
		s.checkValues(v)
		if !enabled(v) {
			continue
		}
		s.checkContradictions(v)
		for _, r := range references {
			for _, name := range v.at(r.at...).referred() {
				if !s.model.at(r.kind).has(name.to) && (r.kind != "networks" || name.to != "default") {
					s.inconsistent(name.node, r.says)
				}
			}
		}
	}
	for _, n := range s.model.at("secrets").each() {
		external, known := n.at("external").truth()
		s.checkSource(n, external || !known, "file", "environment")
	}
	for _, n := range s.model.at("configs").each() {
		s.checkSource(n, n.has("external") || n.has("driver"), "file", "environment", "content")
	}
	for _, n := range s.model.at("volumes").each() {
		if external, _ := n.at("external").truth(); external && slices.ContainsFunc(n.names(), besideExternal) {
			s.inconsistent(n, "compose takes nothing but a name beside external")
		}
	}
	s.findCircles()
}

// enabled reports whether the service is in no profile, or in one that is asked
// for. Others are often no more than a base, and compose does not look at what
// such a service lacks.
func enabled(n node) bool {
	v := service{node: n}
	return len(v.profiles()) == 0 || v.active()
}

// checkSource finds a secret or config that has not one source of the keys. One
// that is elsewhere may have none.
func (s *stack) checkSource(n node, elsewhere bool, keys ...string) {
	sources := slices.DeleteFunc(keys, func(key string) bool { return !n.has(key) })
	if len(sources) > 1 || len(sources) == 0 && !elsewhere {
		s.inconsistent(n, "compose wants one source here, such as a file, or external")
	}
}

func besideExternal(key string) bool {
	return key != "name" && key != "external" && !strings.HasPrefix(key, "x-")
}

func (s *stack) inconsistent(n node, message phrase) {
	s.say(notCompose, n.position(), n.path, message)
}

// set reports whether the text is known, and not empty.
func (t text) set() bool { return t.known && t.effective != "" }

// reference is a place that names something, and what.
type reference struct {
	node
	to string
}

// referred are the names at n: the keys of a mapping, the sources in a list of
// mappings, the services in texts such as web:alias and service:web. What a
// variable decides is none.
func (n node) referred() []reference {
	var found []reference
	add := func(at node, name string) {
		if name != "" && !strings.Contains(name, "$") {
			found = append(found, reference{at, name})
		}
	}
	switch v := n.value.(type) {
	case map[string]any:
		for _, name := range n.names() {
			add(n.at(name), name)
		}
	case string: // network_mode and the like
		if service, ok := strings.CutPrefix(v, "service:"); ok {
			add(n, service)
		}
	case []any:
		for i, item := range v {
			switch item := item.(type) {
			case map[string]any:
				source, _ := item["source"].(string)
				if kind, ok := item["type"]; !ok || kind == "volume" {
					add(n.at(itoa(i)), source)
				}
			case string: // links and volumes_from
				if service, _, _ := strings.Cut(item, ":"); service != "container" {
					add(n.at(itoa(i)), service)
				}
			}
		}
	}
	return found
}

// findCircles finds services that each must be there before the other.
func (s *stack) findCircles() {
	const underWay, done = 1, 2
	state := map[string]int{}
	var visit func(v node)
	visit = func(v node) {
		state[v.path[1]] = underWay
		for _, r := range references {
			if r.says != noSuchService {
				continue
			}
			for _, name := range v.at(r.at...).referred() {
				switch next := s.model.at("services", name.to); {
				case state[name.to] == underWay:
					s.inconsistent(name.node, "the services depend on each other in a circle")
				case state[name.to] == 0 && next.exists() && enabled(next):
					visit(next)
				}
			}
		}
		state[v.path[1]] = done
	}
	for _, v := range s.model.at("services").each() {
		if state[v.path[1]] == 0 && enabled(v) {
			visit(v)
		}
	}
}
