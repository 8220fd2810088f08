package main

import (
	"slices"
	"strings"
	"testing"
)

// known are leaks that the suite has found and that are still there. An entry
// is to go as soon as it is mended; the matrix then takes its input.
var known = [...]struct {
	name  string
	why   string
	fault string
	env   func(c string) []string
	args  func(c string) []string // nil is check
}{
	{
		"GOMEMLIMIT", "the Go runtime reads it before main, and prints and exits when it is malformed, as with 512MB for 512MiB",
		"as plain",
		func(c string) []string { return []string{"GOMEMLIMIT=" + c} }, nil,
	},
	{
		"a processor option in GODEBUG", "the Go runtime reads it before main",
		"as plain",
		func(c string) []string { return []string{"GODEBUG=cpu.avx=" + c} }, nil,
	},
	{
		"the mode of FIPS 140 in GODEBUG", "a package's init panics with it before main",
		"as plain",
		func(c string) []string { return []string{"GODEBUG=fips140=" + c} }, nil,
	},
}

func TestKnownLeaks(t *testing.T) {
	needsExec(t)
	t.Parallel()
	for _, k := range known {
		canary := newCanary()
		p := process{label: k.name, canary: canary, args: []string{"check"}, env: append(k.env(canary), "REDIS_URL=redis://127.0.0.1/0")}
		if k.args != nil {
			p.args = k.args(canary)
		}
		out, err := p.run()
		if err != nil {
			t.Fatal(err)
		}
		faults := append(p.faults(out), grammarFaults(out)...)
		if !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, k.fault) }) {
			t.Errorf("%s does not leak any more (%s): delete it from the list of known leaks, and have the matrix try it", k.name, k.why)
		}
	}
}
