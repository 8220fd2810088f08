package compose

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/startgate/startgate/envcheck"
	"go.yaml.in/yaml/v4"
)

// reads is what the service's process reads from a key: its variable, which is
// returned too, or the default that the contract declares. It is not known
// where the variable may be set to what is not known.
func (v *service) reads(key string) (value string, e *envVar, known bool) {
	e = v.variables[key]
	switch {
	case e != nil && !e.known, e == nil && !v.complete:
		return "", e, false
	case e != nil && e.effective != "":
		return e.effective, e, true
	}
	if k := v.declared(key); k != nil && k.Default != nil {
		return *k.Default, e, true
	}
	return "", e, true
}

// replicas is how many containers the service has, and where that is written
// (compose, GetScale).
func (v *service) replicas() (n int, at node, known bool) {
	at = v.at("scale").or(v.at("deploy", "replicas"))
	n, known = at.integer(1)
	return n, at.or(v.node), known
}

// several reports whether the service is known to have more than one container.
func (v *service) several() bool {
	n, _, known := v.replicas()
	return known && n > 1
}

// port is one entry of ports: what the service can be reached at from outside.
type port struct {
	spotAt
	address string // of the host, "" for all of them
	known   bool
}

// ports are the entries that the service's files have for ports, in both
// spellings. Without a host's port the engine takes a free one.
func (v *service) ports() []port {
	var found []port
	written, told := v.writtenPorts(), once{}
	for _, n := range v.at("ports").each() {
		field := func(name string) string { return n.at(name).text().symbolic }
		key := n.text().symbolic
		if !n.isText() {
			key = portKey(field("host_ip"), field("published"), field("target"), field("protocol"))
		}
		at, ok := written[key]
		switch {
		case !ok:
			at = spotAt{n.position(), n.path}
		case !told.first(at.Position):
			continue // another port of its range
		}
		if !n.isText() {
			address := n.at("host_ip").text()
			found = append(found, port{at, address.effective, address.known})
			continue
		}
		p := port{spotAt: at, known: true}
		text := n.text().effective
		if i := strings.LastIndexByte(text, ':'); i >= 0 {
			before := text[:i]
			// A variable that is not known may hold the address as well.
			p.known = !marked(before)
			if i = strings.LastIndexByte(before, ':'); i >= 0 {
				p.address = strings.Trim(before[:i], "[]")
				p.known = !marked(p.address)
			}
		}
		found = append(found, p)
	}
	return found
}

// writtenPorts are where the entries of ports are written, by what they say:
// compose makes an entry of each port of a range, and puts the lists of files
// one behind the other.
func (v *service) writtenPorts() map[string]spotAt {
	services := []path{v.path}
	for base, ok := v.stack.index.bases[v.path.key()]; ok && len(services) < 16; base, ok = v.stack.index.bases[base.key()] {
		services = append(services, base)
	}
	found := map[string]spotAt{}
	for _, p := range slices.Backward(services) {
		for i := 0; ; i++ {
			s := v.stack.index.root.at(p.with("ports", itoa(i)))
			if s == nil {
				break
			}
			for _, w := range s.places {
				for _, key := range portKeysOf(w.value) {
					found[key] = spotAt{w.Position, v.path.with("ports", itoa(i))}
				}
			}
		}
	}
	return found
}

// portKeysOf tells what an entry of ports says: the entries of the model that
// compose makes of it.
func portKeysOf(n *yaml.Node) []string {
	if n = resolve(n); n.Kind == yaml.MappingNode {
		field := func(name string) string {
			if e := entry(n, name); e != nil {
				return e.Value
			}
			return ""
		}
		return []string{portKey(field("host_ip"), field("published"), field("target"), field("protocol"))}
	}
	keys := []string{n.Value}
	parsed, _ := types.ParsePortConfig(n.Value) // one with variables stays a text
	for _, p := range parsed {
		keys = append(keys, portKey(p.HostIP, p.Published, strconv.Itoa(int(p.Target)), p.Protocol))
	}
	return keys
}

func portKey(address, published, target, protocol string) string {
	return strings.Join([]string{address, published, target, cmp.Or(protocol, "tcp")}, " ")
}

// sayPort adds a finding of the rule about a published port.
func (c *check) sayPort(p port, message phrase, names ...name) *Finding {
	return c.add(c.rule, p.Position, p.path, message, names...)
}

// everywhere reports whether the port is reachable from all networks of the
// host.
func (p port) everywhere() bool {
	return p.known && (p.address == "" || p.address == "0.0.0.0" || p.address == "::")
}

// loopback reports whether the port is reachable from the host alone.
func (p port) loopback() bool {
	return p.known && (strings.HasPrefix(p.address, "127.") || p.address == "::1" || p.address == "localhost")
}

// option is the value of an option in a command line, in any of its spellings:
// -n X, --name X, --name=X, and "--name X" as one argument. Of several the last
// one counts. ok is false when it is not there.
func option(args []string, spellings ...string) (value string, ok bool) {
	for i, arg := range args {
		name := arg
		end := strings.IndexAny(arg, "= ")
		if end >= 0 {
			name = arg[:end]
		}
		switch {
		case !slices.Contains(spellings, name):
		case end >= 0:
			value, ok = arg[end+1:], true
		case i+1 < len(args) && !strings.HasPrefix(args[i+1], "--"):
			value, ok = args[i+1], true
		default:
			value, ok = "", true
		}
	}
	return value, ok
}

// beat reports whether the service runs Celery's beat, be it inside a worker.
// One that keeps its schedule in Redis takes a lock there, so that several
// cannot harm.
func (v *service) beat() (inside, ok bool) {
	args, _ := v.argv()
	args = words(args)
	if v.client != envcheck.Celery || slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(strings.ToLower(arg), "redbeat") }) {
		return false, false
	}
	inside = startsWith(args, []string{"celery", "worker"}) && (slices.Contains(args, "-B") || slices.Contains(args, "--beat"))
	return inside, v.scheduler || inside
}

// sayConfigured adds a finding about something that startgate.compose.yaml
// declares, in that file.
func (c *check) sayConfigured(p path, message phrase, names ...name) *Finding {
	config := c.options.Config
	at := Position{File: config.Source}
	if config.index != nil {
		if w, ok := config.index.find(p); ok {
			at = w.Position
		}
	}
	return c.add(c.rule, at, p, message, names...)
}
