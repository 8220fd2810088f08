package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/startgate/startgate/probe/probetest"
)

// TestTerminationMessage reads what Kubernetes would show in kubectl describe,
// where many more people see it than see a log.
func TestTerminationMessage(t *testing.T) {
	needsMounts(t)
	t.Parallel()
	server := probetest.New(t, probetest.Behaviour{Password: "another"}).Addr()
	many := "STARTGATE_REDIS_KEYS=" + manyKeys(60)
	var jobs []func()
	for _, e := range []struct {
		name, code string
		exit       int
		env        func(c string) string
		args       func(c string) []string
	}{
		{"a bad value", "env_placeholder_value", 78, func(c string) string { return "REDIS_URL=<" + c + ">" }, func(c string) []string { return []string{"--", c} }},
		{"a bad setting", "gate_setting_invalid", 78, func(c string) string { return "STARTGATE_DELAY=" + c }, func(c string) []string { return []string{"wait", "--format=json"} }},
		{"no contract", "contract_unreadable", 66, func(c string) string { return "STARTGATE_CONTRACT=/" + c }, func(c string) []string { return []string{"wait"} }},
		{"no worker", "exec_not_found", 127, func(c string) string { return "REDIS_URL=redis://:" + c + "@" + server }, func(c string) []string { return []string{"--", "/" + c, c} }},
		{"a refusal", "redis_auth_rejected", 69, func(c string) string { return "REDIS_URL=redis://:" + c + "@" + server }, func(c string) []string { return []string{"wait", "--format=json"} }},
		{"a spent budget", "redis_unreachable", 75, func(c string) string { return "REDIS_URL=redis://:" + c + "@255.255.255.255" }, func(c string) []string { return []string{"wait", "--timeout=0"} }},
		{"more than fits", "redis_missing", 78, func(string) string { return many }, func(c string) []string { return []string{"wait"} }},
		{"a probe", "", 78, func(c string) string { return "REDIS_URL=<" + c + ">" }, func(c string) []string { return []string{"probe"} }},
		{"a probe that is typed wrongly", "", 64, func(c string) string { return "REDIS_URL=<" + c + ">" }, func(c string) []string { return []string{"probe", "--" + c} }},
	} {
		jobs = append(jobs, func() {
			canary := newCanary()
			p := process{
				label: e.name, canary: canary, exit: e.exit, args: e.args(canary), env: []string{e.env(canary)},
				mounts: []mount{{emptyFile(t), terminationLogPath}},
			}
			out := p.evaluate(t)
			if e.code == "" { // it is the container's message, and not of whoever looks into it
				if len(out.termination) > 0 {
					t.Errorf("%s: it leaves a termination message", e.name)
				}
				return
			}
			p.want(t, output{termination: out.termination, exit: out.exit}, e.code)
			if !bytes.HasSuffix(out.termination, []byte(")\n")) || !bytes.Contains(out.termination, fmt.Appendf(nil, "(exit %d: ", e.exit)) {
				t.Errorf("%s: the termination message does not end with what the exit code means", e.name)
			}
			if kept := 4096; len(out.termination) > kept {
				t.Errorf("%s: the termination message has %d bytes, and Kubernetes keeps %d", e.name, len(out.termination), kept)
			}
		})
	}
	together(jobs)
}

// manyKeys are names for as many waits.
func manyKeys(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("KEY_NUMBER_%d", i)
	}
	return strings.Join(names, ",")
}
