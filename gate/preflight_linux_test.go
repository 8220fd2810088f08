package gate

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// unfit are files that execve refuses. Each is also shown to the kernel, whose
// word counts.
var unfit = []struct {
	name   string
	file   any // its bytes, or what makes it and returns its path
	errno  syscall.Errno
	reason envcheck.Reason
}{
	{"absent", at("x/../absent"), syscall.ENOENT, envcheck.NoSuchFile},
	{"below a file", at("file/worker"), syscall.ENOTDIR, envcheck.NotADirectory},
	{"long name", at(strings.Repeat("n", 256)), syscall.ENAMETOOLONG, envcheck.NameTooLong},
	{"link to nothing", link("nothing"), syscall.ENOENT, envcheck.DanglingSymlink},
	{"link to itself", link("worker"), syscall.ELOOP, envcheck.SymlinkLoop},
	{"directory", link("x"), syscall.EACCES, envcheck.IsDirectory},
	{"fifo", makeFIFO, syscall.EACCES, envcheck.NotRegular},
	{"no x bit", plainFile, syscall.EACCES, envcheck.NotExecutable},

	{"empty", "", syscall.ENOEXEC, envcheck.EmptyFile},
	{"text", "echo hello\n", syscall.ENOEXEC, envcheck.NoShebang},
	{"blank before shebang", "\n#!/bin/sh\n", syscall.ENOEXEC, envcheck.NoShebang},
	{"java class", "\xca\xfe\xba\xbe\x00\x00\x00\x41", syscall.ENOEXEC, envcheck.NoShebang},
	{"bom", "\xef\xbb\xbf#!/bin/sh\n", syscall.ENOEXEC, envcheck.BOMBeforeShebang},
	{"utf-16 little endian", "\xff\xfe#\x00!\x00/\x00", syscall.ENOEXEC, envcheck.BOMBeforeShebang},
	{"utf-16 big endian", "\xfe\xff\x00#\x00!\x00/", syscall.ENOEXEC, envcheck.BOMBeforeShebang},
	{"mac", "\xcf\xfa\xed\xfe\x0c\x00\x00\x01", syscall.ENOEXEC, envcheck.MachO},
	{"mac 32", "\xce\xfa\xed\xfe\x07\x00\x00\x00", syscall.ENOEXEC, envcheck.MachO},
	{"mac universal", "\xca\xfe\xba\xbe\x00\x00\x00\x02", syscall.ENOEXEC, envcheck.MachO},
	{"windows", "MZ\x90\x00", syscall.ENOEXEC, envcheck.WindowsExecutable},

	{"crlf", "#!/bin/sh\r\n", syscall.ENOENT, envcheck.ShebangCRLF},
	{"only crlf", "#!\r\n", syscall.ENOENT, envcheck.ShebangCRLF},
	{"no interpreter", "#! \t\nx", syscall.ENOEXEC, envcheck.ShebangEmpty},
	{"no interpreter, no line end", "#! ", syscall.EACCES, envcheck.ShebangEmpty},
	{"interpreter without a name", "#! \x00\n", syscall.EACCES, envcheck.ShebangEmpty},
	{"long interpreter", "#!/" + strings.Repeat("x", 300) + "\n", syscall.ENOEXEC, envcheck.ShebangTooLong},
	{"interpreter absent", "#!/no/such/interpreter -x\n", syscall.ENOENT, envcheck.ShebangInterpreterAbsent},
	{"interpreter below a file", "#!/bin/sh/x\n", syscall.ENOTDIR, envcheck.ShebangInterpreterAbsent},
	{"interpreter is a directory", "#!/bin/\n", syscall.EACCES, envcheck.ShebangInterpreterDenied},
	{"interpreter without x", "#!/etc/passwd\n", syscall.EACCES, envcheck.ShebangInterpreterDenied},
	{"interpreter without format", scriptChain(1, "echo hello\n"), syscall.ENOEXEC, envcheck.NoShebang},
	{"six scripts", scriptChain(6, ""), syscall.ELOOP, envcheck.ShebangNested},
	{"its own interpreter", scriptLoop, syscall.ELOOP, envcheck.ShebangNested},

	{"glibc", elfFile{interp: "/no/lib64/ld-linux-x86-64.so.2\x00"}.String(), syscall.ENOENT, envcheck.LoaderMissingGlibc},
	{"glibc of ppc64le", elfFile{interp: "/no/lib64/ld64.so.2\x00"}.String(), syscall.ENOENT, envcheck.LoaderMissingGlibc},
	{"musl", elfFile{interp: "/no/lib/ld-musl-x86_64.so.1\x00"}.String(), syscall.ENOENT, envcheck.LoaderMissingMusl},
	{"other libc", elfFile{interp: "/no/system/bin/linker64\x00"}.String(), syscall.ENOENT, envcheck.LoaderMissing},
	{"loader without x", elfFile{interp: "/etc/passwd\x00"}.String(), syscall.EACCES, envcheck.LoaderDenied},
	{"loader too short", withLoader("short"), syscall.EIO, envcheck.LoaderInvalid},
	{"loader is text", withLoader(strings.Repeat("text", 64)), syscall.ELIBBAD, envcheck.LoaderInvalid},
	{"loader of another machine", withLoader(elfFile{arch: "s390x"}.String()), syscall.ELIBBAD, envcheck.LoaderInvalid},
	{"loader without end", elfFile{interp: "/lib"}.String(), syscall.ENOEXEC, envcheck.FormatUnknown},
	{"strange segments", elfFile{entry: 57}.String(), syscall.ENOEXEC, envcheck.FormatUnknown},
	{"object file", elfFile{kind: 1}.String(), syscall.ENOEXEC, envcheck.NotAProgram},
	{"half a header", elfFile{}.String()[:40], syscall.ENOEXEC, envcheck.Truncated},
	{"header only", elfFile{}.String()[:64], syscall.ENOEXEC, envcheck.Truncated},
	{"half a loader's path", elfFile{interp: "/lib64/ld\x00"}.String()[:64+2*56+4], syscall.EIO, envcheck.Truncated},

	{"vax", elfFile{machine: 75}.String(), syscall.ENOEXEC, envcheck.WrongArchOther},
}

