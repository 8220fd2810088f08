package gate

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
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

// makeFile makes an executable file in a directory that also has a directory
// x and a file.
func makeFile(t *testing.T, file any) string {
	t.Helper()
	dir := t.TempDir()
	mkdir(t, dir, "x")
	write(t, filepath.Join(dir, "file"), "", 0o755)
	switch file := file.(type) {
	case string:
		return write(t, filepath.Join(dir, "worker"), file, 0o755)
	case func(*testing.T, string) string:
		return file(t, dir)
	}
	t.Fatalf("%T", file)
	return ""
}

func at(name string) func(*testing.T, string) string {
	return func(_ *testing.T, dir string) string { return dir + "/" + name }
}

func link(target string) func(*testing.T, string) string {
	return func(t *testing.T, dir string) string {
		path := filepath.Join(dir, "worker")
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

func makeFIFO(t *testing.T, dir string) string {
	path := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func plainFile(t *testing.T, dir string) string {
	return write(t, filepath.Join(dir, "plain"), "#!/bin/sh\n", 0o644)
}

// scriptChain is a file and n scripts that name one another.
func scriptChain(n int, file string) func(*testing.T, string) string {
	return func(t *testing.T, dir string) string {
		path := "/bin/true"
		if file != "" {
			path = write(t, filepath.Join(dir, "end"), file, 0o755)
		}
		for i := range n {
			path = write(t, filepath.Join(dir, strconv.Itoa(i)), "#!"+path+"\n", 0o755)
		}
		return path
	}
}

func scriptLoop(t *testing.T, dir string) string {
	path := filepath.Join(dir, "worker")
	return write(t, path, "#!"+path+"\n", 0o755)
}

func withLoader(content string) func(*testing.T, string) string {
	return func(t *testing.T, dir string) string {
		loader := write(t, filepath.Join(dir, "ld"), content, 0o755)
		return write(t, filepath.Join(dir, "worker"), elfFile{interp: loader + "\x00"}.String(), 0o755)
	}
}

func TestPreflightNamesTheArchitecture(t *testing.T) {
	want := map[string]envcheck.Reason{
		"amd64": envcheck.WrongArchAMD64, "arm64": envcheck.WrongArchARM64,
		"386": envcheck.WrongArch386, "arm": envcheck.WrongArchARM,
		"ppc64": envcheck.WrongArchPPC64, "ppc64le": envcheck.WrongArchPPC64LE,
		"s390x": envcheck.WrongArchS390X, "riscv64": envcheck.WrongArchRISCV64,
		"loong64": envcheck.WrongArchLoong64,
		"mips":    envcheck.WrongArchMIPS, "mipsle": envcheck.WrongArchMIPS,
		"mips64": envcheck.WrongArchMIPS, "mips64le": envcheck.WrongArchMIPS,
	}
	for _, a := range architectures {
		if got := foreignReason(a.arch); got != want[a.arch] {
			t.Errorf("%s: got the reason %q, want %q", a.arch, got, want[a.arch])
		}
		path := makeFile(t, elfFile{arch: a.arch}.String())
		errno := tryExec(path)
		var expected refusal
		if errno != 0 {
			expected = refusal{errno, want[a.arch]}
		}
		if got, _ := preflight(path, ""); got != expected {
			t.Errorf("%s: got %v, want %v", a.arch, got, expected)
		}
		if runs := errno == 0; a.arch == runtime.GOARCH && !runs {
			t.Errorf("%s: the kernel says %v", a.arch, errno)
		}
	}
}

func TestPreflightFindsA32BitProgramsLoaderMissing(t *testing.T) {
	arch := map[string]string{"amd64": "386", "arm64": "arm"}[runtime.GOARCH]
	path := makeFile(t, elfFile{arch: arch, interp: "/no/lib/ld-linux.so.2\x00"}.String())
	want := refusal{syscall.ENOENT, envcheck.LoaderMissingGlibc}
	if tryExec(path) == syscall.ENOEXEC { // a kernel that runs no 32-bit programs
		want = refusal{syscall.ENOEXEC, foreignReason(arch)}
	}
	if got, _ := preflight(path, ""); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
