package gate

import (
	"runtime"
	"syscall"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

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
