package gate

import (
	"errors"
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
		need(t, "the child", errors.New("skipped"))
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
