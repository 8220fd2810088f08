package gate

import (
	"io"
	"os"
	"syscall"

	"github.com/startgate/startgate/envcheck"
)

// Constants of the kernel that package syscall lacks.
const (
	atFDCWD   = -100
	atEACCESS = 0x200 // the effective user counts, as for execve
	xOK       = 1
	stNoexec  = 8
)

// permission tells whether path, a regular file, may be executed.
func permission(path string, _ os.FileInfo) refusal {
	var fs syscall.Statfs_t
	if syscall.Statfs(path, &fs) == nil && fs.Flags&stNoexec != 0 {
		return refusal{syscall.EACCES, envcheck.NoexecMount}
	}
	if syscall.Faccessat(atFDCWD, path, xOK, atEACCESS) == syscall.EACCES {
		return refusal{syscall.EACCES, envcheck.NotExecutable}
	}
	return refusal{}
}

// secondOpinion is reason when the kernel, too, finds that path has no format
// that it knows. An emulator may be registered for it, or the kernel may run
// 32-bit programs: neither shows inside a container.
func secondOpinion(path string, reason envcheck.Reason) refusal {
	switch errno := tryExec(path); errno {
	case 0:
		return refusal{}
	case syscall.ENOEXEC:
		return refusal{errno, reason}
	default:
		return refusal{errno, errnoReason(errno)}
	}
}

// tryExec has the kernel load path into a child that is traced, and so stops
// before its first instruction and is killed there. When the kernel cannot be
// asked, the answer is ENOEXEC: only files that look wrong come here.
func tryExec(path string) syscall.Errno {
	pid, err := syscall.ForkExec(path, []string{path}, &syscall.ProcAttr{
		// A tracer's death would set the child free.
		Sys: &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL},
	})
	switch errno, _ := err.(syscall.Errno); {
	case err == nil:
	case errno == syscall.EPERM, errno == syscall.ENOSYS, errno == syscall.EAGAIN:
		return syscall.ENOEXEC // no right to trace, or to fork
	default:
		return errno
	}
	var status syscall.WaitStatus
	wait(pid, &status)
	if !status.Stopped() || status.StopSignal() != syscall.SIGTRAP {
		// A filter killed it for the ptrace; it is gone already.
		if status.Stopped() {
			syscall.Kill(pid, syscall.SIGKILL)
			wait(pid, &status)
		}
		return syscall.ENOEXEC
	}
	syscall.Kill(pid, syscall.SIGKILL)
	wait(pid, &status)
	return 0
}

func wait(pid int, status *syscall.WaitStatus) {
	for {
		if _, err := syscall.Wait4(pid, status, 0, nil); err != syscall.EINTR {
			return
		}
	}
}

// tooLarge reports whether execve would answer E2BIG. It mirrors what the
// kernel does in bprm_stack_limits and valid_arg_len.
func tooLarge(argv, environ []string) bool {
	const (
		most    = 6 << 20   // three quarters of the usual stack
		least   = 128 << 10 // as before Linux 2.6.23
		pointer = 4 << (^uintptr(0) >> 63)
	)
	room := uint64(most)
	var stack syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_STACK, &stack) == nil {
		room = max(min(room, stack.Cur/4), least)
	}
	longest := 32 * os.Getpagesize()
	size := uint64(len(argv)+len(environ)) * pointer
	for _, list := range [...][]string{argv, environ} {
		for _, s := range list {
			if len(s)+1 > longest {
				return true
			}
			size += uint64(len(s)) + 1
		}
	}
	return size > room
}

// file is a regular file that is read at offsets. [os.File] would set up the
// poller for it.
type file struct {
	fd   int
	size int64
}

// openFile opens path without ever waiting for anything.
func openFile(path string) (file, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return file{}, err
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		syscall.Close(fd)
		return file{}, err
	}
	return file{fd, st.Size}, nil
}

func (f file) close() { syscall.Close(f.fd) }

// ReadAt implements [io.ReaderAt].
func (f file) ReadAt(b []byte, off int64) (n int, err error) {
	for n < len(b) {
		m, err := syscall.Pread(f.fd, b[n:], off+int64(n))
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return n, err
		case m == 0:
			return n, io.EOF
		default:
			n += m
		}
	}
	return n, nil
}
