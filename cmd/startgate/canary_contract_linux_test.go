package main

import (
	"testing"

	"github.com/startgate/startgate/probe/probetest"
)

// TestNamesThatStandTwice has both entries of a name hold the canary. Only
// Linux shows a process its environment as it was handed over.
func TestNamesThatStandTwice(t *testing.T) {
	t.Parallel()
	good := probetest.New(t, probetest.Behaviour{}).Addr()
	var jobs []func()
	for _, key := range []string{"KEY_SECRET", "QUEUE_URL", "KEY_PORT", "KEY_PLAIN", "WORKER_ENABLED"} {
		for _, args := range [][]string{{"check"}, {"wait", "--format=json"}, {"probe"}} {
			jobs = append(jobs, func() {
				canary := newCanary()
				p := process{
					label: key + " twice, " + args[0], canary: canary, binary: self, exit: 78,
					args: append([]string{key + "=" + canary, startgate}, args...),
					env:  append(append(underContract(t, canary, good), key+"=2"+canary), part(roleTwice)...),
				}
				p.want(t, p.evaluate(t), "env_duplicate_key")
			})
		}
	}
	together(jobs)
}
