package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

// start runs argv with exactly these variables and files: [exec.Cmd] would
// mend both. It returns what argv writes to its standard output.
func start(t *testing.T, argv, environ []string, stdin *os.File, extra ...*os.File) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := os.StartProcess(argv[0], argv, &os.ProcAttr{
		Env: environ, Files: append([]*os.File{stdin, w, os.Stderr}, extra...),
	})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if state, err := p.Wait(); err != nil || !state.Success() {
		t.Fatalf("%v %v: %s", state, err, out)
	}
	return string(out)
}

func TestBecomeHandsTheEnvironmentOverByteByByte(t *testing.T) {
	environ := []string{
		"PATH=/usr/bin:/bin", "INVALID=\xff\xfe\x80", "LINES=a\nb\r\n", "EMPTY=", "NOEQ", "=x",
		"STARTGATE_TIMEOUT=1s", "Z=first", "SPACE= a  b ", "A=last",
	}
	// Of a name that stands twice Go's own environment keeps the first.
	twice := append(slices.Clone(environ), "Z=second")
	got := start(t, asGate(t, "cat", "/proc/self/environ"), twice, nil)
	if want := strings.Join(environ, "\x00") + "\x00"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestBecomeKeepsProcessAndArguments(t *testing.T) {
	worker := []string{"sh", "-c", "echo $$; cat /proc/$$/cmdline", "", "a  b", "--", "\xff"}
	argv := asGate(t, worker...)
	cmd := exec.Command(argv[0], argv[1:]...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%d\n%s\x00", cmd.Process.Pid, strings.Join(worker, "\x00"))
	if string(out) != want {
		t.Errorf("got  %q\nwant %q", out, want)
	}
}

func TestBecomePassesDescriptorsOn(t *testing.T) {
	dir := t.TempDir()
	var files []*os.File
	for _, name := range []string{"three", "four"} {
		f, err := os.Open(write(t, filepath.Join(dir, name), "xx"+name, 0o600))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Seek(2, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	const script = "ls /proc/$$/fd; cat <&3; cat <&4; readlink /proc/$$/fd/0"
	got := start(t, asGate(t, "sh", "-c", script), os.Environ(), nil, files...)
	// The tests themselves may have been started with more than three.
	fds := start(t, []string{"/bin/sh", "-c", "ls /proc/$$/fd"}, os.Environ(), os.Stdin, files...)
	if want := fds + "threefour/dev/null\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The worker is to find itself as it would without the gate.
func TestBecomeLeavesLimitsAndSignalsAsTheyWere(t *testing.T) {
	const (
		setUp = `trap "" HUP INT; umask 027; ulimit -Sn 1000; ulimit -c 0; exec nice -n 5 "$@"`
		show  = `cat /proc/self/limits /proc/self/timerslack_ns; ulimit -Sn; umask; nice; pwd
			grep -E '^(Umask|Uid|Gid|Groups|SigBlk|SigIgn|Cap|NoNewPrivs|Seccomp)' /proc/self/status`
	)
	run := func(argv ...string) string {
		cmd := exec.Command("sh", append([]string{"-c", setUp, "sh"}, argv...)...)
		cmd.Dir = "/usr"
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", argv, err, out)
		}
		return string(out)
	}
	want := run("sh", "-c", show)
	if got := run(asGate(t, "sh", "-c", show)...); got != want {
		t.Errorf("with the gate:\n%s\nwithout:\n%s", got, want)
	}
	urgency, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0) // 20 less the niceness
	if err != nil {
		t.Fatal(err)
	}
	nicer := fmt.Sprintf("\n%d\n", min(19, 20-urgency+5))
	for _, line := range []string{"\n1000\n", "\n0027\n", nicer, "\nSigIgn:\t0000000000000003\n"} {
		if !strings.Contains(want, line) {
			t.Errorf("the worker does not show %q:\n%s", line, want)
		}
	}
}

// The signal that a parent wants sent at its death is a thread's, and any
// thread but the main one would lose it.
func TestBecomeKeepsTheParentDeathSignal(t *testing.T) {
	runtime.LockOSThread() // the parent is a thread, too
	defer runtime.UnlockOSThread()
	for i := range 40 {
		argv := asGate(t, childPath(t), asChild, "pdeathsig")
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGUSR2}
		out, err := cmd.Output()
		if want := fmt.Sprint(int(syscall.SIGUSR2)); err != nil || string(out) != want {
			t.Fatalf("run %d: got %s %v, want %s", i, out, err, want)
		}
	}
}

func TestBecomeNamesWhatExecveRefuses(t *testing.T) {
	s := catch(t)
	ctx := s.Context(t.Context())
	// The file was there when it was looked up.
	fault, err := become(ctx, s, filepath.Join(t.TempDir(), "worker"), []string{"worker"}, nil)
	if err != nil || fault == nil || fault.Code != envcheck.ExecNotFound || fault.Reason != envcheck.NoSuchFile || fault.Exit != 127 {
		t.Errorf("got %+v %v", fault, err)
	}
	signalSelf(t, syscall.SIGTERM) // is still, or again, caught
	<-ctx.Done()
}

func TestBecomeIsStoppedByASignal(t *testing.T) {
	s := catch(t)
	ctx := s.Context(t.Context())
	signalSelf(t, syscall.SIGINT)
	fault, err := become(ctx, s, "/bin/false", []string{"false"}, nil)
	if stopped, ok := errors.AsType[Stopped](err); !ok || stopped.Signal != syscall.SIGINT || fault != nil {
		t.Errorf("got %v %v", fault, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if fault, err := become(ended, nil, "/bin/false", []string{"false"}, nil); err != context.Canceled || fault != nil {
		t.Errorf("in a context that has ended got %v %v", fault, err)
	}
}
