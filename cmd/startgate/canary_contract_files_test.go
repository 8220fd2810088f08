package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

// A fileForm is a way in which KEY_FILE names a file, or does not.
type fileForm struct {
	name   string
	code   envcheck.Code
	reason envcheck.Reason
	exit   int
	path   func(t *testing.T, c string) string
}

// largest is what a secret's file may have. As a value it is too long for
// execve.
const largest = 128 << 10

var fileForms = [...]fileForm{
	{"a file", envcheck.ContractOK, "", 0, func(t *testing.T, c string) string { return secretFile(t, c, c+"\n") }},
	{"no file", envcheck.SecretFileUnreadable, envcheck.NotFound, 78, func(t *testing.T, c string) string { return secretDir(t, c) + "/" + c }},
	{"a path below a file", envcheck.SecretFileUnreadable, envcheck.NotFound, 78, func(t *testing.T, c string) string { return secretFile(t, c, c) + "/" + c }},
	{"a long path", envcheck.SecretFileUnreadable, envcheck.IOError, 78, func(t *testing.T, c string) string { return "/" + strings.Repeat(c, 20) }},
	{"a directory", envcheck.SecretFileUnreadable, envcheck.IsDirectory, 78, secretDirOf},
	{"a device", envcheck.SecretFileUnreadable, envcheck.NotRegular, 78, func(t *testing.T, c string) string { return secretLink(t, c, os.DevNull) }},
	{"a link to nothing", envcheck.SecretFileUnreadable, envcheck.NotFound, 78, func(t *testing.T, c string) string { return secretLink(t, c, "/"+c) }},
	{"too large a file", envcheck.SecretFileUnreadable, envcheck.TooLarge, 78, func(t *testing.T, c string) string {
		return secretFile(t, c, c+strings.Repeat("x", largest))
	}},
	{"too long a value", envcheck.EnvValueTooLong, "", 78, func(t *testing.T, c string) string {
		return secretFile(t, c, c+strings.Repeat("x", largest-len(c)))
	}},
	{"a relative path", envcheck.SecretFileUnreadable, envcheck.PathNotAbsolute, 78, func(_ *testing.T, c string) string { return "secrets/" + c }},
	{"the secret itself", envcheck.SecretFileUnreadable, envcheck.PathNotAbsolute, 78, func(_ *testing.T, c string) string { return c }},
	{"a URL with the secret", envcheck.SecretFileUnreadable, envcheck.PathNotAbsolute, 78, func(_ *testing.T, c string) string { return "redis://:" + c + "@h" }},
}

func secretDirOf(t *testing.T, c string) string { return secretDir(t, c) }

// secretLink is a link in a directory that has the canary for its name.
func secretLink(t *testing.T, c, to string) string {
	t.Helper()
	path := filepath.Join(secretDir(t, c), c)
	if err := os.Symlink(to, path); err != nil {
		t.Error(err)
	}
	return path
}

// filedKeys take KEY_FILE and are exported from it.
var filedKeys = [...]string{"KEY_SECRET", "KEY_FILED"}

// TestSecretFiles has every form of KEY_FILE, and each beside the value.
func TestSecretFiles(t *testing.T) {
	needsExec(t)
	t.Parallel()
	good := probetest.New(t, probetest.Behaviour{}).Addr()
	var jobs []func()
	try := func(label, canary, key, path string, code envcheck.Code, exit int, args []string, env ...string) {
		p := process{
			label: label, canary: canary, exit: exit, args: args,
			env: append(underContract(t, canary, good), append(env, key+"_FILE="+path, "PATH="+os.Getenv("PATH"))...),
		}
		p.want(t, p.evaluate(t), string(code))
	}
	for i, f := range fileForms {
		for j, key := range filedKeys {
			args := pick([][]string{{"check", "--format=json"}, {"check"}}, i+j)
			jobs = append(jobs, func() {
				c := newCanary()
				try(key+"_FILE is "+f.name, c, key, f.path(t, c), f.code, f.exit, args)
			}, func() {
				c := newCanary()
				try(key+"_FILE is "+f.name+", beside the value", c, key, f.path(t, c), envcheck.SecretSourceConflict, 78, args, key+"="+c)
			})
			if f.exit != 0 {
				jobs = append(jobs, func() {
					c := newCanary()
					try(key+"_FILE is "+f.name+", run", c, key, f.path(t, c), f.code, f.exit, []string{"run", "--", "true", c})
				})
			}
		}
	}
	together(jobs)
	reasons := make([]envcheck.Reason, len(fileForms))
	for i, f := range fileForms {
		reasons[i] = f.reason
	}
	if missed := unreachedReasons(reasons); len(missed) > 0 {
		t.Errorf("no file brought about the reasons %v", missed)
	}
}

// TestExportedSecret sees that the worker gets what nobody else does.
func TestExportedSecret(t *testing.T) {
	needsExec(t)
	t.Parallel()
	good := probetest.New(t, probetest.Behaviour{}).Addr()
	for _, key := range filedKeys {
		canary := newCanary()
		p := process{
			label: "a worker that gets " + key, canary: canary, args: []string{"--", secretWorker(t, canary)},
			env: append(append(underContract(t, canary, good), key+"_FILE="+secretFile(t, canary, canary+"\n")), part(roleWorker)...),
		}
		out := p.evaluate(t)
		p.want(t, out, "exec")
		if !strings.Contains(string(out.worker), key+"="+canary+"\n") || strings.Contains(string(out.worker), key+"_FILE") {
			t.Errorf("the worker does not get %s in place of its file", key)
		}
	}
}
