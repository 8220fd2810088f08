package compose

import (
	"net/netip"
	"slices"
	"strings"
)

// servicesAt are the services that have that name for other containers.
func (s *stack) servicesAt(host string) []*service {
	if s.reached == nil {
		s.reached = map[string][]*service{}
		for _, v := range s.services {
			for _, n := range v.hostNames() {
				if !slices.Contains(s.reached[n], v) {
					s.reached[n] = append(s.reached[n], v)
				}
			}
		}
	}
	return s.reached[strings.ToLower(host)]
}

// hosts are all hosts that a target names.
func (t target) hosts() []string {
	hosts := []string{t.host}
	for _, other := range t.parts.Others {
		hosts = append(hosts, strings.ToLower(other.Host))
	}
	for _, sentinel := range t.parts.Sentinels {
		i := strings.LastIndexByte(sentinel, ':')
		hosts = append(hosts, strings.ToLower(strings.Trim(sentinel[:i], "[]")))
	}
	return slices.DeleteFunc(hosts, func(h string) bool { return h == "" })
}

// redisHost is where a variable of a service leads.
type redisHost struct {
	variable *envVar
	host     string
}

// redisHosts are the hosts of the service's Redis URLs, and of its REDIS_HOST,
// as far as they are known.
func (v *service) redisHosts() []redisHost {
	var found []redisHost
	for _, t := range v.targets() {
		for _, h := range t.hosts() {
			if !marked(h) {
				found = append(found, redisHost{t.variable, h})
			}
		}
	}
	if e := v.variables["REDIS_HOST"]; e.set() && !strings.ContainsAny(e.effective, ":/@ ,") {
		found = append(found, redisHost{e, strings.ToLower(e.effective)})
	}
	return found
}

// loopback reports whether a host is the container itself.
func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// cannotReach reports whether a host is a name that nothing in the stack gives
// to anyone, and that nobody else does as far as the files say.
func (v *service) cannotReach(host string) bool {
	host = strings.TrimSuffix(host, ".")
	switch {
	case host == "" || marked(host) || loopback(host) || strings.ContainsAny(host, ".:"):
		return false
	case len(v.stack.servicesAt(host)) > 0 || v.stack.containerName(host):
		return false
	case v.foreignNames() || v.hasOwnName(host):
		return false
	}
	config := v.stack.options.Config.Stacks[v.stack.name]
	return config.Broker == "" && !slices.ContainsFunc(config.External, func(e string) bool { return strings.EqualFold(e, host) })
}

// containerName reports whether a host is a container's name as compose makes
// it: PROJECT-SERVICE-NUMBER.
func (s *stack) containerName(host string) bool {
	return slices.ContainsFunc(s.services, func(v *service) bool {
		head, number, ok := cutLast(host, "-_")
		return ok && number != "" && strings.Trim(number, "0123456789") == "" && strings.HasSuffix(head, strings.ToLower(v.name))
	})
}

// cutLast cuts s at the last of some characters.
func cutLast(s, chars string) (head, tail string, ok bool) {
	i := strings.LastIndexAny(s, chars)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// foreignNames reports whether others than this stack's services may give the
// service the names of hosts: the host's network, networks of other stacks,
// name servers of its own, files that are not there.
func (v *service) foreignNames() bool {
	if v.at("network_mode").exists() || v.at("dns").exists() || v.at("dns_search").exists() {
		return true
	}
	for _, n := range v.networks() {
		network := v.stack.model.at("networks", n)
		if network.at("external").exists() || network.at("driver").exists() && network.at("driver").text().effective != "bridge" {
			return true
		}
	}
	return slices.ContainsFunc(v.stack.findings, func(f Finding) bool { return f.Rule == missingFile })
}

// hasOwnName reports whether the service gives itself the name of a host: by
// extra_hosts, links and external_links.
func (v *service) hasOwnName(host string) bool {
	for _, name := range v.at("extra_hosts").names() {
		if strings.EqualFold(name, host) {
			return true
		}
	}
	for _, list := range [...]string{"extra_hosts", "links", "external_links"} {
		for _, t := range v.at(list).texts() {
			if !t.known {
				return true
			}
			for _, part := range strings.FieldsFunc(t.effective, func(r rune) bool { return r == ':' || r == '=' }) {
				if strings.EqualFold(part, host) {
					return true
				}
			}
		}
	}
	return false
}

// shared reports whether two services have a network in common. known is false
// when the files do not say.
func (v *service) shared(with *service) (yes, known bool) {
	if v.at("network_mode").exists() || with.at("network_mode").exists() {
		return false, false
	}
	mine, ok := v.networkIDs()
	others, ok2 := with.networkIDs()
	for _, id := range mine {
		if slices.Contains(others, id) {
			return true, true
		}
	}
	return false, ok && ok2
}

// networkIDs tell networks apart: two keys can be one network by its name.
func (v *service) networkIDs() (ids []string, known bool) {
	known = true
	for _, n := range v.networks() {
		network := v.stack.model.at("networks", n)
		name := network.at("name")
		if external := network.at("external", "name"); external.exists() {
			name = external
		}
		t := name.text()
		known = known && t.known
		switch {
		case name.exists():
			ids = append(ids, "name "+t.effective)
		case network.at("external").exists():
			ids = append(ids, "name "+n)
		default:
			ids = append(ids, "key "+n)
		}
	}
	return ids, known
}
