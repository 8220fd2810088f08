package gate

import (
	"errors"
	"os"
	"syscall"

	"github.com/startgate/startgate/envcheck"
)

// refusal is what execve answers for a file, and why. The zero refusal is
// that it runs.
type refusal struct {
	errno  syscall.Errno
	reason envcheck.Reason
}

// diagnostic puts a refusal under the two codes of POSIX: the worker is not
// there, or it is and cannot be executed.
func (r refusal) diagnostic() *envcheck.Diagnostic {
	d := envcheck.Diagnostic{
		Code: envcheck.ExecDenied, Exit: ExitNotExecutable,
		Reason: r.reason, Fix: envcheck.ExecFix(r.reason),
	}
	switch r.errno {
	case syscall.ENOENT, syscall.ENOTDIR, syscall.ENAMETOOLONG:
		d.Code, d.Exit = envcheck.ExecNotFound, ExitNotFound
	case syscall.E2BIG:
		d.Code = envcheck.ExecTooLarge
	}
	return &d
}

// preflight tells without running path what execve would answer, and why it
// may fail later where execve takes it. path's script may name its interpreter
// to env, which looks it up in dirs.
func preflight(path, dirs string) (refusal, []envcheck.Reason) {
	if r := access(path); r.errno != 0 {
		return r, nil
	}
	return inspect(path, dirs, 0)
}

// access tells whether path is a file that may be executed. It opens nothing,
// so that no FIFO or device can hold it up.
func access(path string) refusal {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return unreachable(path, err)
	case info.IsDir():
		return refusal{syscall.EACCES, envcheck.IsDirectory}
	case !info.Mode().IsRegular():
		return refusal{syscall.EACCES, envcheck.NotRegular}
	}
	return permission(path, info)
}

// unreachable narrows down why path cannot even be looked at.
func unreachable(path string, err error) refusal {
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		errno = syscall.EINVAL
	}
	switch {
	case errno == syscall.EACCES:
		return refusal{errno, envcheck.ParentNotSearchable}
	case errno == syscall.ENOENT && exists(path):
		return refusal{errno, envcheck.DanglingSymlink}
	}
	return refusal{errno, errnoReason(errno)}
}

// execFault is the diagnostic for an execve that has failed. The file may have
// changed since the preflight, or the kernel may have reasons that cannot be
// seen from outside; then the error number is all there is.
func execFault(errno syscall.Errno, path, dirs string) *envcheck.Diagnostic {
	r, _ := preflight(path, dirs)
	if r.errno != errno {
		r = refusal{errno, errnoReason(errno)}
	}
	return r.diagnostic()
}

// errnoReason is the reason that an error number gives by itself.
func errnoReason(errno syscall.Errno) envcheck.Reason {
	switch errno {
	case syscall.ENOENT:
		return envcheck.NoSuchFile
	case syscall.ENOTDIR:
		return envcheck.NotADirectory
	case syscall.ENAMETOOLONG:
		return envcheck.NameTooLong
	case syscall.ELOOP:
		return envcheck.SymlinkLoop
	case syscall.EACCES:
		return envcheck.PermissionDenied
	case syscall.EPERM:
		return envcheck.NotPermitted
	case syscall.ENOEXEC:
		return envcheck.FormatUnknown
	case syscall.ETXTBSY:
		return envcheck.Busy
	case syscall.E2BIG:
		return envcheck.TooLarge
	case syscall.EIO:
		return envcheck.IOError
	case syscall.ENOMEM:
		return envcheck.OutOfMemory
	case syscall.EMFILE, syscall.ENFILE:
		return envcheck.FileLimit
	case syscall.EAGAIN:
		return envcheck.ProcessLimit
	}
	return envcheck.ExecFailed
}
