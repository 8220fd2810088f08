package envcheck

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	// maxSecretFile bounds a secret's file.
	maxSecretFile = 128 << 10
	// maxEnvString is the length of NAME=VALUE that execve refuses
	// (MAX_ARG_STRLEN less the NUL at its end).
	maxEnvString = 128 << 10
)

// readSecret reads a secret's file and drops the line breaks at its end, as
// the entrypoints of Docker's official images do. It says in a reason why it
// cannot: an error's text has the path, and the path can be a secret that was
// put there by mistake.
func readSecret(path string) (string, Reason) {
	if !filepath.IsAbs(path) {
		return "", PathNotAbsolute
	}
	info, err := os.Stat(path) // before opening: a FIFO would block
	if err == nil {
		switch {
		case info.IsDir():
			return "", IsDirectory
		case !info.Mode().IsRegular():
			return "", NotRegular
		case info.Size() > maxSecretFile:
			return "", TooLarge
		}
	}
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "", NotFound
	case errors.Is(err, fs.ErrPermission):
		return "", PermissionDenied
	case err != nil:
		return "", IOError
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	switch {
	case err != nil:
		return "", IOError
	case len(b) > maxSecretFile:
		return "", TooLarge
	}
	return strings.TrimRight(string(b), "\n"), ""
}
