package gate

import (
	"os"
	"syscall"
	"unsafe"
)

// sigaction is the kernel's struct sigaction, with room to spare. Its zero
// value is SIG_DFL.
type sigaction [64]byte

// dispositions are those that the Go runtime had set, in the order of the
// caught signals.
type dispositions []sigaction

// reset sets signals to SIG_DFL.
//
// [signal.Stop] leaves the runtime's handlers in place. A handler that runs
// on another thread when execve ends that thread takes its signal along: some
// signals in a hundred were lost so. With SIG_DFL no new handler starts, and
// the barrier is there for those that have: handlers run with all signals
// blocked, so that a thread takes part in it only after its handler. With cgo
// there is no barrier.
func (d *dispositions) reset(signals []os.Signal) {
	*d = make([]sigaction, len(signals))
	for i, sig := range signals {
		setAction(sig, &sigaction{}, &(*d)[i])
	}
	syscall.AllThreadsSyscall(syscall.SYS_GETPID, 0, 0, 0)
}

// restore undoes reset. [signal.Notify] would not: the runtime believes that
// its handlers are still there.
func (d *dispositions) restore(signals []os.Signal) {
	for i, sig := range signals {
		setAction(sig, &(*d)[i], nil)
	}
}

func setAction(sig os.Signal, action, old *sigaction) {
	const maskSize = 8
	if n, ok := sig.(syscall.Signal); ok {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(n),
			uintptr(unsafe.Pointer(action)), uintptr(unsafe.Pointer(old)), maskSize, 0, 0)
	}
}
