package gate

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// stateDirs are where state files go, the first that can be written: no image
// has to have a directory for them. /run/startgate is used and never created.
var stateDirs = [...]string{"/run/startgate", "/dev/shm", "/tmp"}

// statePaths are the files that a gate of this container may have written.
// /dev/shm is shared by the containers of a pod, so their name has the mount
// namespace, which is the same for a process that docker exec starts.
func statePaths(setting string) []string {
	if setting != "" {
		return []string{setting}
	}
	name := "startgate"
	if link, err := os.Readlink("/proc/self/ns/mnt"); err == nil {
		name += "-" + strings.Trim(link, "mnt:[]")
	}
	var paths []string
	for _, dir := range stateDirs {
		paths = append(paths, filepath.Join(dir, name+".json"))
	}
	return paths
}

// writeState replaces a file at once. Its readers run as other users, whatever
// the umask. By bare system calls, see slurp.
func writeState(path string, text []byte) error {
	const exclusive = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_EXCL | syscall.O_CLOEXEC
	temp := path + "." + strconv.Itoa(os.Getpid())
	fd, err := syscall.Open(temp, exclusive, 0o644)
	if err == syscall.EEXIST { // of a gate that was killed, or a trap
		os.Remove(temp)
		fd, err = syscall.Open(temp, exclusive, 0o644)
	}
	if err != nil {
		return err
	}
	_, err = syscall.Write(fd, text)
	if err == nil {
		err = syscall.Fchmod(fd, 0o644)
	}
	syscall.Close(fd)
	if err == nil {
		err = syscall.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

// ours reports whether a file is root's or this user's: /tmp takes anybody's.
func ours(path string) bool {
	var info syscall.Stat_t
	return syscall.Stat(path, &info) == nil && (info.Uid == 0 || int(info.Uid) == os.Geteuid())
}

// ownedByProcess reports whether a file belongs to the user that a process runs
// as.
func ownedByProcess(path string, pid int) bool {
	var file, process syscall.Stat_t
	return syscall.Stat(path, &file) == nil && syscall.Stat("/proc/"+strconv.Itoa(pid), &process) == nil && file.Uid == process.Uid
}

// self is this process.
func self() (pid int, started uint64, err error) {
	pid = os.Getpid()
	started, err = startTime(pid)
	return pid, started, err
}

// startTime is field 22 of /proc/PID/stat (proc(5)), which execve keeps.
func startTime(pid int) (uint64, error) {
	text, err := slurp("/proc/"+strconv.Itoa(pid)+"/stat", 4096)
	if err != nil {
		return 0, err
	}
	// The second field is the command's name in parentheses, and may hold both.
	i := strings.LastIndexByte(string(text), ')')
	fields := strings.Fields(string(text[i+1:]))
	const field = 22 - 3
	if i < 0 || len(fields) <= field {
		return 0, fs.ErrInvalid
	}
	if fields[0] == "Z" || fields[0] == "X" {
		return 0, syscall.ESRCH // ended, and not yet reaped
	}
	return strconv.ParseUint(fields[field], 10, 64)
}
