package gate

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

// need skips a test that the machine does not allow. In CI that is a failure:
// a green build must mean that it ran.
func need(t *testing.T, what string, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") != "":
		t.Fatalf("%s: %v", what, err)
	default:
		t.Skipf("%s: %v", what, err)
	}
}

// unshared is a process with mounts of its own.
func unshared(flags uintptr) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: flags | syscall.CLONE_NEWNS}
	if flags&syscall.CLONE_NEWUSER != 0 {
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return attr
}

func TestPreflightOnANoexecMount(t *testing.T) {
	var flags uintptr
	if os.Geteuid() != 0 {
		flags = syscall.CLONE_NEWUSER
	}
	if inChild(t, unshared(flags)) {
		return
	}
	dir := t.TempDir()
	need(t, "making mounts private", syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	need(t, "mounting a tmpfs", syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_NOEXEC, ""))
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })

	path := write(t, filepath.Join(dir, "worker"), "#!/bin/sh\n", 0o755)
	loader := write(t, filepath.Join(dir, "ld"), elfFile{}.String(), 0o755)
	for file, want := range map[string]envcheck.Reason{
		path:                        envcheck.NoexecMount,
		makeFile(t, "#!"+path+"\n"): envcheck.ShebangInterpreterDenied,
		makeFile(t, elfFile{interp: loader + "\x00"}.String()): envcheck.LoaderDenied,
	} {
		if got, _ := preflight(file, ""); got != (refusal{syscall.EACCES, want}) || tryExec(file) != syscall.EACCES {
			t.Errorf("got %v, want %s; the kernel says %v", got, want, tryExec(file))
		}
	}
}

// An image for another platform runs where an emulator is registered, as in
// Docker Desktop. A gate that refused it would be wrong.
func TestPreflightLeavesEmulatedFormatsToTheKernel(t *testing.T) {
	// The registry of a user namespace is its own.
	if inChild(t, unshared(syscall.CLONE_NEWUSER)) {
		return
	}
	dir := t.TempDir()
	need(t, "mounting binfmt_misc (Linux 6.7)", syscall.Mount("binfmt_misc", dir, "binfmt_misc", 0, ""))
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })

	foreign := makeFile(t, elfFile{arch: "s390x"}.String())
	text := makeFile(t, "echo hello\n")
	if got, _ := preflight(foreign, ""); got != (refusal{syscall.ENOEXEC, envcheck.WrongArchS390X}) {
		t.Errorf("without an emulator got %v", got)
	}
	write(t, filepath.Join(dir, "register"), `:s390x:M:18:\x00\x16::/bin/true:`, 0o200)
	write(t, filepath.Join(dir, "register"), `:text:M::echo::/bin/true:`, 0o200)
	for _, path := range []string{foreign, text} {
		if got, _ := preflight(path, ""); got != (refusal{}) {
			t.Errorf("with an emulator got %v", got)
		}
	}
}
