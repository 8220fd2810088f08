package gate

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"strings"
	"syscall"

	"github.com/startgate/startgate/envcheck"
)

// headSize is how much of a file execve reads to find out what it is.
const headSize = 256

// maxNesting is how many scripts may be one another's interpreter.
const maxNesting = 5

// inspect tells what execve makes of the bytes of path, which access has let
// through, and what may go wrong later. depth counts the scripts that have led
// to path.
func inspect(path, dirs string, depth int) (refusal, []envcheck.Reason) {
	f, err := openFile(path)
	if err == syscall.EACCES && depth == 0 {
		// execve needs no right to read. A script's interpreter does, but
		// without that right there is no telling whether this is one.
		return refusal{}, []envcheck.Reason{envcheck.ScriptNotReadable}
	}
	if err != nil {
		return refusal{}, nil
	}
	defer f.close()

	head := make([]byte, headSize)
	n, err := f.ReadAt(head, 0)
	switch {
	case err != nil && err != io.EOF:
		return refusal{}, nil
	case n == 0:
		return refusal{syscall.ENOEXEC, envcheck.EmptyFile}, nil
	case bytes.HasPrefix(head, []byte("#!")):
		return inspectScript(head, dirs, depth)
	case bytes.HasPrefix(head, []byte(elfMagic)):
		return inspectELF(f, path)
	}
	return secondOpinion(path, formatReason(head)), nil
}

// formatReason names what is neither a script nor an ELF file.
func formatReason(head []byte) envcheck.Reason {
	has := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case has("\xef\xbb\xbf#!"), has("\xff\xfe#\x00!\x00"), has("\xfe\xff\x00#\x00!"):
		return envcheck.BOMBeforeShebang
	case has("MZ"):
		return envcheck.WindowsExecutable
	case has("\xcf\xfa\xed\xfe"), has("\xce\xfa\xed\xfe"):
		return envcheck.MachO
	case has("\xca\xfe\xba\xbe\x00\x00\x00") && head[7] < 45:
		// For many processors. A Java class has its version there, 45 or more.
		return envcheck.MachO
	}
	return envcheck.NoShebang
}

// inspectScript follows the first line of a script to its interpreter.
func inspectScript(head []byte, dirs string, depth int) (refusal, []envcheck.Reason) {
	interpreter, arg, reason := parseShebang(head)
	if reason != "" {
		return refusal{syscall.ENOEXEC, reason}, nil
	}
	r := access(interpreter)
	switch {
	case interpreter == "":
		r = refusal{syscall.EACCES, envcheck.ShebangEmpty}
	case r.errno == syscall.ENOENT && strings.HasSuffix(interpreter, "\r"):
		r.reason = envcheck.ShebangCRLF
	case r.errno == syscall.ENOENT || r.errno == syscall.ENOTDIR:
		r.reason = envcheck.ShebangInterpreterAbsent
	case r.errno == syscall.EACCES:
		r.reason = envcheck.ShebangInterpreterDenied
	case r.errno == 0 && depth == maxNesting:
		r = refusal{syscall.ELOOP, envcheck.ShebangNested}
	}
	if r.errno != 0 {
		return r, nil
	}
	r, fragile := inspect(interpreter, dirs, depth+1)
	if r.errno != 0 {
		return r, nil
	}
	if strings.HasSuffix(arg, "\r") {
		return r, append(fragile, envcheck.ShebangCRLF)
	}
	if name := envProgram(interpreter, arg); name != "" {
		// What that program is made of is for env to find out: it may be the
		// very script that is looked at.
		if _, r := search(context.Background(), name, dirs, access); r.errno != 0 {
			fragile = append(fragile, envcheck.EnvInterpreterMissing)
		}
	}
	return r, fragile
}

// inspectELF looks at what a program needs to be loaded.
func inspectELF(f file, path string) (refusal, []envcheck.Reason) {
	image, r := readELF(f)
	switch {
	case image.arch != runtime.GOARCH:
		if r = secondOpinion(path, foreignReason(image.arch)); r.errno != syscall.ENOENT {
			return r, nil
		}
		// It is a 32-bit program of the kernel's own kind, without its loader.
	case r.errno != 0:
		return r, nil
	}
	var fragile []envcheck.Reason
	if image.end > uint64(f.size) {
		// execve maps what there is; the program dies when it gets to the rest.
		fragile = append(fragile, envcheck.Truncated)
	}
	if image.loader != "" {
		r = inspectLoader(image.loader, image.arch)
	}
	return r, fragile
}

// inspectLoader looks at the program that loads a dynamically linked one.
func inspectLoader(loader, arch string) refusal {
	switch r := access(loader); {
	case r.errno == syscall.EACCES:
		return refusal{r.errno, envcheck.LoaderDenied}
	case r.errno != 0:
		return refusal{r.errno, loaderReason(loader)}
	}
	f, err := openFile(loader)
	if err != nil {
		return refusal{}
	}
	defer f.close()
	image, _ := readELF(f)
	switch {
	case f.size < elf64.header:
		return refusal{syscall.EIO, envcheck.LoaderInvalid}
	case image.arch != arch:
		return refusal{syscall.ELIBBAD, envcheck.LoaderInvalid}
	}
	return refusal{}
}
