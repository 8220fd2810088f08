package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// throughShell has the gate, or whatever else argv runs, started by a shell
// that has run setUp.
func throughShell(setUp string, argv ...string) *exec.Cmd {
	return exec.Command("sh", append([]string{"-c", setUp + `; exec "$@"`, "sh"}, argv...)...)
}

// The signal that a parent wants sent at its death is the first thread's. An
// exec by another one loses it, more often than not.
func TestParentDeathSignalComesThrough(t *testing.T) {
	needProgram(t, "setpriv")
	s := startRedis(t, redisOptions{})
	rounds := 10
	if full() {
		rounds = 40
	}
	for range rounds {
		cmd := command(append(s.env(), "PATH=/usr/bin:/bin"), "--", "setpriv", "--dump")
		p := start(t, through([]string{"setpriv", "--pdeathsig", "USR2"}, cmd)).wait()
		if want := "Parent death signal: USR2\n"; p.code != 0 || !strings.Contains(p.stdout, want) {
			t.Fatalf("exit %d, the worker does not show %q:\n%s", p.code, want, p.stdout)
		}
	}
}

// A blocked signal stays blocked, but for those that the Go runtime needs: a
// worker that is started with TERM blocked can be stopped all the same.
func TestBlockedSignals(t *testing.T) {
	t.Parallel()
	s := startRedis(t, redisOptions{})
	blocked := func(cmd *exec.Cmd) string {
		t.Helper()
		cmd.Env = append(s.env(), "PATH=/usr/bin:/bin")
		p := start(t, through([]string{"env", "--block-signal=USR1", "--block-signal=TERM"}, cmd)).wait()
		return p.stdout
	}
	show := []string{"grep", "SigBlk", "/proc/self/status"}
	if got, want := blocked(exec.Command(show[0], show[1:]...)), "SigBlk:\t0000000000004200\n"; got != want {
		t.Fatalf("without the gate %q, want %q", got, want)
	}
	if got, want := blocked(exec.Command(gatePath(), append([]string{"--"}, show...)...)), "SigBlk:\t0000000000000200\n"; got != want {
		t.Errorf("with the gate %q, want %q", got, want)
	}
}

// Without standard streams the worker starts all the same, and finds three
// that it can use: none of the files that it opens is taken for one of them.
func TestClosedStandardStreams(t *testing.T) {
	t.Parallel()
	s := startRedis(t, redisOptions{})
	said := filepath.Join(t.TempDir(), "said")
	worker := `streams=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2); echo "$streams" >"$0"`
	cmd := throughShell("exec <&- >&- 2>&-", gatePath(), "--", "sh", "-c", worker, said)
	cmd.Env = append(s.env(), "PATH=/usr/bin:/bin")
	p := start(t, cmd).wait()
	got, err := os.ReadFile(said)
	if want := strings.Repeat("/dev/null\n", 3); p.code != 0 || string(got) != want {
		t.Errorf("exit %d, streams %q %v, want %q", p.code, got, err, want)
	}
}

// What a process inherits beside its environment and its files is as it would
// be without the gate.
func TestAttributesComeThrough(t *testing.T) {
	t.Parallel()
	needProgram(t, "setpriv")
	s := startRedis(t, redisOptions{})
	const setUp = `umask 027; ulimit -Sn 1024; echo 71234 >/proc/self/timerslack_ns; set -- nice -n 5 setpriv --no-new-privs "$@"`
	const show = `ulimit -Sn; ulimit -Hn; umask; pwd; nice; cat /proc/self/timerslack_ns /proc/self/limits
		grep -E '^(Umask|Uid|Gid|Groups|SigBlk|SigIgn|SigCgt|Cap|NoNewPrivs|Seccomp|Cpus_allowed)' /proc/self/status`
	shown := func(argv ...string) string {
		t.Helper()
		cmd := throughShell(setUp, argv...)
		cmd.Dir, cmd.Env = "/usr/bin", append(s.env(), "PATH=/usr/bin:/bin")
		p := start(t, cmd).wait()
		if p.code != 0 {
			t.Fatalf("%q: exit %d: %s", argv, p.code, p.stderr)
		}
		return p.stdout
	}
	want := shown("sh", "-c", show)
	if got := shown(gatePath(), "--", "sh", "-c", show); got != want {
		t.Errorf("with the gate:\n%s\nwithout:\n%s", got, want)
	}
	for _, line := range []string{"1024\n", "\n0027\n", "\n/usr/bin\n", "\n71234\n", "\nNoNewPrivs:\t1\n"} {
		if !strings.Contains(want, line) {
			t.Errorf("the worker does not show %q:\n%s", line, want)
		}
	}
}

// The worker is not only of the gate's PID: it is the process that the kernel
// started for the gate, under the worker's name.
func TestProcessStaysTheSame(t *testing.T) {
	t.Parallel()
	s := startRedis(t, redisOptions{})
	s.kill()
	p := start(t, command(s.env(), "--", workerPath(), "signal"))
	p.await("redis_refused", 1)
	name, before := kernelsView(t, p)
	if name != "startgate" {
		t.Errorf("while gating the process is %s", name)
	}
	s.start()
	p.await("exec", 1)
	eventually(t, "the process is the worker", func() error {
		if name, after := kernelsView(t, p); name != "worker" {
			return fmt.Errorf("it is %s", name)
		} else if after != before {
			t.Errorf("started at %s, the gate was at %s", after, before)
		}
		return nil
	})
}

// kernelsView is the name of a process and when it was started, in ticks.
func kernelsView(t *testing.T, p *gateProcess) (name, started string) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), " (")
	name, rest, _ = strings.Cut(rest, ") ")
	return name, strings.Fields(rest)[22-3]
}
