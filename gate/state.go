package gate

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// phase is where a gate stands.
type phase string

// The phases.
const (
	gating  phase = "gating"  // checks and waits
	delayed phase = "delay"   // ready, and in the delay
	running phase = "running" // is the worker, or about to be
	failed  phase = "failed"  // has given up
)

var phases = [...]phase{gating, delayed, running, failed}

// stateVersion is that of the state file.
const stateVersion = 1

// A state is what a gate leaves for `startgate health` to read: no values.
// The process keeps its PID and its start time when it becomes the worker, so
// that the two say whether the worker still runs.
type state struct {
	V        int           `json:"v"`
	PID      int           `json:"pid"`
	Started  uint64        `json:"started"` // of the process, in the kernel's ticks since boot
	Phase    phase         `json:"phase"`
	Since    time.Time     `json:"since"`    // of the phase and the code
	Code     envcheck.Code `json:"code"`     // what it waits for, or why it has given up
	Wait     envcheck.Word `json:"wait"`     // what is waited for, by name
	Attempts int           `json:"attempts"` // so far
	Skipped  bool          `json:"skipped"`  // the contract did not apply
}

// appendJSON appends s. It is written on every start, for which package json
// takes too long; each text is of a closed list, or a name without quotes.
func (s *state) appendJSON(b []byte) []byte {
	b = append(b, `{"v":`...)
	b = strconv.AppendInt(b, int64(s.V), 10)
	b = append(b, `,"pid":`...)
	b = strconv.AppendInt(b, int64(s.PID), 10)
	b = append(b, `,"started":`...)
	b = strconv.AppendUint(b, s.Started, 10)
	b = append(b, `,"phase":"`...)
	b = append(b, s.Phase...)
	b = append(b, `","since":"`...)
	b = s.Since.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","code":"`...)
	b = append(b, s.Code...)
	b = append(b, `","wait":"`...)
	b = append(b, s.Wait...)
	b = append(b, `","attempts":`...)
	b = strconv.AppendInt(b, int64(s.Attempts), 10)
	b = append(b, `,"skipped":`...)
	b = strconv.AppendBool(b, s.Skipped)
	return append(b, "}\n"...)
}

var errNoPlace = errors.New("no place for a state file")

// stateFile keeps a gate's state. A nil one keeps none.
type stateFile struct {
	setting string // where the file is to be, "" for the usual places
	path    string // where it is, "" for nowhere
	opened  bool
	now     state
	text    atomic.Pointer[[]byte] // now, as other goroutines may read it
}

// set takes a new phase, code and wait, and writes them. A first file is made
// for that, so that a gate that need not wait writes once. What cannot be
// written later is dropped: a full disk must not keep a worker from starting.
func (f *stateFile) set(to phase, code envcheck.Code, wait envcheck.Word, attempts int) error {
	if f == nil {
		return nil
	}
	f.now.V, f.now.Since = stateVersion, time.Now()
	f.now.Phase, f.now.Code, f.now.Wait, f.now.Attempts = to, code, wait, attempts
	if !f.opened {
		f.opened = true
		return f.open()
	}
	if text := f.encode(); f.path != "" {
		_ = writeState(f.path, text)
	}
	return nil
}

// open writes the state in the first place where that is possible. A file
// whose process lives is another gate's, such as one that docker exec has
// started, and stays: this one's state is then written nowhere.
func (f *stateFile) open() error {
	defer f.encode()
	pid, started, err := self()
	if err != nil {
		return nil // a system without /proc
	}
	f.now.PID, f.now.Started = pid, started
	var free []string // what is there and no state is somebody's file, and stays
	for _, path := range statePaths(f.setting) {
		old, reason := readState(path)
		switch {
		case reason == "" && old.PID != pid && old.alive() && ours(path):
			return nil
		case reason == "", reason == envcheck.NotFound:
			free = append(free, path)
		}
	}
	err = errNoPlace
	for _, path := range free {
		if err = writeState(path, f.encode()); err == nil {
			f.path = path
			return nil
		}
	}
	return err
}

func (f *stateFile) encode() []byte {
	text := f.now.appendJSON(make([]byte, 0, 256))
	f.text.Store(&text)
	return text
}

// maxState bounds a state file.
const maxState = 4096

// readState reads a state file.
func readState(path string) (s state, _ envcheck.Reason) {
	text, reason := readFile(path, maxState)
	if reason != "" {
		return s, reason
	}
	var version struct{ V int }
	switch {
	case json.Unmarshal(text, &version) != nil:
		return s, envcheck.Truncated
	case version.V != stateVersion:
		return s, envcheck.OtherVersion
	case json.Unmarshal(text, &s) != nil || s.PID <= 0 || !slices.Contains(phases[:], s.Phase):
		return state{}, envcheck.Truncated
	}
	// The file may be anybody's: nothing of it is printed but what is known.
	if s.Wait = ""; !slices.Contains(envcheck.Codes(), s.Code) {
		s.Code = ""
	}
	return s, ""
}

// alive reports whether the process of a state is there: the same, not
// another with its PID.
func (s state) alive() bool {
	started, err := startTime(s.PID)
	return err == nil && started == s.Started
}
