package gate

import (
	"context"
	"os"
	"runtime"
	"strings"
	"syscall"

	"github.com/startgate/startgate/envcheck"
)

// defaultPath is searched when PATH is unset. It is what Docker and the
// distributions' images set, since libc's own default differs by libc.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// lookUp finds the file that execvp would run for name with environ's PATH,
// and tells beforehand what execve would say to it. [exec.LookPath] will not
// do: it takes a file without x for a missing one, and skips empty elements.
//
// When ctx ends meanwhile, path is empty and there is no fault.
func lookUp(ctx context.Context, name string, environ []string) (path string, warnings []envcheck.Diagnostic, fault *envcheck.Diagnostic) {
	if runtime.GOOS == "windows" {
		return "", nil, refusal{syscall.EINVAL, envcheck.NotSupported}.diagnostic()
	}
	// The other arguments are those that the gate was started with.
	if tooLarge([]string{name}, environ) {
		return "", nil, refusal{syscall.E2BIG, envcheck.TooLarge}.diagnostic()
	}
	dirs, ok := searchPath(environ)
	if !ok && !strings.Contains(name, "/") {
		warnings = append(warnings, envcheck.Diagnostic{Code: envcheck.PathUnset})
	}
	var fragile []envcheck.Reason
	path, r := search(ctx, name, dirs, func(file string) (r refusal) {
		r, fragile = preflight(file, dirs)
		return r
	})
	switch {
	case ctx.Err() != nil:
		return "", warnings, nil
	case r.errno != 0:
		return "", warnings, r.diagnostic()
	}
	for _, reason := range fragile {
		warnings = append(warnings, envcheck.Diagnostic{
			Code: envcheck.ExecFragile, Reason: reason, Fix: envcheck.ExecFix(reason),
		})
	}
	return path, warnings, nil
}

// searchPath returns the PATH that the worker will have: of an entry that
// stands twice the first counts. ok is whether it is set, which it is when
// empty: then it has one element, the working directory.
func searchPath(environ []string) (path string, ok bool) {
	for _, entry := range environ {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			return path, true
		}
	}
	return defaultPath, false
}

// search walks through path as execvp does: a file that is missing or denied
// is passed over for one in a later directory, any other refusal ends the
// search. When there is none, it returns the refusal that says most.
func search(ctx context.Context, name, path string, try func(file string) refusal) (string, refusal) {
	if strings.Contains(name, "/") {
		return name, try(name)
	}
	best := refusal{syscall.ENOENT, envcheck.NotInPath}
	if name == "" {
		return "", best
	}
	for dir := range strings.SplitSeq(path, ":") {
		if ctx.Err() != nil {
			break
		}
		file := name
		if dir != "" {
			file = dir + "/" + name
		}
		r := try(file)
		switch r.errno {
		case syscall.EACCES, syscall.ENOENT, syscall.ENOTDIR, syscall.ENODEV, syscall.ESTALE, syscall.ETIMEDOUT:
		default:
			return file, r
		}
		if r.reason == envcheck.ParentNotSearchable && !exists(file) {
			r.reason = envcheck.PathNotSearchable
		}
		if telling(r) > telling(best) {
			best = r
		}
	}
	return "", best
}

// exists reports whether there is something of that name, be it a link that
// leads nowhere.
func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// telling ranks what a search has met. A file that was found says more than a
// directory that could not be searched, which says more than an empty one.
func telling(r refusal) int {
	switch r.reason {
	case envcheck.NotInPath, envcheck.NoSuchFile, envcheck.NotADirectory:
		return 0
	case envcheck.PathNotSearchable:
		return 1
	}
	if r.errno != syscall.EACCES {
		return 2
	}
	return 3
}
