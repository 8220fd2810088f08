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
	p := v.process()
	v.result = v.contract.CheckProcess(p)
	v.findFaults(p)
}

// process is what is known of the worker's environment.
func (v *service) process() envcheck.Process {
	p := envcheck.Process{}
	for _, name := range v.variableNames() {
		v.put(&p, v.variables[name])
	}
	if !v.complete {
		for _, k := range v.contract.Keys {
			if v.variables[string(k.Key)] == nil {
				p.Unknown = append(p.Unknown, string(k.Key))
			}
		}
	}
	return p
}

// put adds what is known of a variable.
func (v *service) put(p *envcheck.Process, e *envVar) {
	switch stem := v.fromFile(e); {
	case stem != "":
		// The file is the container's: what this host has there says nothing
		// of it.
		p.Unknown = append(p.Unknown, stem, e.name)
	case e.passed && !e.known, !e.known && !v.judgeable(e):
		p.Unknown = append(p.Unknown, e.name)
	default:
		p.Environ = append(p.Environ, e.name+"="+e.effective)
	}
}

// changed is p with e instead of the variable called name, which is unset when
// there is no e.
func (v *service) changed(p envcheck.Process, name string, e *envVar) envcheck.Process {
	var q envcheck.Process
	for _, n := range p.Unknown {
		if n != name {
			q.Unknown = append(q.Unknown, n)
		}
	}
	for _, entry := range p.Environ {
		if n, _, _ := strings.Cut(entry, "="); n != name {
			q.Environ = append(q.Environ, entry)
		}
	}
	if e != nil {
		v.put(&q, e)
	}
	return q
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
