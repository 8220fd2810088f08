package compose

import (
	"slices"
	"strconv"
	"strings"

	"github.com/compose-spec/compose-go/v2/types"
)

// limits are what a service may say by a key of its own and under
// deploy.resources. Once there is such a group, compose wants the same in it.
var limits = []struct {
	key, group, same string
	number           func(string) (float64, error)
}{
	{"cpus", "limits", "cpus", processors},
	{"mem_limit", "limits", "memory", memory},
	{"mem_reservation", "reservations", "memory", memory},
	{"pids_limit", "limits", "pids", func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }},
}

// counts are numbers of which the specification's schema does not say that they
// are not below 0, and containers those of them that compose holds against that
// only in a service that it starts.
var (
	counts = []path{
		{"healthcheck", "retries"}, {"deploy", "restart_policy", "max_attempts"},
		{"deploy", "update_config", "parallelism"}, {"deploy", "rollback_config", "parallelism"},
	}
	containers = []path{{"scale"}, {"deploy", "replicas"}}
)

func processors(s string) (float64, error) {
	var n types.NanoCPUs
	err := n.DecodeMapstructure(s)
	return float64(n), err
}

func memory(s string) (float64, error) {
	var n types.UnitBytes
	err := n.DecodeMapstructure(s)
	return float64(n), err
}

// checkContradictions finds what compose does not take together in a service.
func (s *stack) checkContradictions(v node) {
	image := v.at("image").text()
	if image.known && image.effective == "" && !v.has("build") && !v.has("provider") {
		s.inconsistent(v, "compose wants an image or a build here")
	}
	if v.at("network_mode").exists() && len(v.at("networks").each()) > 0 {
		s.inconsistent(v.at("network_mode"), "compose takes no network_mode beside networks")
	}
	if scale, replicas := v.at("scale").text(), v.at("deploy", "replicas").text(); scale.set() && replicas.set() && scale.effective != replicas.effective {
		s.inconsistent(v.at("scale"), "compose takes no other number here than under deploy.replicas")
	}
	for _, l := range limits {
		own, group := v.at(l.key).text(), v.at("deploy", "resources", l.group)
		if same := group.at(l.same).text(); own.set() && group.exists() && same.known && differ(own.effective, same.effective, l.number) {
			s.inconsistent(v.at(l.key), "compose takes no other limit here than under deploy.resources, once there are limits")
		}
	}
	s.checkCounts(v, containers)
	s.checkBuild(v)
	for _, n := range v.at("develop", "watch").each() {
		if action := n.at("action").text().effective; !n.has("target") && strings.HasPrefix(action, "sync") {
			s.inconsistent(n, "compose wants a target here, which is where the files go")
		}
	}
}

// checkValues finds what compose takes in no service, be it enabled or not.
func (s *stack) checkValues(v node) {
	s.checkCounts(v, counts)
	for _, devices := range []node{v.at("deploy", "resources", "reservations", "devices"), v.at("gpus")} {
		for _, n := range devices.each() {
			if n.has("count") && n.has("device_ids") {
				s.inconsistent(n, "compose takes no count beside device_ids")
			}
		}
	}
}

func (s *stack) checkCounts(v node, counts []path) {
	for _, p := range counts {
		n := v.at(p...)
		if count, known := n.integer(0); known && count < 0 {
			s.refuse(notCompose, misfit{n.path, refusedValue}, specificationSays)
		}
	}
}

// differ reports whether a is a number other than 0 that b is not. No b is 0.
func differ(a, b string, number func(string) (float64, error)) bool {
	if b == "" {
		b = "0"
	}
	x, err := number(a)
	y, err2 := number(b)
	return err == nil && err2 == nil && x != 0 && x != y
}

func (s *stack) checkBuild(v node) {
	build := v.at("build")
	if build.at("dockerfile").text().set() && build.at("dockerfile_inline").text().set() {
		s.inconsistent(build.at("dockerfile_inline"), "compose takes no dockerfile_inline beside dockerfile")
	}
	platforms, own := build.at("platforms"), v.at("platform").text()
	if all := platforms.texts(); len(all) > 0 && own.set() &&
		!slices.ContainsFunc(all, func(t text) bool { return !t.known || t.effective == own.effective }) {
		s.inconsistent(platforms, "compose wants the platform of the service among these")
	}
	for _, n := range build.at("additional_contexts").each() {
		if of, ok := strings.CutPrefix(n.text().effective, types.ServicePrefix); ok && !s.model.at("services", of).has("build") {
			s.inconsistent(n, "compose wants a service with a build here")
		}
	}
}
