package gate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

// pathDirs are directories of a PATH with a file worker in most of them.
func pathDirs(t *testing.T) (root string) {
	t.Helper()
	root = publicDir(t)
	for dir, file := range map[string]string{
		"good":   "#!/bin/sh\n",
		"other":  "#!/bin/true\n",
		"lost":   "#!/no/such/interpreter\n",
		"text":   "echo hello\n",
		"plain":  "#!/bin/sh\n",
		"empty":  "",
		"folder": "",
	} {
		switch path := filepath.Join(mkdir(t, root, dir), "worker"); dir {
		case "empty":
		case "folder":
			mkdir(t, path)
		case "plain":
			write(t, path, file, 0o644)
		default:
			write(t, path, file, 0o755)
		}
	}
	return root
}

func TestLookUpSearchesAsExecvpDoes(t *testing.T) {
	root := pathDirs(t)
	t.Chdir(filepath.Join(root, "other"))
	for _, tt := range []struct {
		name, path, want string
		reason           envcheck.Reason
		exit             int
	}{
		{"worker", "good:other", "good/worker", "", 0},
		{"worker", "empty:/no/such/directory:good", "good/worker", "", 0},
		{"worker", "plain:good", "good/worker", "", 0},
		{"worker", "folder:good", "good/worker", "", 0},
		{"worker", "lost:good", "good/worker", "", 0},
		{"worker", "good/worker:good", "good/worker", "", 0}, // an element that is a file
		{"worker", "text:good", "", envcheck.NoShebang, 126},
		{"worker", "empty", "", envcheck.NotInPath, 127},
		{"worker", "good/worker", "", envcheck.NotInPath, 127},
		{"worker", "lost:empty", "", envcheck.ShebangInterpreterAbsent, 127},
		{"worker", "plain:empty", "", envcheck.NotExecutable, 126},
		{"worker", "empty:folder", "", envcheck.IsDirectory, 126},
		{"worker", "lost:plain:folder", "", envcheck.NotExecutable, 126},
		{"", "good", "", envcheck.NotInPath, 127},
		{root + "/good/worker", "empty", "good/worker", "", 0},
		{"../good/worker", "empty", "../good/worker", "", 0},
		{"./absent", "good", "", envcheck.NoSuchFile, 127},
	} {
		var dirs []string
		for dir := range strings.SplitSeq(tt.path, ":") {
			dirs = append(dirs, filepath.Join(root, dir))
		}
		path, warnings, fault := lookUp(t.Context(), tt.name, []string{"PATH=" + strings.Join(dirs, ":")})
		if got := strings.TrimPrefix(path, root+"/"); got != tt.want || len(warnings) > 0 {
			t.Errorf("%s in %s: got %q %v, want %q", tt.name, tt.path, got, warnings, tt.want)
		}
		var reason envcheck.Reason
		exit := 0
		if fault != nil {
			reason, exit = fault.Reason, fault.Exit
		}
		if reason != tt.reason || exit != tt.exit {
			t.Errorf("%s in %s: got the fault %q, exit %d, want %q, exit %d", tt.name, tt.path, reason, exit, tt.reason, tt.exit)
		}
	}
}

func TestLookUpTakesAnEmptyElementForTheWorkingDirectory(t *testing.T) {
	root := pathDirs(t)
	t.Chdir(filepath.Join(root, "good"))
	for _, path := range []string{"", ":/bin", "/no/such/directory::/bin", "/no/such/directory:"} {
		if got, _, fault := lookUp(t.Context(), "worker", []string{"PATH=" + path}); got != "worker" {
			t.Errorf("PATH=%s: got %q %v, want worker", path, got, fault)
		}
	}
}

func TestLookUpGoesByTheChildsFirstPath(t *testing.T) {
	root := pathDirs(t)
	t.Setenv("PATH", root+"/other")
	environ := []string{"XPATH=/x", "PATH=" + root + "/good", "PATH=" + root + "/other"}
	if got, _, _ := lookUp(t.Context(), "worker", environ); got != root+"/good/worker" {
		t.Errorf("got %q", got)
	}
}

