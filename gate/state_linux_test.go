package gate

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

func TestStateIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	old := syscall.Umask(0o777)
	defer syscall.Umask(old)
	f := stateFile{setting: path}
	if err := f.set(gating, "", "", 0); err != nil {
		t.Fatal(err)
	}
	f.set(gating, envcheck.RedisLoading, "redis", 7)
	got, reason := readState(path)
	if reason != "" || got.PID != os.Getpid() || got.Phase != gating || got.Code != envcheck.RedisLoading || got.Attempts != 7 || !got.alive() {
		t.Errorf("%+v %s", got, reason)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o644 {
		t.Errorf("%v %v: others must be able to read it, whatever the umask", info.Mode(), err)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("%d files are left", len(files))
	}
}

// A state of a process that has ended, or whose PID is another's by now.
func TestStateOfTheDead(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]state{
		"ended":   {PID: cmd.Process.Pid, Started: 1},
		"another": {PID: os.Getpid(), Started: 1},
	} {
		if s.alive() {
			t.Errorf("%s: it is said to be alive", name)
		}
	}
	zombie := exec.Command("true")
	if err := zombie.Start(); err != nil {
		t.Fatal(err)
	}
	defer zombie.Wait()
	started, err := startTime(zombie.Process.Pid)
	for err == nil { // until it has ended; it is not reaped before Wait
		_, err = startTime(zombie.Process.Pid)
	}
	if (state{PID: zombie.Process.Pid, Started: started}).alive() {
		t.Error("a zombie is said to be alive")
	}
}

func TestStateThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]envcheck.Reason{
		filepath.Join(dir, "none"):     envcheck.NotFound,
		dir:                            envcheck.IsDirectory,
		fifo:                           envcheck.NotRegular,
		write("empty", ""):             envcheck.Truncated,
		write("half", `{"v":1,"pid":`): envcheck.Truncated,
		write("in an unknown phase", `{"v":1,"pid":7,"phase":"x"}`): envcheck.Truncated,
		write("without a process", `{"v":1}`):                       envcheck.Truncated,
		write("of a later version", `{"v":2}`):                      envcheck.OtherVersion,
		write("of another kind", `{"v":1,"pid":""}`):                envcheck.Truncated,
		write("large", string(make([]byte, 9000))):                  envcheck.TooLarge,
	} {
		if _, got := readState(path); got != want {
			t.Errorf("%s: %q, want %q", filepath.Base(path), got, want)
		}
	}
}

// What docker exec starts beside a worker must not take over its state.
func TestStateOfALivingGateStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	sleep := exec.Command("sleep", "60")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	defer sleep.Wait()
	defer sleep.Process.Kill()
	started, err := startTime(sleep.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	first := state{V: stateVersion, PID: sleep.Process.Pid, Started: started, Phase: running}
	if err := writeState(path, first.appendJSON(nil)); err != nil {
		t.Fatal(err)
	}
	second := stateFile{setting: path}
	second.set(failed, envcheck.RedisRefused, "", 1)
	if got, _ := readState(path); got.Phase != running || got.PID != sleep.Process.Pid {
		t.Errorf("%+v", got)
	}
}

// Whatever else is in its place is somebody's.
func TestStateLeavesOtherFilesAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.conf")
	if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, "/dev/null"} {
		before, _ := os.Stat(path)
		f := stateFile{setting: path}
		if f.set(running, "", "", 0) == nil {
			t.Errorf("%s: nobody is told", path)
		}
		if after, err := os.Stat(path); err != nil || after.Mode() != before.Mode() || !os.SameFile(before, after) {
			t.Errorf("%s is another file now", path)
		}
	}
}

func TestStateNowhere(t *testing.T) {
	f := stateFile{setting: "/proc/none"}
	if f.set(gating, "", "", 0) == nil {
		t.Error("nobody is told")
	}
	if err := f.set(running, "", "", 0); err != nil {
		t.Errorf("it is told again: %v", err)
	}
}
