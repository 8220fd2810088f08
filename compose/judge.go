package compose

import (
	"maps"
	"slices"

	"github.com/startgate/startgate/envcheck"
)

// judge holds what is known of a worker's environment against its contract.
func (v *service) judge() {
	v.contract = v.stack.options.Contract
	if file := v.config.Contract; file != "" {
		v.contract = v.stack.options.contracts[file]
	}
	if v.contract == nil || v.role != worker {
		v.contract = nil
		return
	}
	p := envcheck.Process{}
	for _, name := range v.variableNames() {
		e := v.variables[name]
		switch {
		case e.passed && !e.known, !e.known && !v.judgeable(e):
			p.Unknown = append(p.Unknown, name)
		default:
			p.Environ = append(p.Environ, name+"="+e.effective)
		}
	}
	if !v.complete {
		for _, k := range v.contract.Keys {
			if v.variables[string(k.Key)] == nil {
				p.Unknown = append(p.Unknown, string(k.Key))
			}
		}
	}
	v.result = v.contract.CheckProcess(p)
}

// judgeable reports whether a value of which a part is not known can be judged
// all the same: a Redis URL can, where the rest of it can be read.
func (v *service) judgeable(e *envVar) bool {
	return slices.ContainsFunc(v.redisURLs(), func(t target) bool { return t.variable == e && t.reason == "" })
}

// sortedKeys are the keys of a map in their order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