func TestPreflightNamesWhatExecveRefuses(t *testing.T) {
	for _, tt := range unfit {
		t.Run(tt.name, func(t *testing.T) {
			path := makeFile(t, tt.file)
			if got := tryExec(path); got != tt.errno {
				t.Fatalf("the kernel says %v, want %v", got, tt.errno)
			}
			got, fragile := preflight(path, defaultPath)
			if want := (refusal{tt.errno, tt.reason}); got != want || fragile != nil {
				t.Errorf("got %v %v, want %v", got, fragile, want)
			}
			code, exit := envcheck.ExecDenied, ExitNotExecutable
			if tt.errno == syscall.ENOENT || tt.errno == syscall.ENOTDIR || tt.errno == syscall.ENAMETOOLONG {
				code, exit = envcheck.ExecNotFound, ExitNotFound
			}
			_, _, fault := lookUp(t.Context(), path, nil)
			if fault == nil || fault.Code != code || fault.Exit != exit || fault.Reason != tt.reason {
				t.Errorf("got the fault %+v, want %s, exit %d", fault, code, exit)
			}
			if fault := execFault(tt.errno, path, ""); fault.Reason != tt.reason || fault.Exit != exit {
				t.Errorf("after execve got the fault %+v", fault)
			}
			atOnce(t, func() { preflight(path, defaultPath) })
		})
	}
}

// atOnce fails when f takes long. Of three times the least counts, since the
// machine may be busy.
func atOnce(t *testing.T, f func()) {
	t.Helper()
	least := time.Hour
	for range 3 {
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	if least > 50*time.Millisecond {
		t.Errorf("took %v", least)
	}
}
