package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A worker that vanishes during the wait is missed at the exec, when the
// listener is closed and the state says running. The exit code, the last words
// and the state are those of a failure all the same.
func TestWorkerVanishesDuringTheWait(t *testing.T) {
	t.Parallel()
	needRoot(t)
	needProgram(t, "unshare")
	s := startRedis(t, redisOptions{})
	s.kill()
	dir := t.TempDir()
	worker, lastWords, state := filepath.Join(dir, "worker"), filepath.Join(dir, "last-words"), filepath.Join(dir, "state")
	for path, text := range map[string]string{worker: "#!/bin/sh\n", lastWords: ""} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The machine's own /dev would be everybody's.
	mounts := []string{"unshare", "--mount", "sh", "-c",
		`mount -t tmpfs none /dev && : >/dev/termination-log && mount --bind "$0" /dev/termination-log && exec "$@"`, lastWords}
	port := freePort(t)
	env := append(s.env(), "STARTGATE_STATE_FILE="+state)
	p := start(t, through(mounts, command(env, "run", "--health-listen", "127.0.0.1:"+port, "--", worker)))
	p.await("redis_refused", 1)
	if err := os.Remove(worker); err != nil {
		t.Fatal(err)
	}
	s.start()
	if p.wait(); p.code != 127 {
		t.Errorf("exit %d, want 127", p.code)
	}
	if last := p.last(); last.Code != "exec_not_found" || last.Reason != "no_such_file" || last.Exit != 127 {
		t.Errorf("last line %+v", last)
	}
	if got, err := os.ReadFile(lastWords); !contains(string(got), "exec_not_found") || !contains(string(got), "(exit 127: ") {
		t.Errorf("the termination message is %q %v", got, err)
	}
	if exit, code, cause := asked(t, env); exit != 1 || code != "health_failed" || cause != "exec_not_found" {
		t.Errorf("health says %d %s %s", exit, code, cause)
	}
}

// As process 1 the gate is sent nothing that it has not asked for: TERM ends
// it because it is caught, once, however often it comes.
func TestTermTwiceAsPID1(t *testing.T) {
	t.Parallel()
	needRoot(t)
	needProgram(t, "unshare")
	for range 5 {
		// unshare ends as its child does.
		namespace := []string{"unshare", "--pid", "--fork", "--kill-child"}
		p := start(t, through(namespace, command(redisURL("redis://127.0.0.1:"+freePort(t)), "wait")))
		p.await("redis_refused", 1)
		gate := onlyChild(t, p.cmd.Process.Pid)
		for range 2 {
			if err := syscall.Kill(gate, syscall.SIGTERM); err != nil && err != syscall.ESRCH {
				t.Fatal(err)
			}
		}
		if p.wait(); p.code != 143 {
			t.Errorf("exit %d, want 143", p.code)
		}
		if n := strings.Count(strings.Join(p.codes(), " "), "stopped"); n != 1 {
			t.Errorf("said %d times that it was stopped: %s", n, p.codes())
		}
	}
}

func onlyChild(t *testing.T, pid int) (child int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	if child, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
		t.Fatal(err)
	}
	return child
}

// A TERM around the exec ends the gate or the worker, and is never lost. The
// program that shows it also shows, each time, that it could be.
func TestTermAroundTheExec(t *testing.T) {
	needProgram(t, "redis-server")
	sigrace := filepath.Join(t.TempDir(), "sigrace")
	if out, err := exec.Command("go", "build", "-o", sigrace, "./sigrace").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	args := []string{"-gate", gatePath(), "-n", "300", "-control", "300", "-hogs", "0"}
	if full() {
		args = []string{"-gate", gatePath()}
	}
	const provedNothing = 2
	for try := 1; ; try++ {
		out, err := exec.Command(sigrace, args...).CombinedOutput()
		t.Logf("\n%s", out)
		failed, _ := errors.AsType[*exec.ExitError](err)
		switch {
		case err == nil:
			return
		case failed == nil || failed.ExitCode() != provedNothing || try == 3:
			t.Fatal(err)
		}
	}
}
