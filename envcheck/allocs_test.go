package envcheck

import (
	"bytes"
	"os"
	"testing"
)

// Counts of allocations are the same on every machine, but for the few that
// the race detector adds. The contract is the five-group example's.
func TestAllocations(t *testing.T) {
	text, err := os.ReadFile("../examples/bullmq/contract.yaml")
	if err != nil {
		t.Fatal(err)
	}
	env := scenarios(t, "bullmq.txtar")[0].env
	contract, _ := Load(bytes.NewReader(text))
	for _, c := range []struct {
		name string
		do   func()
		most float64
	}{
		{"load", func() { Load(bytes.NewReader(text)) }, 4100},
		{"check", func() { contract.Check(env) }, 130},
		{"one line", func() { Diagnostic{Code: RedisMissing, Keys: []Key{"REDIS_URL"}}.AppendText(nil) }, 5},
	} {
		if got := testing.AllocsPerRun(20, c.do); got > c.most {
			t.Errorf("%s allocates %v times, want at most %v", c.name, got, c.most)
		}
	}
}
