// Package integration runs the built gate, as a process and in containers,
// against real servers.
//
// The servers come from this machine: redis-server from PATH, containers from
// Docker. Where one of them is missing its tests are skipped, and with CI set
// they fail: there a test that did not run must not look like one that passed.
// STARTGATE_TEST_SERVERS lists more of them, for TestConformance.
// STARTGATE_TEST_FULL=1 also runs what takes minutes, STARTGATE_TEST_SOAK=1h
// TestChaos for that long, and STARTGATE_TEST_SEED repeats one of its runs.
package integration

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// built is where TestMain puts what it builds.
var built string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	// What nohup has this process ignore, its children would ignore too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	flag.Parse()
	setDefaultParallel(8)
	setContainerDefaults()
	dir, err := os.MkdirTemp("", "startgate-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built = dir
	// Without cgo, as everywhere that counts: with it the gate knows no barrier
	// before execve, and looks names up in another way.
	build := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "../cmd/startgate", "./testdata/worker")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	code := m.Run()
	removeOwnImage()
	if left := leftovers(); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "the tests have left behind, and it is removed now:\n%s\n", strings.Join(left, "\n"))
		code = max(code, 1)
	}
	return code
}

// setDefaultParallel lets more tests run side by side than there are
// processors, unless the command line says how many: most of what is parallel
// here waits for a clock. Tests that measure are not parallel.
func setDefaultParallel(n int) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		flag.Set("test.parallel", strconv.Itoa(n))
	}
}

func gatePath() string   { return filepath.Join(built, "startgate"+exeSuffix()) }
func workerPath() string { return filepath.Join(built, "worker"+exeSuffix()) }

func exeSuffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// full reports whether the long form of the tests is wanted.
func full() bool { return os.Getenv("STARTGATE_TEST_FULL") == "1" }

// need skips t for want of something that this machine lacks. In CI, where all
// of it is there, it fails t instead.
func need(t testing.TB, what string, has bool) {
	t.Helper()
	switch {
	case has:
	case os.Getenv("CI") != "":
		t.Fatalf("CI without %s", what)
	default:
		t.Skipf("needs %s", what)
	}
}

// needProgram needs a program in PATH and returns its path.
func needProgram(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	need(t, name, err == nil)
	return path
}

// needRoot needs the right to make namespaces and to bind port 53.
func needRoot(t testing.TB) {
	t.Helper()
	need(t, "root", os.Geteuid() == 0)
}
