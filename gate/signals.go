package gate

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// grace is how long the gate has to end in an orderly way after a signal. It
// may be stuck in a write to a full pipe, or in a look-up that cannot be
// cancelled; with it, the gate is gone within 50 ms in every phase.
const grace = 35 * time.Millisecond

// Stopped is the cause of a context that a signal has ended.
type Stopped struct{ Signal syscall.Signal }

func (s Stopped) Error() string { return "stopped by a signal" }

// ExitCode is what a shell, Docker and Kubernetes show for a process that the
// signal has ended.
func (s Stopped) ExitCode() int { return 128 + int(s.Signal) }

// signalName is the closed fact that a line of output has for a signal.
func signalName(s syscall.Signal) envcheck.Word {
	switch s {
	case syscall.SIGTERM:
		return "TERM"
	case syscall.SIGINT:
		return "INT"
	case syscall.SIGHUP:
		return "HUP"
	case syscall.SIGQUIT:
		return "QUIT"
	}
	return "other"
}

// Signals are the signals that end the gate. They are caught from
// [CatchSignals] on until the worker takes over, and none that comes in
// between is lost. A nil *Signals catches nothing.
type Signals struct {
	// Exit ends the process when it has not ended by itself for some time
	// after a signal. A command sets it to [os.Exit], and before Context is
	// called; nil means never.
	Exit func(code int)

	caught []os.Signal
	ch     chan os.Signal
	drains chan chan struct{} // asks the watcher to empty ch; nil without one
	first  syscall.Signal     // the watcher's, until it has answered
	saved  dispositions
}

// CatchSignals begins to catch TERM, INT, HUP and QUIT. It is to be the first
// statement of main: as PID 1, a Go program that has not asked for a signal
// exits with 2 when one comes. What the parent had ignored, as nohup does,
// stays ignored, for the worker too.
func CatchSignals() *Signals {
	s := &Signals{ch: make(chan os.Signal, 8)} // more than there are kinds
	for _, sig := range [...]os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(sig) {
			s.caught = append(s.caught, sig)
		}
	}
	s.notify()
	if !signal.Ignored(syscall.SIGPIPE) {
		// Where nobody reads the gate's lines the worker starts all the same.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
	return s
}

// notify does nothing for an empty list, which to [signal.Notify] would mean
// all signals.
func (s *Signals) notify() {
	if len(s.caught) > 0 {
		signal.Notify(s.ch, s.caught...)
	}
}

// Context returns a context that the first signal ends, with [Stopped] as its
// cause. It is to be called once. A signal that has come before counts.
func (s *Signals) Context(parent context.Context) context.Context {
	if s == nil {
		return parent
	}
	ctx, cancel := context.WithCancelCause(parent)
	s.drains = make(chan chan struct{})
	go s.watch(cancel)
	return ctx
}

// watch is the only one to receive from ch, so that what is not in ch any more
// has been acted upon.
func (s *Signals) watch(cancel context.CancelCauseFunc) {
	for {
		select {
		case sig := <-s.ch:
			s.stop(sig, cancel)
		case done := <-s.drains:
			for len(s.ch) > 0 {
				s.stop(<-s.ch, cancel)
			}
			close(done)
		}
	}
}

// stop ends the gate for its first signal.
func (s *Signals) stop(sig os.Signal, cancel context.CancelCauseFunc) {
	n, ok := sig.(syscall.Signal)
	if !ok || s.first != 0 {
		return
	}
	s.first = n
	cancel(Stopped{n})
	if s.Exit != nil {
		time.AfterFunc(grace, func() { s.Exit(Stopped{n}.ExitCode()) })
	}
}

// release gives the signals back to the kernel, whose default is to end the
// process. A signal that comes from then on ends it; one that has come before
// is returned.
func (s *Signals) release() (stopped Stopped, ok bool) {
	if s == nil {
		return Stopped{}, false
	}
	signal.Stop(s.ch)
	s.saved.reset(s.caught)
	if s.drains == nil {
		for len(s.ch) > 0 && s.first == 0 {
			s.first, _ = (<-s.ch).(syscall.Signal)
		}
	} else {
		done := make(chan struct{})
		s.drains <- done
		<-done
	}
	return Stopped{s.first}, s.first != 0
}

// resume catches the signals again after a release that led to nothing.
func (s *Signals) resume() {
	if s == nil {
		return
	}
	s.notify()
	s.saved.restore(s.caught)
}
