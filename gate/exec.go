package gate

import (
	"context"
	"errors"
	"runtime"
	"syscall"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// How long a file that is still open for writing is waited for: an image's
// layers are written, and volumes filled, up to the very start.
const (
	busyFor   = time.Second
	busyPause = 50 * time.Millisecond
)

// become replaces the process by the worker. argv[0] is the name as typed,
// path the file that look-up has found for it. It is to be called from the
// main goroutine, locked to the main thread: the signal that a parent wants
// sent at its death belongs to the thread that calls execve, and is lost with
// any other.
//
// It returns when it has failed: a [Stopped] when a signal has come, a fault
// when execve has refused. The signals are then caught as before.
func become(ctx context.Context, s *Signals, path string, argv, environ []string) (fault *envcheck.Diagnostic, err error) {
	for start := time.Now(); ; {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		stopped, ok := s.release()
		if !ok {
			err = execve(path, argv, environ)
		}
		s.resume()
		if ok {
			return nil, stopped
		}
		errno, _ := errors.AsType[syscall.Errno](err)
		if errno != syscall.ETXTBSY || time.Since(start) >= busyFor {
			return refused(errno, path, environ), nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(busyPause):
		}
	}
}

// execve is a function of its own, since no coverage is written behind it.
// syscall.Exec, unlike the bare call, gives the worker back the limit of open
// files that the gate was started with.
func execve(path string, argv, environ []string) error {
	return syscall.Exec(path, argv, environ)
}

// refused tells why execve has failed.
func refused(errno syscall.Errno, path string, environ []string) *envcheck.Diagnostic {
	if runtime.GOOS == "windows" {
		return refusal{errno, envcheck.NotSupported}.diagnostic()
	}
	dirs, _ := searchPath(environ)
	return execFault(errno, path, dirs)
}
