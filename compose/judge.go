package compose

import (
	"maps"
	"slices"
	"strings"

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
	v.result = v.contract.CheckProcess(v.process("", nil))
	v.findFaults()
}

// process is what is known of the worker's environment, with e instead of the
// variable called name. Without an e the variable is taken as unset.
func (v *service) process(name string, e *envVar) envcheck.Process {
	variables := v.variables
	if name != "" {
		variables = maps.Clone(variables)
		delete(variables, name)
		if e != nil {
			variables[name] = e
		}
	}
	p := envcheck.Process{}
	for _, name := range sortedKeys(variables) {
		e := variables[name]
		switch {
		case v.fromFile(e) != "":
			// The file is the container's: what this host has there says
			// nothing of it.
			p.Unknown = append(p.Unknown, v.fromFile(e), name)
		case e.passed && !e.known, !e.known && !v.judgeable(e):
			p.Unknown = append(p.Unknown, name)
		default:
			p.Environ = append(p.Environ, name+"="+e.effective)
		}
	}
	if !v.complete {
		for _, k := range v.contract.Keys {
			if variables[string(k.Key)] == nil {
				p.Unknown = append(p.Unknown, string(k.Key))
			}
		}
	}
	return p
}

// fromFile is the key whose value is in the file that the variable names, ""
// when it names none.
func (v *service) fromFile(e *envVar) string {
	stem, ok := strings.CutSuffix(e.name, "_FILE")
	if !ok || e.known && (e.effective == "" || e.effective == "/dev/null") {
		return ""
	}
	if k := v.declared(stem); k == nil || !k.File {
		return ""
	}
	return stem
}

// declared is the contract's key of that name, or nil.
func (v *service) declared(name string) *envcheck.KeySpec {
	if v.contract == nil {
		return nil
	}
	for _, k := range v.contract.Keys {
		if string(k.Key) == name {
			return k
		}
	}
	return nil
}

// judgeable reports whether a value of which a part is not known can be judged
// all the same: a Redis URL can, where the rest of it can be read.
func (v *service) judgeable(e *envVar) bool {
	t, ok := v.redisURL(e)
	return ok && t.reason == "" && !t.loose
}

// sortedKeys are the keys of a map in their order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
