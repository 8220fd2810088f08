package gate

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// Phase is where a gate stands.
type Phase string

// The phases.
const (
	Gating  Phase = "gating"  // checks and waits
	Delayed Phase = "delay"   // ready, and in the delay
	Running Phase = "running" // is the worker, or about to be
	Failed  Phase = "failed"  // has given up
)

var phases = [...]Phase{Gating, Delayed, Running, Failed}

// stateVersion is that of the state file.
const stateVersion = 1

// A state is what a gate leaves for `startgate health` to read: no values.
// The process keeps its PID and its start time when it becomes the worker, so
// that the two say whether the worker still runs.
type state struct {
	V        int           `json:"v"`
	PID      int           `json:"pid"`
	Started  uint64        `json:"started"` // of the process, in the kernel's ticks since boot
	Phase    Phase         `json:"phase"`
	Code     envcheck.Code `json:"code,omitempty"` // what it waits for, or why it has given up
	Wait     envcheck.Word `json:"wait,omitempty"`
	Began    time.Time     `json:"began"` // of the gate
	Since    time.Time     `json:"since"` // of the phase and the code
	Attempts int           `json:"attempts,omitempty"`
	Skipped  bool          `json:"skipped,omitempty"` // the contract did not apply
}

// stateFile is where a gate writes its state. A nil one writes nothing.
type stateFile struct {
	path string // "" for nowhere
	now  state
	text atomic.Pointer[[]byte] // now, as others may read it
}

// stateDirs are where state files go, the first that can be written: no image
// has to have a directory for them. /run/startgate is used and never created.
var stateDirs = []string{"/run/startgate", "/dev/shm", "/tmp"}

// statePaths are the files that a gate of this container may have written.
// /dev/shm is shared by the containers of a pod, so their name has the mount
// namespace, which is the same for a process that docker exec starts.
func statePaths(setting string) []string {
	if setting != "" {
		return []string{setting}
	}
	name := "startgate"
	if link, err := os.Readlink("/proc/self/ns/mnt"); err == nil {
		name += "-" + strings.Trim(link, "mnt:[]")
	}
	var paths []string
	for _, dir := range stateDirs {
		paths = append(paths, filepath.Join(dir, name+".json"))
	}
	return paths
}

// openState begins to keep a state, in the first place where that is possible.
// A file whose process lives is another gate's, such as one that docker exec
// has started, and stays: this one's state is then written nowhere.
func openState(setting string) (*stateFile, error) {
	now, pid := time.Now(), os.Getpid()
	f := &stateFile{now: state{V: stateVersion, PID: pid, Phase: Gating, Began: now, Since: now}}
	f.encode()
	var err error
	if f.now.Started, err = startTime(pid); err != nil {
		return f, nil // a system without /proc
	}
	paths := statePaths(setting)
	for _, path := range paths {
		if old, reason := readState(path); reason == "" && old.PID != pid && old.alive() {
			return f, nil
		}
	}
	for _, f.path = range paths {
		if err = f.write(f.encode()); err == nil {
			return f, nil
		}
	}
	f.path = ""
	return f, err
}

// set writes a new phase, code and wait. What cannot be written is dropped: a
// full disk must not keep a worker from starting.
func (f *stateFile) set(phase Phase, code envcheck.Code, wait envcheck.Word, attempts int) {
	if f == nil {
		return
	}
	f.now.Phase, f.now.Code, f.now.Wait, f.now.Attempts, f.now.Since = phase, code, wait, attempts, time.Now()
	if text := f.encode(); f.path != "" {
		_ = f.write(text)
	}
}

func (f *stateFile) encode() []byte {
	text, _ := json.Marshal(f.now) // of numbers, times and words
	text = append(text, '\n')
	f.text.Store(&text)
	return text
}

// write replaces the file. Its readers run as other users, whatever the umask.
func (f *stateFile) write(text []byte) error {
	temp := f.path + "." + strconv.Itoa(f.now.PID)
	os.Remove(temp)
	w, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	err = errors.Join(err, w.Chmod(0o644), w.Close())
	if err == nil {
		err = os.Rename(temp, f.path)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

// maxState bounds a state file.
const maxState = 4096

// readState reads a state file. Only a regular file is opened: a FIFO would
// block.
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

// startTime is field 22 of /proc/PID/stat (proc(5)), which execve keeps.
func startTime(pid int) (uint64, error) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return 0, err
	}
	// The second field is the command's name in parentheses, and may hold both.
	i := strings.LastIndexByte(string(text), ')')
	fields := strings.Fields(string(text[i+1:]))
	const field = 22 - 3
	if i < 0 || len(fields) <= field {
		return 0, fs.ErrInvalid
	}
	if fields[0] == "Z" || fields[0] == "X" {
		return 0, syscall.ESRCH // ended, and not yet reaped
	}
	return strconv.ParseUint(fields[field], 10, 64)
}
