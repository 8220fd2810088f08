package gate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// asChild is the first argument with which the test binary plays the part that
// the second names. An environment variable would be in the environment that
// the worker gets.
const asChild = "startgate-test-child"

// During init the main goroutine is locked to the main thread, as in the gate.
func init() {
	if len(os.Args) > 2 && os.Args[1] == asChild {
		os.Exit(child(os.Args[2], os.Args[3:]))
	}
}

// child is a main of which package gate is all.
func child(part string, args []string) int {
	s := CatchSignals()
	s.Exit = os.Exit
	ctx := s.Context(context.Background())
	switch part {
	case "become": // the arguments
		return childBecomes(ctx, s, args)
	case "wait": // for a signal
		fmt.Println("waiting")
		<-ctx.Done()
		return context.Cause(ctx).(Stopped).ExitCode()
	case "stuck": // in a write that nobody reads
		for {
			os.Stdout.Write(make([]byte, 1<<20))
		}
	case "pdeathsig": // say it, as the worker
		var sig int32
		const get = 2
		syscall.RawSyscall(syscall.SYS_PRCTL, get, uintptr(unsafe.Pointer(&sig)), 0)
		fmt.Print(sig)
		return 0
	}
	return ExitInternal
}

func childBecomes(ctx context.Context, s *Signals, argv []string) int {
	busyThreads()
	path, _, fault := lookUp(ctx, argv[0], os.Environ())
	if fault == nil {
		var err error
		fault, err = become(ctx, s, path, argv, os.Environ())
		if stopped, ok := errors.AsType[Stopped](err); ok {
			return stopped.ExitCode()
		}
	}
	fmt.Print(fault.Code, " ", fault.Reason)
	return fault.Exit
}

// busyThreads does what a gate does that waits, so that there are threads and
// descriptors to get rid of.
func busyThreads() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	var dials sync.WaitGroup
	for range 4 {
		dials.Go(func() {
			for range 20 {
				if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
					c.Close()
				}
			}
		})
	}
	dials.Wait()
}

var childDir string

func TestMain(m *testing.M) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // what nohup has this process ignore, children would ignore too
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "STARTGATE_") {
			os.Unsetenv(name)
		}
	}
	code := m.Run()
	if childDir != "" {
		os.RemoveAll(childDir)
	}
	os.Exit(code)
}

// buildChild builds the test binary as the gate is built: the hand-over is
// whole only without cgo, which -race needs.
var buildChild = sync.OnceValues(func() (string, error) {
	var err error
	if childDir, err = os.MkdirTemp("", "gate"); err != nil {
		return "", err
	}
	path := filepath.Join(childDir, "gate.test")
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

func childPath(t *testing.T) string {
	t.Helper()
	path, err := buildChild()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// asGate is the command line of a gate in front of worker.
func asGate(t *testing.T, worker ...string) []string {
	t.Helper()
	return append([]string{childPath(t), asChild, "become"}, worker...)
}

func TestChildEndsAtEverySignal(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{
		syscall.SIGTERM: 143, syscall.SIGINT: 130, syscall.SIGHUP: 129, syscall.SIGQUIT: 131,
	} {
		cmd := exec.Command(childPath(t), asChild, "wait")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		out.Read(make([]byte, 1))
		cmd.Process.Signal(sig)
		cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%v: got %v, want exit %d", sig, cmd.ProcessState, want)
		}
	}
}

// A log driver that hangs must not keep the container from stopping.
func TestChildEndsWhileItsOutputIsStuck(t *testing.T) {
	const limit = 50 * time.Millisecond
	least := time.Hour
	for range 20 { // the machine may be busy
		cmd := exec.Command(childPath(t), asChild, "stuck")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		out.Read(make([]byte, 1))
		time.Sleep(20 * time.Millisecond) // nothing shows that the pipe is full
		start := time.Now()
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		if least = min(least, time.Since(start)); cmd.ProcessState.ExitCode() != 143 {
			t.Errorf("got %v", cmd.ProcessState)
		}
		if least < limit {
			return
		}
	}
	t.Errorf("ended after %v", least)
}
