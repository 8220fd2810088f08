package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/startgate/startgate/probe/probetest"
)

// TestContractIsShown has the commands that show a contract do so in an
// environment that has the canary for every key. Of the contract they have the
// texts that are its author's to be read; the others have the canary.
func TestContractIsShown(t *testing.T) {
	needsExec(t)
	t.Parallel()
	var poisoned []string
	for line := range strings.Lines(readFile(t, "testdata/contract.yaml")) {
		if name, _, ok := strings.Cut(line, ": "); ok && strings.HasPrefix(name, "  ") && !strings.HasPrefix(name, "  -") {
			poisoned = append(poisoned, strings.TrimSpace(name))
		}
	}
	for _, args := range []string{
		"contract docs", "contract docs FILE", "contract --format=json docs", "contract example", "contract example FILE",
		"contract lint", "contract lint FILE", "contract --format=json lint FILE", "contract schema",
		"explain queue_missing", "explain queue_parse_failed", "explain key_int_invalid", "explain not_spoken", "explain both_needed",
		"explain worker_disabled", "explain secret_in_argv", "check -h", "version",
	} {
		canary := newCanary()
		file := secretFile(t, canary, contractText(t, canary, "literal"))
		p := process{label: args, canary: canary, args: strings.Fields(args), env: []string{"STARTGATE_CONTRACT=" + file}}
		if last := len(p.args) - 1; p.args[last] == "FILE" {
			p.args[last], p.env[0] = file, "STARTGATE_CONTRACT="+canary
		}
		for _, name := range poisoned {
			p.env = append(p.env, name+"="+canary, name+"_FILE="+canary)
		}
		if out := p.evaluate(t); len(out.stdout) == 0 {
			t.Errorf("%s shows nothing", args)
		}
	}
}

// TestFactsAreClosed sees that check shows values of closed types as the gate
// would write them.
func TestFactsAreClosed(t *testing.T) {
	needsExec(t)
	t.Parallel()
	canary := newCanary()
	good := probetest.New(t, probetest.Behaviour{}).Addr()
	p := process{
		label: "facts", canary: canary, args: []string{"check"},
		env: append(underContract(t, canary, good), "KEY_PLAIN="+canary, "KEY_FILED="+canary,
			"KEY_BOOL=1", "KEY_INT=7", "KEY_DURATION=90s", "KEY_SHOWN=green"),
	}
	out := p.evaluate(t)
	for _, shown := range []string{"key=KEY_BOOL state=present value=true", "key=KEY_INT state=present value=7", "value=1m30s", "value=green"} {
		if !bytes.Contains(out.stdout, []byte(shown)) {
			t.Errorf("there is no fact %s", shown)
		}
	}
}

// authored are contracts with the canary where a text of the author's is
// printed, as is meant: leaks that are planted.
var authored = [...]struct{ code, text, args string }{
	{"a_missing", "keys: {A: {required: true, purpose: CANARY}}", "check"},
	{"a_missing", "keys: {A: {required: true, purpose: CANARY}}", "run --format=json -- true"},
	{"x", "keys: {A: {}}\nrules: [{code: x, assert: set(A), fix: CANARY}]", "wait"},
	{"x", "keys: {A: {}}\nrules: [{code: x, assert: set(A), fix: \"CANARY\"}]", "probe --format=json"},
	{"", "keys: {A: {default: CANARY}}", "contract example"},
	{"", "keys: {A: {enum: [CANARY]}}", "contract docs"},
}

// TestHarnessReadsContracts sees that those are found: so that nothing else is
// printed of a contract is not for want of looking.
func TestHarnessReadsContracts(t *testing.T) {
	needsExec(t)
	t.Parallel()
	for _, a := range authored {
		canary := newCanary()
		c := invocation{name: a.args, args: func(attempt) []string { return strings.Fields(a.args) }}
		p := atContract(t, "a text to be printed", canary, "contract: 1\nname: x\n"+strings.ReplaceAll(a.text, "CANARY", canary), c)
		out, err := p.run()
		if err != nil {
			t.Fatal(err)
		}
		if a.code != "" {
			p.want(t, out, a.code)
		}
		if faults := strings.Join(p.faults(out), "\n"); !strings.Contains(faults, "as plain") {
			t.Errorf("%s prints a text of the contract's author, and the harness says %q", a.args, faults)
		}
	}
}
