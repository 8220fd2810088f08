package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A mount shows a file in place of another, to one process alone: so a test can
// have a name server and a termination message of its own, on a machine that
// it shares with others.
type mount struct{ file, target string }

const (
	terminationLogPath = "/dev/termination-log"
	resolvConf         = "/etc/resolv.conf"
)

// mountsVariable has the mounts for the process that makes them.
const mountsVariable = "CANARY_MOUNTS"

// inMountNamespace makes cmd run in a mount namespace of its own, and without
// root's rights in a user namespace as well.
func inMountNamespace(cmd *exec.Cmd, mounts []mount) {
	list, _ := json.Marshal(mountList(mounts))
	cmd.Args = append([]string{self}, cmd.Args...)
	cmd.Args[1] = cmd.Path
	cmd.Path = self
	cmd.Env = append(append(cmd.Env, part(roleMounts)...), mountsVariable+"="+string(list))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if uid := os.Geteuid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		gid := os.Getegid()
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{21} // CAP_SYS_ADMIN of the namespace
	}
}

func mountList(mounts []mount) (list [][2]string) {
	for _, m := range mounts {
		list = append(list, [2]string{m.file, m.target})
	}
	return list
}

// playMounts mounts and becomes what its arguments name.
func playMounts() int {
	var list [][2]string
	if json.Unmarshal([]byte(os.Getenv(mountsVariable)), &list) != nil {
		return 1
	}
	// What is mounted from here on stays in the namespace.
	if syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "") != nil {
		return 1
	}
	for _, m := range list {
		if !bind(m[0], m[1]) {
			return 1
		}
	}
	environ := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, roleVariable+"="+roleMounts) || strings.HasPrefix(entry, mountsVariable+"=")
	})
	syscall.Exec(os.Args[1], os.Args[1:], environ)
	return 1
}

func bind(file, target string) bool {
	// There is no termination log outside of Kubernetes to mount something
	// over, and a file in the machine's own /dev would be everybody's.
	if target == terminationLogPath {
		if syscall.Mount("tmpfs", "/dev", "tmpfs", 0, "") != nil || os.WriteFile(target, nil, 0o644) != nil {
			return false
		}
	}
	return syscall.Mount(file, target, "", syscall.MS_BIND, "") == nil
}

// needsMounts skips where no mount namespace can be made. In CI that is a
// failure: a green build must mean that these tests ran.
func needsMounts(t *testing.T) {
	t.Helper()
	try := process{label: "a mount", canary: newCanary(), args: []string{"version"}, mounts: []mount{{emptyFile(t), resolvConf}}}
	if out, err := try.run(); err != nil || out.exit != 0 {
		lacking(t, "rights to make a mount namespace")
	}
}

func emptyFile(t *testing.T) string {
	t.Helper()
	path := t.TempDir() + "/file"
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
