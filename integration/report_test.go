package integration

import (
	"encoding/json"
	"testing"
)

// report is what the worker of testdata sees of itself.
type report struct {
	PID     int
	Args    []string
	Environ []byte
	Files   map[int]string
}

// reported reads the report of a worker.
func reported(t *testing.T, stdout string) (r report) {
	t.Helper()
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("%v: stdout has more than the worker's report: %q", err, stdout)
	}
	return r
}
