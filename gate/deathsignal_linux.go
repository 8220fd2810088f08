package gate

import (
	"syscall"
	"unsafe"
)

// DeathSignal reports whether the parent has asked for a signal at its death
// (PR_SET_PDEATHSIG in prctl(2)). It belongs to the process's first thread, and
// is lost when another one calls execve.
func DeathSignal() bool {
	const get = 2 // PR_GET_PDEATHSIG
	var signal int32
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, get, uintptr(unsafe.Pointer(&signal)), 0)
	return errno == 0 && signal != 0
}
