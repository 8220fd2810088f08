package integration

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// The servers that the conformance rows are shown on: the redis-server of PATH
// and those that STARTGATE_TEST_SERVERS lists, separated as PATH is. .ci/servers
// makes some of other versions.

// A program is one of them.
type program struct {
	path string
	name string // as in "redis 7.0.15"
}

// programs returns all of them. Only the long form of the tests in CI has to
// have more than one.
func programs(t testing.TB) []program {
	t.Helper()
	list := os.Getenv("STARTGATE_TEST_SERVERS")
	if list == "" && full() && os.Getenv("CI") != "" {
		t.Fatal("CI without STARTGATE_TEST_SERVERS, see .ci/servers")
	}
	var all []program
	for _, path := range append([]string{needProgram(t, "redis-server")}, filepath.SplitList(list)...) {
		name, err := versionOf(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, program{path, name})
	}
	return all
}

var versions sync.Map

// versionOf asks a program who it is, once.
func versionOf(path string) (string, error) {
	if name, ok := versions.Load(path); ok {
		return name.(string), nil
	}
	out, err := exec.Command(path, "--version").Output()
	m := regexp.MustCompile(`^(\w+) server v=([0-9.]+)`).FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("%s --version: %q, %v", path, out, err)
	}
	name := strings.ToLower(string(m[1])) + " " + string(m[2])
	versions.Store(path, name)
	return name, nil
}

// onServer is a test whose servers are of one program; the zero one is the
// redis-server of PATH.
type onServer struct {
	testing.TB
	program program
}

// programOf is the program of the servers of t: the redis-server of PATH
// unless t says otherwise.
func programOf(t testing.TB) program {
	t.Helper()
	if on, ok := t.(onServer); ok && on.program.path != "" {
		return on.program
	}
	path := needProgram(t, "redis-server")
	name, err := versionOf(path)
	return program{path, cmp.Or(name, fmt.Sprint(err))}
}

// isRedis6 reports whether the servers of t lack what came with Redis 7.
func isRedis6(t testing.TB) bool {
	t.Helper()
	return strings.HasPrefix(programOf(t).name, "redis 6.")
}
