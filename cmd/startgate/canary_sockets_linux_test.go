package main

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestSockets has the canary in the path of a socket that is not there, and of
// one that the gate may not connect to.
func TestSockets(t *testing.T) {
	t.Parallel()
	var jobs []func()
	for _, args := range [][]string{{"probe"}, {"wait", "--timeout=0", "--format=json"}, {"run", "--timeout=0", "--", "/bin/true"}} {
		jobs = append(jobs, func() {
			canary := newCanary()
			p := process{
				label: "no socket, " + args[0], canary: canary, exit: 75, args: args,
				env: []string{"RQ_REDIS_URL=unix://:" + canary + "@/" + canary + "/socket"},
			}
			p.want(t, p.evaluate(t), "redis_socket_missing")
		}, func() {
			canary := newCanary()
			path := filepath.Join(secretDir(t, canary), "s")
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Close()
			if err := os.Chmod(path, 0); err != nil {
				t.Error(err)
				return
			}
			p := process{
				label: "a socket of others, " + args[0], canary: canary, binary: self, exit: 69, args: append([]string{startgate}, args...),
				env: append(part(roleModest), "RQ_REDIS_URL=unix://:"+canary+"@"+path),
			}
			p.want(t, p.evaluate(t), "redis_socket_denied")
		})
	}
	together(jobs)
}

// playModest gives up CAP_DAC_OVERRIDE (capabilities(7)), if there is one to
// give up, and becomes what its arguments name.
func playModest() int {
	const bound, override = 24, 1 // PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
	runtime.LockOSThread()
	syscall.RawSyscall(syscall.SYS_PRCTL, bound, override, 0)
	environ := slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, roleVariable+"=") })
	syscall.Exec(os.Args[1], os.Args[1:], environ)
	return 1
}
