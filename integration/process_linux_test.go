package integration

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The worker is the process that the gate was, with the arguments as typed.
func TestWorkerIsTheProcess(t *testing.T) {
	t.Parallel()
	s := startRedis(t, redisOptions{})
	env := append(s.env(), "PATH="+built+":/usr/bin:/bin") // the last one counts for exec.Cmd
	args := []string{"report", "", "two words", "--", "--timeout=1", "-h", "\xff\n"}
	for _, name := range []string{"worker", workerPath(), "./worker"} {
		cmd := command(env, append([]string{"run", "--", name}, args...)...)
		cmd.Dir = built
		p := start(t, cmd).wait()
		r := reported(t, p.stdout)
		if r.PID != cmd.Process.Pid {
			t.Errorf("%s: the worker is process %d, the gate was %d", name, r.PID, cmd.Process.Pid)
		}
		// JSON has no bytes that are not UTF-8.
		want := append([]string{name}, args...)
		want[len(want)-1] = "\ufffd\n"
		if !slices.Equal(r.Args, want) {
			t.Errorf("arguments %q, want %q", r.Args, want)
		}
	}
}

// The environment comes through byte by byte, the gate's own settings and what
// is no proper variable included. Of a name that is there twice the first one
// counts, as getenv has it.
func TestEnvironmentComesThrough(t *testing.T) {
	t.Parallel()
	s := startRedis(t, redisOptions{})
	environ := []string{
		"PATH=/usr/bin:/bin", "REDIS_URL=" + s.url("", ""), "STARTGATE_TIMEOUT=20s", "STARTGATE_FORMAT=json",
		"GODEBUG=netdns=2,http2debug=2", "EMPTY=", "LINES=a\nb\n", "BYTES=\xff\xfe\x01", "NOVALUE", "=hidden", "A B=c",
		"TWICE=first", "Ü=ü", "TWICE=second", "LD_PRELOAD=", "GOTRACEBACK=crash", "TWICE=third", "LONG=" + strings.Repeat("x", 100_000),
	}
	want := slices.DeleteFunc(slices.Clone(environ), func(e string) bool { return e == "TWICE=second" || e == "TWICE=third" })
	stdout, stderr := runRaw(t, environ, "run", "--", workerPath(), "report")
	if got := strings.Split(strings.TrimSuffix(string(reported(t, stdout).Environ), "\x00"), "\x00"); !slices.Equal(got, want) {
		t.Errorf("environment %.600q\nwant %.600q", got, want)
	}
	for line := range strings.Lines(stderr) {
		if !json.Valid([]byte(line)) {
			t.Errorf("stderr has %q", line)
		}
	}
}

// runRaw runs the gate with exactly this environment: os/exec would remove
// what is there twice.
func runRaw(t *testing.T, environ []string, args ...string) (stdout, stderr string) {
	t.Helper()
	outR, outW := pipe(t)
	errR, errW := pipe(t)
	process, err := os.StartProcess(gatePath(), append([]string{"startgate"}, args...), &os.ProcAttr{
		Env: environ, Files: []*os.File{nil, outW, errW},
	})
	if err != nil {
		t.Fatal(err)
	}
	outW.Close()
	errW.Close()
	out := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(outR)
		out <- b
	}()
	diagnostics, _ := io.ReadAll(errR)
	stdout, stderr = string(<-out), string(diagnostics)
	if state, err := process.Wait(); err != nil || !state.Success() {
		t.Fatalf("%v, %v: %s", state, err, stderr)
	}
	return stdout, stderr
}

// Of the descriptors the worker has those that the gate was given, and none of
// the gate's.
func TestDescriptors(t *testing.T) {
	t.Parallel()
	s := startRedis(t, redisOptions{dir: dataSet(t), args: loadArgs(0)})
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("0123456789"), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	files := func(cmd *exec.Cmd) map[int]string {
		cmd.ExtraFiles = []*os.File{file, file}
		return reported(t, start(t, cmd).wait().stdout).Files
	}
	// This test may have been given some itself, and the worker's runtime opens some.
	want := files(exec.Command(workerPath(), "report"))
	got := files(command(append(s.env(), "STARTGATE_DELAY=0.05"), "--", workerPath(), "report"))
	if got[3] != path || got[4] != path || !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
		t.Errorf("descriptors %v, want %v", got, want)
	}
}

