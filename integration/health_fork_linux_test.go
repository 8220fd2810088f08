package integration

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

// A health check that forks leaves orphans to a process 1 that may not reap
// them, every few seconds.
func TestHealthDoesNotFork(t *testing.T) {
	s := startRedis(t, redisOptions{})
	env := append(s.env(), "STARTGATE_STATE_FILE="+filepath.Join(t.TempDir(), "state"), "STARTGATE_CONTRACT="+contractFile(t,
		"keys: {REDIS_URL: {type: redis_url}}\nwaits: [{redis: REDIS_URL}]\nhealth: {redis: true, heartbeat: {rq: true}, http: {port: 1, path: /}}\n"))
	p := start(t, command(env, "run", "--", workerPath(), "signal"))
	p.await("exec", 1)
	if forks := traceForks(t, []string{gatePath(), "health"}, env); forks != 0 {
		t.Errorf("health has forked %d times", forks)
	}
	// What counts nothing would count none here, too.
	if forks := traceForks(t, []string{"/bin/sh", "-c", "/bin/true; /bin/true & wait"}, nil); forks != 2 {
		t.Errorf("of a shell that forks twice %d forks are seen", forks)
	}
}

// traceForks runs a program to its end under ptrace and counts the processes
// that it makes; threads are none.
func traceForks(t *testing.T, argv, env []string) (forks int) {
	t.Helper()
	runtime.LockOSThread() // the tracer is a thread
	defer runtime.UnlockOSThread()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Env: env, Files: []uintptr{null.Fd(), null.Fd(), null.Fd()}, Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || !status.Stopped() {
		t.Fatalf("not traced: %v, %v", err, status)
	}
	const (
		exitKill = 0x100000 // PTRACE_O_EXITKILL
		follow   = syscall.PTRACE_O_TRACEFORK | syscall.PTRACE_O_TRACEVFORK | syscall.PTRACE_O_TRACECLONE
	)
	if err := syscall.PtraceSetOptions(pid, follow|exitKill); err != nil {
		t.Fatal(err)
	}
	if err := syscall.PtraceCont(pid, 0); err != nil {
		t.Fatal(err)
	}
	// Each is waited for by its number: other children of this process are
	// others' to wait for.
	for tracees := []int{pid}; ; time.Sleep(100 * time.Microsecond) {
		for _, id := range slices.Clone(tracees) {
			switch got, err := syscall.Wait4(id, &status, syscall.WNOHANG|syscall.WALL, nil); {
			case got == 0 && err == nil:
				continue
			case err != nil, status.Exited(), status.Signaled():
				if id == pid {
					return forks
				}
				tracees = slices.DeleteFunc(tracees, func(other int) bool { return other == id })
				continue
			}
			switch status.TrapCause() {
			case syscall.PTRACE_EVENT_FORK, syscall.PTRACE_EVENT_VFORK:
				forks++
				fallthrough
			case syscall.PTRACE_EVENT_CLONE:
				if made, err := syscall.PtraceGetEventMsg(id); err == nil {
					tracees = append(tracees, int(made))
				}
			}
			if err := syscall.PtraceCont(id, passed(status)); err != nil && err != syscall.ESRCH {
				t.Fatal(err)
			}
		}
	}
}

// passed is the signal that a stopped tracee is to get: none of the tracer's.
func passed(s syscall.WaitStatus) int {
	if s.StopSignal() == syscall.SIGTRAP || s.StopSignal() == syscall.SIGSTOP {
		return 0
	}
	return int(s.StopSignal())
}