func TestLookUpWithoutPath(t *testing.T) {
	path, warnings, fault := lookUp(t.Context(), "sh", []string{"HOME=/"})
	if filepath.Base(path) != "sh" || fault != nil {
		t.Errorf("got %q %v", path, fault)
	}
	if len(warnings) != 1 || warnings[0].Code != envcheck.PathUnset {
		t.Errorf("got the warnings %v", warnings)
	}
	if _, warnings, _ := lookUp(t.Context(), "/bin/sh", nil); len(warnings) > 0 {
		t.Errorf("for a path got the warnings %v", warnings)
	}
}

// What a file that was passed over would have warned about is of no interest.
func TestLookUpWarnsAboutTheFileThatItFinds(t *testing.T) {
	root := pathDirs(t)
	write(t, root+"/plain/worker", "#!/usr/bin/env no-such-program\n", 0o644)
	write(t, root+"/good/worker", "#!/bin/sh -e\r\n", 0o755)
	_, warnings, _ := lookUp(t.Context(), "worker", []string{"PATH=" + root + "/plain:" + root + "/good"})
	if len(warnings) != 1 || warnings[0].Reason != envcheck.ShebangCRLF {
		t.Errorf("got %v", warnings)
	}
}

func TestLookUpEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if path, _, fault := lookUp(ctx, "no-such-program", nil); path != "" || fault != nil {
		t.Errorf("got %q %v", path, fault)
	}
}

func TestLookUpFindsWhatIsTooLarge(t *testing.T) {
	most := 32*os.Getpagesize() - 1 // and a NUL
	for _, tt := range []struct {
		size, count int
		large       bool
	}{{most, 1, false}, {most + 1, 1, true}, {100_000, 15, false}, {100_000, 70, true}} {
		environ := make([]string, tt.count)
		for i := range environ {
			environ[i] = "X=" + strings.Repeat("x", tt.size-2)
		}
		_, _, fault := lookUp(t.Context(), "/bin/true", environ)
		if large := fault != nil && fault.Code == envcheck.ExecTooLarge && fault.Reason == envcheck.TooLarge && fault.Exit == 126; large != tt.large {
			t.Errorf("%d times %d bytes: got %v", tt.count, tt.size, fault)
		}
		p, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{Env: environ})
		if refused := err != nil; refused != tt.large {
			t.Errorf("%d times %d bytes: the kernel says %v", tt.count, tt.size, err)
		}
		if err == nil {
			p.Wait()
		}
	}
}

func TestExecFaultGoesByTheErrorNumberWhereTheFileLooksRight(t *testing.T) {
	for errno, want := range map[syscall.Errno]envcheck.Reason{
		syscall.ENOENT: envcheck.NoSuchFile, syscall.ENOTDIR: envcheck.NotADirectory,
		syscall.ENAMETOOLONG: envcheck.NameTooLong, syscall.ELOOP: envcheck.SymlinkLoop,
		syscall.EACCES: envcheck.PermissionDenied, syscall.EPERM: envcheck.NotPermitted,
		syscall.ENOEXEC: envcheck.FormatUnknown, syscall.ETXTBSY: envcheck.Busy,
		syscall.E2BIG: envcheck.TooLarge, syscall.EIO: envcheck.IOError,
		syscall.ENOMEM: envcheck.OutOfMemory, syscall.EAGAIN: envcheck.ProcessLimit,
		syscall.EMFILE: envcheck.FileLimit, syscall.ENFILE: envcheck.FileLimit,
		syscall.EINVAL: envcheck.ExecFailed,
	} {
		if got := execFault(errno, "/bin/sh", defaultPath); got.Reason != want || got.Exit == 0 {
			t.Errorf("%v: got %+v, want the reason %s", errno, got, want)
		}
	}
}
