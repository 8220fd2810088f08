package compose

import (
	"slices"
	"strings"

	"github.com/startgate/startgate/envcheck"
)

// role is what a service is in its stack.
type role string

const (
	anyRole role = ""
	worker  role = "worker"
	broker  role = "broker" // a Redis, or what speaks its protocol
	other   role = "other"
)

// service is one service of a stack.
type service struct {
	node
	name      string
	role      role
	client    envcheck.Client // of a worker, Generic when it is not known
	scheduler bool            // it enqueues by the clock, so that there must be one
	config    ServiceConfig
	image     Image
	variables map[string]*envVar
	complete  bool // all its env_files were read
	contract  *envcheck.Contract
	result    envcheck.Result // of the contract
	faults    []fault         // what the contract finds, and would find where variables are unset

	entrypoint, command command
	facts               facts
}

func (s *stack) makeServices() {
	for _, n := range s.model.at("services").each() {
		v := &service{node: n, name: n.path[1]}
		v.config = s.options.Config.Services[v.name]
		v.image = s.options.Config.image(v)
		v.entrypoint = readCommand(n.at("entrypoint"), n.has("entrypoint"))
		v.command = readCommand(n.at("command"), n.has("command"))
		v.readVariables()
		s.services = append(s.services, v)
	}
	for _, v := range s.services {
		v.discover()
		v.judge()
	}
	s.settled = true
}

// service is the service of that name, or nil.
func (s *stack) service(name string) *service {
	for _, v := range s.services {
		if v.name == name {
			return v
		}
	}
	return nil
}

// of are the services of a role, all when it is anyRole.
func (s *stack) of(r role) []*service {
	var found []*service
	for _, v := range s.services {
		if r == anyRole || v.role == r {
			found = append(found, v)
		}
	}
	return found
}

// repository is the last part of an image's name, without registry, tag and
// digest, in lower case. It is "" when a variable decides.
func (v *service) repository() string {
	t := v.at("image").text()
	name := t.effective
	name, _, _ = strings.Cut(name, "@")
	name = name[strings.LastIndexByte(name, '/')+1:]
	name, _, _ = strings.Cut(name, ":")
	if marked(name) {
		return ""
	}
	return strings.ToLower(name)
}

// tag is the tag of the image, "" for none.
func (v *service) tag() string {
	name, _, _ := strings.Cut(v.at("image").text().effective, "@")
	name = name[strings.LastIndexByte(name, '/')+1:]
	_, tag, _ := strings.Cut(name, ":")
	return tag
}

// hostNames are the names by which other services reach this one, in lower
// case.
func (v *service) hostNames() []string { return v.facts.hosts.of(v, v.findHostNames) }

func (v *service) findHostNames() []string {
	names := []string{v.name}
	if t := v.at("container_name").text(); t.known && t.effective != "" {
		names = append(names, t.effective)
	}
	if t := v.at("hostname").text(); t.known && t.effective != "" {
		names = append(names, t.effective)
	}
	for _, network := range v.at("networks").each() {
		for _, alias := range network.at("aliases").texts() {
			names = append(names, alias.effective)
		}
	}
	for i, name := range names {
		names[i] = strings.ToLower(name)
	}
	return names
}

// networks are those that the service is in. Compose's own is "default".
func (v *service) networks() []string {
	if names := v.at("networks").names(); len(names) > 0 {
		return names
	}
	return []string{"default"}
}

// hostNetwork reports whether the service uses its host's network, or that of
// another container: localhost is then somewhere else.
func (v *service) hostNetwork() bool {
	mode := v.at("network_mode").text()
	return !mode.known || mode.effective != "" && mode.effective != "bridge" && mode.effective != "none"
}

// dependencies are how the service depends on others, by their names.
func (v *service) dependencies() []node { return v.at("depends_on").each() }

// dependency is how the service depends on another one, absent when it does
// not.
func (v *service) dependency(on string) node { return v.at("depends_on", on) }

// brokers are the services of the stack that a worker's Redis hosts are. A
// stack whose only broker is named by none of them has that one, unless the
// worker could have a broker of another kind.
func (v *service) brokers() []*service { return v.facts.brokers.of(v, v.findBrokers) }

func (v *service) findBrokers() []*service {
	var found []*service
	hosts := v.redisHosts()
	for _, h := range hosts {
		for _, b := range v.stack.servicesAt(h.host) {
			if b.role == broker && !slices.Contains(found, b) {
				found = append(found, b)
			}
		}
	}
	if all := v.stack.of(broker); len(all) == 1 && len(hosts)+len(v.targets()) == 0 && !v.otherBroker() {
		return all
	}
	return found
}

// otherBrokers are repositories of brokers that do not speak Redis's protocol.
var otherBrokers = []string{"rabbitmq", "kafka", "cp-kafka", "redpanda", "nats", "activemq", "activemq-artemis", "elasticmq", "elasticmq-native", "pulsar", "localstack"}

// otherBroker reports whether the worker's jobs may come from something that
// is no Redis. The families of other clients have no choice.
func (v *service) otherBroker() bool {
	if v.client != envcheck.Generic && v.client != envcheck.Celery {
		return false
	}
	for _, name := range v.variableNames() {
		scheme, _, ok := strings.Cut(strings.ToLower(v.variables[name].effective), "://")
		if ok && slices.Contains([]string{"amqp", "amqps", "pyamqp", "sqs", "kafka", "nats"}, scheme) {
			return true
		}
	}
	return slices.ContainsFunc(v.stack.services, func(s *service) bool { return slices.Contains(otherBrokers, s.repository()) })
}

// variableNames are the names of the service's variables, sorted.
func (v *service) variableNames() []string {
	return v.facts.names.of(v, func() []string { return sortedKeys(v.variables) })
}
