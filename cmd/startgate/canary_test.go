package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
)

// The canary suite is the proof that no value is ever printed. It starts the
// built binary as a process, with a random text somewhere in what it is given:
// a variable, a flag, a name, an argument, a URL, a server's answer. Whatever
// comes out must have nothing of that text, in any encoding.
//
//	canary_detector_test.go   what counts as a leak
//	canary_guard_test.go      the detector finds leaks that are planted
//	canary_process_test.go    one process, started and judged
//	canary_matrix_test.go     every place with every hostile value
//	canary_peers_test.go      every condition of a server
//	canary_events_test.go     what a gate says when all is well, and signals
//	canary_contract_test.go   every key of a contract with every hostile value
//	canary_contract_faults_test.go, _scalars   contract files that are none
//	canary_contract_events_test.go, _files, _shown   what a contract says
//	canary_exec_*, canary_dns_*, canary_terminal_*   what needs Linux
//	canary_known_test.go      leaks that are known
//	canary_source_test.go     no door in the source for a value
//	codes_test.go             the codes themselves, and that each was reached

// startgate is the path of the binary under test. It is built as it is for
// images, so that what is proved holds for what users run.
var startgate string

// self is this test binary, which also plays the roles of [play].
var self string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if role := os.Getenv(roleVariable); role != "" {
		return play(role)
	}
	// What nohup has this process ignore, its children would ignore too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	flag.Parse()
	dir, err := os.MkdirTemp("", "startgate-canary-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if self, err = os.Executable(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	startgate = filepath.Join(dir, "startgate")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-buildvcs=false", "-o", startgate, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "the binary under test does not build: %v\n%s", err, out)
		return 1
	}
	code := m.Run()
	if n := evaluations.Load(); n > 0 {
		fmt.Printf("canary: %d processes judged, %d with a fault\n", n, failed.Load())
	}
	if missed := unreached(); code == 0 && wholeSuite() && len(missed) > 0 {
		fmt.Fprintf(os.Stderr, "FAIL: no process of the whole suite printed %v: what is behind these codes was never tried with a canary\n", missed)
		code = 1
	}
	return code
}

// thinned is set when a test of the suite could not run here.
var thinned atomic.Bool

// wholeSuite reports whether this run was to reach every code.
func wholeSuite() bool {
	for _, name := range [...]string{"test.run", "test.skip", "test.list"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return runtime.GOOS == "linux" && !thinned.Load()
}

// needsExec skips where a process cannot become another one, which is all that
// startgate is about.
func needsExec(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		lacking(t, "execve")
	}
}

// lacking skips a test for want of something. In CI that is a failure.
func lacking(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("the tests lack %s here", what)
	}
	thinned.Store(true)
	t.Skipf("the tests lack %s here", what)
}
