package gate

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

// again marks a test that runs in a child of itself.
const again = "GATE_TEST_AGAIN"

// inChild runs the calling test once more in a process of other attributes.
// It returns true in the parent, which has nothing left to do.
func inChild(t *testing.T, attr *syscall.SysProcAttr) (done bool) {
	t.Helper()
	if os.Getenv(again) != "" {
		return false
	}
	cmd := exec.Command(publicCopy(t), "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), again+"=1")
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	switch {
	case strings.Contains(string(out), "--- SKIP"):
		t.Skip("skipped in the child")
	case err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Fatalf("failed in the child: %v", err)
	}
	return true
}

// asNobody runs the calling test as a user for whom permissions count.
func asNobody(t *testing.T) (done bool) {
	t.Helper()
	if os.Geteuid() != 0 {
		return false
	}
	return inChild(t, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}})
}

// publicCopy is a copy of the test binary that every user can run. Go keeps
// the original in a closed directory.
func publicCopy(t *testing.T) string {
	t.Helper()
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	path := filepath.Join(publicDir(t), "gate.test")
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, self); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

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

func TestPreflightAsAnotherUser(t *testing.T) {
	if asNobody(t) {
		return
	}
	root := t.TempDir()
	closed := mkdir(t, root, "closed")
	write(t, filepath.Join(closed, "worker"), "#!/bin/sh\n", 0o755)
	open := mkdir(t, root, "open")
	if err := os.Symlink("../closed/worker", filepath.Join(open, "worker")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(closed, 0o755) })

	for _, tt := range []struct {
		name, path, environ string
		reason              envcheck.Reason
	}{
		{"directory above", closed + "/worker", "", envcheck.ParentNotSearchable},
		{"link into it", open + "/worker", "", envcheck.ParentNotSearchable},
		{"link in PATH", "worker", "PATH=" + open, envcheck.ParentNotSearchable},
		{"directory in PATH", "worker", "PATH=/no/such/directory:" + closed, envcheck.PathNotSearchable},
		{"x for others", write(t, root+"/theirs", "#!/bin/sh\n", 0o611), "", envcheck.NotExecutable},
	} {
		_, _, fault := lookUp(t.Context(), tt.path, []string{tt.environ})
		if fault == nil || fault.Reason != tt.reason || fault.Code != envcheck.ExecDenied || fault.Exit != 126 {
			t.Errorf("%s: got %+v, want %s", tt.name, fault, tt.reason)
		}
		if errno := tryExec(tt.path); strings.Contains(tt.path, "/") && errno != syscall.EACCES {
			t.Errorf("%s: the kernel says %v", tt.name, errno)
		}
	}
	// As with execvp, a directory that may not be searched does not end the search.
	if path, _, fault := lookUp(t.Context(), "sh", []string{"PATH=" + closed + ":/bin"}); path != "/bin/sh" {
		t.Errorf("behind a closed directory: got %q %v", path, fault)
	}
}

// A program that may be executed and not read runs; what a script's
// interpreter makes of it is another matter.
func TestPreflightOfAFileThatCannotBeRead(t *testing.T) {
	if asNobody(t) {
		return
	}
	for name, file := range map[string]string{"program": elfFile{}.String(), "script": "#!/bin/sh\n"} {
		path := write(t, filepath.Join(t.TempDir(), name), file, 0o111)
		if errno := tryExec(path); errno != 0 {
			t.Errorf("%s: the kernel says %v", name, errno)
		}
		got, fragile := preflight(path, defaultPath)
		if got != (refusal{}) || !slices.Equal(fragile, []envcheck.Reason{envcheck.ScriptNotReadable}) {
			t.Errorf("%s: got %v %v", name, got, fragile)
		}
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