// Nothing is read of what the worker's standard input has, and nothing but the
// worker writes to standard output.
func TestStandardStreamsAreTheWorkers(t *testing.T) {
	t.Parallel()
	s := startRedis(t, redisOptions{args: []string{"--requirepass", "right-password"}})
	cmd := command(redisURL(s.url(":right-password@", "")), "--", "cat")
	cmd.Stdin = strings.NewReader("from stdin\n")
	if p := start(t, cmd).wait(); p.code != 0 || p.stdout != "from stdin\n" {
		t.Errorf("exit %d, stdout %q", p.code, p.stdout)
	}
	notRun := filepath.Join(t.TempDir(), "not-executable")
	if err := os.WriteFile(notRun, []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	good := redisURL(s.url(":right-password@", ""))
	for _, c := range []struct {
		code int
		env  []string
		args []string
	}{
		{0, good, []string{"--", workerPath(), "exit", "0"}},
		{3, good, []string{"--", workerPath(), "exit", "3"}},
		{75, good, []string{"--", workerPath(), "exit", "75"}},
		{255, good, []string{"--", workerPath(), "exit", "255"}},
		{64, good, []string{"run", workerPath()}},
		{64, good, []string{"run", "--no-such-flag"}},
		{66, append(good, "STARTGATE_CONTRACT=/nonexistent"), []string{"--", workerPath(), "exit", "0"}},
		{69, s.env(), []string{"--", workerPath(), "exit", "0"}},
		{75, redisURL("redis://127.0.0.1:" + freePort(t)), []string{"run", "--timeout=0", "--", workerPath(), "exit", "0"}},
		{78, nil, []string{"--", workerPath(), "exit", "0"}},
		{78, append(good, "STARTGATE_DELAY=soon"), []string{"--", workerPath(), "exit", "0"}},
		{126, good, []string{"--", notRun}},
		{127, good, []string{"--", "no-such-worker"}},
	} {
		p := run(t, c.env, c.args...)
		if p.code != c.code || p.stdout != "" {
			t.Errorf("%q: exit %d, want %d; stdout %q\n%s", c.args, p.code, c.code, p.stdout, p.stderr)
		}
	}
}

// A worker that cannot run is said before anything is waited for.
func TestWorkerIsLookedUpFirst(t *testing.T) {
	t.Parallel()
	p := run(t, redisURL("redis://127.0.0.1:"+freePort(t)), "--", "no-such-worker")
	if p.code != 127 || slices.Contains(p.codes(), "start") {
		t.Errorf("exit %d, codes %s", p.code, p.codes())
	}
}

// Limits and signal dispositions are what they were.
func TestLimitsAndSignalsComeThrough(t *testing.T) {
	t.Parallel()
	s := startRedis(t, redisOptions{})
	setUp := `ulimit -Sn 1000 && umask 027 && trap '' HUP && exec "$0" -- "$@"`
	cmd := exec.Command("sh", "-c", setUp, gatePath(), "cat", "/proc/self/status", "/proc/self/limits")
	cmd.Env = append([]string{"PATH=/usr/bin:/bin"}, s.env()...)
	p := start(t, cmd).wait()
	field := func(name string) string {
		for line := range strings.Lines(p.stdout) {
			if rest, ok := strings.CutPrefix(line, name); ok {
				return strings.Fields(rest)[0]
			}
		}
		return ""
	}
	for name, want := range map[string]string{
		"Max open files": "1000",
		"Umask:":         "0027",
		"SigIgn:":        "0000000000000001", // HUP
		"SigCgt:":        "0000000000000000",
		"SigBlk:":        "0000000000000000",
		"Threads:":       "1",
	} {
		if got := field(name); got != want {
			t.Errorf("%s %s, want %s", name, got, want)
		}
	}
	if p.code != 0 {
		t.Errorf("exit %d: %s", p.code, p.stderr)
	}
}

// A worker that a signal kills has been killed by it: nothing is in between.
func TestWorkerDiesBySignal(t *testing.T) {
	t.Parallel()
	s := startRedis(t, redisOptions{})
	p := run(t, s.env(), "--", "sh", "-c", "kill -KILL $$")
	if got := p.cmd.ProcessState.String(); got != "signal: killed" {
		t.Errorf("%s", got)
	}
}
