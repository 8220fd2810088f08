//go:build !linux

package integration

import (
	"os"
	"os/exec"
	"testing"
)

// What only Linux has. Its rows of the table, and the tests of what is left of
// a process after execve, are run there alone.

func dieWithParent(*exec.Cmd) {}

func asNobody(*exec.Cmd) {}

func giveToNobody(string) error { return nil }

func nameRows() []row { return nil }

func tinyFileSystem(t testing.TB) []string {
	need(t, "Linux", false)
	return nil
}

func withoutOverride(testing.TB) []string { return nil }

func fullBacklog(t testing.TB) string {
	need(t, "Linux", false)
	return ""
}

func suspend(t testing.TB, _ *os.Process) (resume func()) {
	need(t, "Linux", false)
	return nil
}

// childProcesses are the children of this process, where it can tell.
func childProcesses() []string { return nil }
