package compose

import (
	"slices"
	"strings"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// parsed is a place whose text compose takes apart when it reads the model. The
// specification's schema does not say what such a text looks like.
type parsed struct {
	at   path // * is any name
	good func(string) bool
}

// parsedTexts are those of a whole model, and of each service.
func parsedTexts() (model, service []parsed) {
	for _, p := range []path{
		{"stop_grace_period"},
		{"healthcheck", "interval"}, {"healthcheck", "timeout"}, {"healthcheck", "start_period"}, {"healthcheck", "start_interval"},
		{"deploy", "restart_policy", "delay"}, {"deploy", "restart_policy", "window"},
		{"deploy", "update_config", "delay"}, {"deploy", "update_config", "monitor"},
		{"deploy", "rollback_config", "delay"}, {"deploy", "rollback_config", "monitor"},
	} {
		service = append(service, parsed{p, validDuration})
	}
	for _, p := range []path{
		{"mem_limit"}, {"mem_reservation"}, {"memswap_limit"}, {"shm_size"}, {"build", "shm_size"}, {"volumes", "*", "tmpfs", "size"},
		{"deploy", "resources", "limits", "memory"}, {"deploy", "resources", "reservations", "memory"},
	} {
		service = append(service, parsed{p, decodes[types.UnitBytes]})
	}
	for _, limit := range []string{"limits", "reservations"} {
		service = append(service, parsed{path{"deploy", "resources", limit, "cpus"}, decodes[types.NanoCPUs]})
	}
	service = append(service,
		parsed{path{"command"}, decodes[types.ShellCommand]},
		parsed{path{"entrypoint"}, decodes[types.ShellCommand]},
		parsed{path{"secrets", "*", "mode"}, decodes[types.FileMode]},
		parsed{path{"configs", "*", "mode"}, decodes[types.FileMode]},
		parsed{path{"develop", "watch", "*", "path"}, func(text string) bool { return text != "" }},
		parsed{path{"ports", "*"}, validPort},
	)
	for pattern, cast := range loader.ToOptions(&types.ConfigDetails{}, nil).Interpolate.TypeCastMapping {
		good := func(text string) bool {
			if slices.Contains([]string{"y", "yes", "on", "n", "no", "off"}, strings.ToLower(text)) {
				return true // compose-go warns of it
			}
			_, err := cast(text)
			return err == nil
		}
		p := path(strings.Split(strings.ReplaceAll(string(pattern), "[]", "*"), "."))
		if p[0] == "services" {
			service = append(service, parsed{p[2:], good})
		} else {
			model = append(model, parsed{p, good})
		}
	}
	return model, service
}

func validDuration(text string) bool {
	if _, err := time.ParseDuration(text); err == nil {
		return true
	}
	return decodes[types.Duration](text)
}

func decodes[T any, P interface {
	*T
	DecodeMapstructure(any) error
}](text string) bool {
	return P(new(T)).DecodeMapstructure(text) == nil
}

func validHost(text string) bool {
	_, err := types.NewHostsList([]string{text})
	return err == nil
}

func validPort(text string) bool {
	_, err := types.ParsePortConfig(text)
	return err == nil
}

// checkTexts finds texts that compose cannot take apart.
func (s *stack) checkTexts() {
	model, service := parsedTexts()
	for _, each := range model {
		s.checkText(s.model, each.at, each.good)
	}
	for _, v := range s.model.at("services").each() {
		for _, each := range service {
			s.checkText(v, each.at, each.good)
		}
		if hosts := v.at("extra_hosts"); len(hosts.names()) == 0 { // a list: each has its address
			s.checkText(hosts, path{"*"}, validHost)
		}
	}
}

// checkVariables finds texts whose variables compose cannot read. It replaces
// those of each file, of x- extensions too.
func (s *stack) checkVariables() {
	found := map[Position]path{}
	s.index.root.scalars(nil, func(p path, w written) {
		if strings.Contains(w.value.Value, "$") && s.environment.interpolate(w.value.Value).malformed {
			if known, ok := found[w.Position]; !ok || slices.Compare(p, known) < 0 {
				found[w.Position] = p
			}
		}
	})
	for at, p := range found {
		s.say(notCompose, at, p, "compose cannot read the variables in this text").fixed("write $$ for a $ that is meant as it stands")
	}
}

func (s *stack) checkText(n node, below path, good func(string) bool) {
	switch {
	case len(below) == 0:
		if text, ok := n.value.(string); ok {
			if t := s.environment.interpolate(text); t.known && !good(t.effective) {
				s.refuse(notCompose, misfit{n.path, refusedFormat}, specificationSays)
			}
		}
	case below[0] == "*":
		for _, each := range n.each() {
			s.checkText(each, below[1:], good)
		}
	case n.has(below[0]):
		s.checkText(n.at(below[0]), below[1:], good)
	}
}
