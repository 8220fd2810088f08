package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/startgate/startgate/gate"
)

// roleVariable makes a process of the test binary play one of these parts.
const roleVariable = "CANARY_ROLE"

const (
	roleWorker = "worker" // a worker that tells what it was started with
	roleLeaky  = "leaky"  // a program that leaks, to try the harness
	rolePanic  = "panic"  // startgate, with an output that panics
	roleMounts = "mounts" // mounts files over others, and becomes its arguments
	roleModest = "modest" // becomes its arguments, without root's right to open everything
	roleTwice  = "twice"  // becomes startgate, with its first argument in the environment too
)

// part is the environment of a process that plays a role, or of the gate that
// becomes it. The race detector would have it wait for a second at its end.
func part(role string) []string {
	return []string{roleVariable + "=" + role, "GORACE=atexit_sleep_ms=0"}
}

func play(role string) int {
	switch role {
	case roleWorker:
		return playWorker()
	case roleLeaky:
		// Its first argument goes to stdout and its second to stderr.
		fmt.Println(os.Args[1])
		fmt.Fprintln(os.Stderr, os.Args[2])
		return 0
	case rolePanic:
		return run(os.Args[1:], &gate.Gate{Environ: os.Environ(), Stdout: panicking{}, Stderr: os.Stderr})
	case roleMounts:
		return playMounts()
	case roleModest:
		return playModest()
	case roleTwice:
		return playTwice()
	}
	return 1
}

// playWorker writes arguments and environment to the descriptor that the
// harness has handed down through the gate: stdout and stderr are judged, and
// a worker may print what it likes.
func playWorker() int {
	f := os.NewFile(workerFD, "worker")
	if _, err := fmt.Fprintln(f, strings.Join(os.Args[1:], "\n")+"\n"+strings.Join(os.Environ(), "\n")); err != nil {
		return 1
	}
	return 0
}

// playTwice becomes its second argument with those after it. The first is an
// entry of the environment: of a name that stands there twice, package exec
// would drop one.
func playTwice() int {
	environ := slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, roleVariable+"=") })
	syscall.Exec(os.Args[2], os.Args[2:], append(environ, os.Args[1]))
	return 1
}

// panicking is an output that panics with all it can get hold of, as a bug in
// the gate might: no input makes the gate itself panic.
type panicking struct{}

func (panicking) Write([]byte) (int, error) {
	panic(fmt.Sprintln(os.Args, os.Environ()))
}
