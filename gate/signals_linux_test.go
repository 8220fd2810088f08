package gate

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// signalSelf sends sig to the calling thread, where it is handled before the
// system call returns.
func signalSelf(t *testing.T, sig syscall.Signal) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.Tgkill(syscall.Getpid(), syscall.Gettid(), sig); err != nil {
		t.Fatal(err)
	}
}

// catch is CatchSignals for one test.
func catch(t *testing.T) *Signals {
	t.Helper()
	s := CatchSignals()
	t.Cleanup(func() { signal.Stop(s.ch) })
	return s
}

func TestASignalEndsTheContext(t *testing.T) {
	for _, tt := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGTERM, 143}, {syscall.SIGINT, 130}, {syscall.SIGHUP, 129}, {syscall.SIGQUIT, 131}} {
		s := catch(t)
		ctx := s.Context(t.Context())
		signalSelf(t, tt.signal)
		<-ctx.Done()
		if got := context.Cause(ctx); got != error(Stopped{tt.signal}) || got.(Stopped).ExitCode() != tt.code {
			t.Errorf("%v: got %#v", tt.signal, got)
		}
		signal.Stop(s.ch)
	}
}

func TestASignalBeforeContextCounts(t *testing.T) {
	s := catch(t)
	signalSelf(t, syscall.SIGTERM)
	ctx := s.Context(t.Context())
	<-ctx.Done()
	if got := context.Cause(ctx); got != error(Stopped{syscall.SIGTERM}) {
		t.Errorf("got %#v", got)
	}
}

func TestTheFirstSignalCounts(t *testing.T) {
	s := catch(t)
	ctx := s.Context(t.Context())
	signalSelf(t, syscall.SIGINT)
	<-ctx.Done()
	signalSelf(t, syscall.SIGTERM)
	got, ok := s.release()
	s.resume()
	if !ok || got.Signal != syscall.SIGINT {
		t.Errorf("got %v %v", got, ok)
	}
}

func TestExitIsCalledWhenTheGateIsStuck(t *testing.T) {
	s := catch(t)
	exited := make(chan int, 1)
	s.Exit = func(code int) { exited <- code }
	s.Context(t.Context())
	start := time.Now()
	signalSelf(t, syscall.SIGTERM)
	if code := <-exited; code != 143 {
		t.Errorf("got the code %d", code)
	}
	if d := time.Since(start); d < grace {
		t.Errorf("the gate had %v to end by itself", d)
	}
}

// The signal may be with the kernel, the runtime, the channel or the watcher
// when release is called; wherever it is, it is returned.
func TestReleaseReturnsTheSignalThatHasCome(t *testing.T) {
	for i := range 500 {
		s := catch(t)
		if i%2 == 0 {
			s.Context(t.Context())
		}
		signalSelf(t, syscall.SIGTERM)
		got, ok := s.release()
		s.resume()
		signal.Stop(s.ch)
		if !ok || got.Signal != syscall.SIGTERM {
			t.Fatalf("in round %d got %v %v", i, got, ok)
		}
	}
}

func TestReleaseRestoresTheDefaults(t *testing.T) {
	s := catch(t)
	caught := caughtSignals(t)
	for _, sig := range s.caught {
		if !caught(sig) {
			t.Errorf("%v is not caught", sig)
		}
	}
	if _, ok := s.release(); ok {
		t.Error("got a signal that nobody sent")
	}
	caught = caughtSignals(t)
	s.resume()
	for _, sig := range s.caught {
		if caught(sig) {
			t.Errorf("after release %v is still caught", sig)
		}
	}
	ctx := s.Context(t.Context())
	signalSelf(t, syscall.SIGHUP)
	<-ctx.Done()
	if got := context.Cause(ctx); got != error(Stopped{syscall.SIGHUP}) {
		t.Errorf("after resume got %v", got)
	}
}

// caughtSignals asks the kernel which signals the process has handlers for.
func caughtSignals(t *testing.T) func(os.Signal) bool {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, mask, _ := bytes.Cut(status, []byte("SigCgt:\t"))
	mask, _, _ = bytes.Cut(mask, []byte("\n"))
	bits, err := strconv.ParseUint(string(mask), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return func(sig os.Signal) bool { return bits&(1<<(sig.(syscall.Signal)-1)) != 0 }
}

func TestNilSignalsCatchNothing(t *testing.T) {
	var s *Signals
	if ctx := s.Context(t.Context()); ctx != t.Context() {
		t.Error("got another context")
	}
	if _, ok := s.release(); ok {
		t.Error("got a signal")
	}
	s.resume()
}

func TestSignalNames(t *testing.T) {
	for sig, want := range map[syscall.Signal]string{
		syscall.SIGTERM: "TERM", syscall.SIGINT: "INT", syscall.SIGHUP: "HUP",
		syscall.SIGQUIT: "QUIT", syscall.SIGUSR1: "other",
	} {
		if got := signalName(sig); string(got) != want {
			t.Errorf("%v: got %s", sig, got)
		}
	}
}
