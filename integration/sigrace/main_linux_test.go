package main

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestARunWithoutLossesHasToProveSomething(t *testing.T) {
	control, gate := tally{caught: 90, worker: 100, lost: 10}, tally{caught: 100, worker: 100}
	for _, tt := range []struct {
		name          string
		control, gate tally
		want          int
	}{
		{"losses with the control only", control, gate, lostNone},
		{"losses with the gate", control, tally{caught: 100, worker: 99, lost: 1}, lostSome},
		{"no losses at all", tally{caught: 100, worker: 100}, gate, provedNought},
		{"signals all too early", control, tally{early: 100, caught: 100}, provedNought},
		{"signals all too late", control, tally{worker: 200}, provedNought},
		{"other ends", control, tally{caught: 100, worker: 100, failed: 1}, provedNought},
	} {
		code, err := judge(tt.control, tt.gate)
		if code != tt.want || (err != nil) != (tt.want == provedNought) {
			t.Errorf("%s: got %d %v, want %d", tt.name, code, err, tt.want)
		}
	}
}

// The worker is made of bytes; a processor has to understand them.
func TestWorkerSaysThatItRunsAndDiesOfSIGTERM(t *testing.T) {
	path := filepath.Join(t.TempDir(), "worker")
	if err := writeWorker(path); err != nil {
		t.Fatal(err)
	}
	p, err := subject{argv: []string{path}}.start()
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	if !p.becameWorker(10 * time.Second) {
		t.Error("it does not say that it runs")
	}
	if p.endsWithin(10 * time.Millisecond) {
		t.Error("it ended by itself")
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	if !p.endsWithin(10*time.Second) || !p.terminated() {
		t.Error("it did not die of SIGTERM")
	}
}
