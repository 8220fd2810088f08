package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// tinyFileSystem returns a command that execs its arguments in a mount
// namespace of their own, in which the value of redis-server's --dir is a file
// system of 256 KiB.
func tinyFileSystem(t testing.TB) []string {
	t.Helper()
	needRoot(t)
	needProgram(t, "unshare")
	// $0 is redis-server, $1 is --dir, $2 its value.
	return []string{"unshare", "--mount", "sh", "-c", `mount -t tmpfs -o size=256k none "$2" && exec "$0" "$@"`}
}

// withoutOverride returns a command that execs its arguments as a user for whom
// the permissions of files count. That is any but root.
func withoutOverride(t testing.TB) []string {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	needProgram(t, "setpriv")
	return []string{"setpriv", "--bounding-set", "-dac_override,-dac_read_search"}
}

// suspend stops a process. It goes on when resume is called, or t ends.
func suspend(t testing.TB, p *os.Process) (resume func()) {
	t.Helper()
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	resume = func() { p.Signal(syscall.SIGCONT) }
	t.Cleanup(resume)
	return resume
}

// dieWithParent has the kernel kill cmd when this process ends, also by the
// panic of a test's time-out, which runs no clean-up.
func dieWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// nobody is the user of that name on Debian and its kin.
const nobody = 65534

// asNobody has cmd run as a user without rights, when this process is root's:
// PostgreSQL does not run as root.
func asNobody(cmd *exec.Cmd) {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}

// giveToNobody makes a file that user's, when this process is root's.
func giveToNobody(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(path, nobody, nobody)
}

// childProcesses are the children of this process.
func childProcesses() (children []string) {
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, task := range tasks {
		pids, _ := os.ReadFile(task)
		for _, pid := range strings.Fields(string(pids)) {
			name, _ := os.ReadFile("/proc/" + pid + "/comm")
			children = append(children, pid+" "+strings.TrimSpace(string(name)))
		}
	}
	return children
}
