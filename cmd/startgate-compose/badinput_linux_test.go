package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bombs are files that expand, or that are large or deep.
var bombs = map[string]func() string{
	"aliases": func() string {
		var b strings.Builder
		b.WriteString("x-0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
		for i := range 12 {
			fmt.Fprintf(&b, "x-%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), i)
		}
		return b.String() + "services: {web: {image: nginx, labels: *a12}}\n"
	},
	"merge keys": func() string {
		var b strings.Builder
		b.WriteString("x-0: &a0 {a: b}\n")
		for i := range 30 {
			fmt.Fprintf(&b, "x-%d: &a%d {l: *a%d, r: *a%d}\n", i+1, i+1, i, i)
		}
		return b.String() + "services: {web: {image: nginx, <<: *a30}}\n"
	},
	"an alias in itself": func() string { return "services: &a {web: {image: nginx, labels: *a}}\n" },
	"depth":              func() string { return "services: " + strings.Repeat("[", 1<<20) },
	"depth of mappings":  func() string { return "services: " + strings.Repeat("{a: ", 1<<19) },
	"size":               func() string { return "services: {}\n" + strings.Repeat("# x\n", 2<<20) },
	"nodes":              func() string { return "services: {web: {image: x, command: [" + strings.Repeat("a,", 1<<20) + "a]}}\n" },
	"nodes, parsed": func() string {
		return "services: {web: {image: x, command: [" + strings.Repeat("a,", 249_000) + "a]}}\n"
	},
	"depth, closed": func() string { return clean + "x: " + strings.Repeat("{a: ", 50) + strings.Repeat("}", 50) + "\n" },
	"keys":          func() string { return clean + "x:\n" + numbered(60_000, "  k%d: a\n") },
	"items":         func() string { return clean + "    ports:\n" + numbered(20_000, "    - %d\n") },
	"ports":         func() string { return clean + "    ports:\n" + strings.Repeat("    - 1-65000:1-65000\n", 50) },
	"words":         func() string { return clean + "    command: " + strings.Repeat("a ", 500_000) + "\n" },
	"documents":     func() string { return strings.Repeat("---\n"+clean, 60_000) },
	"defaults": func() string {
		return clean + "    environment: {A: '" + strings.Repeat("${A:-"+strings.Repeat("x", 30_000), 99) + strings.Repeat("}", 99) + "'}\n"
	},
	"texts that grow": func() string {
		return clean + "    environment:\n" + numbered(1000, "      A%d: "+strings.Repeat("${LONG}", 100)+"\n")
	},
	"env_file that grows":               func() string { return clean + "    env_file: grows.env\n" },
	"env_file of an include that grows": func() string { return "include: [{path: more.yaml, env_file: grows.env}]\n" },
	"large env_file":                    func() string { return clean + "    env_file: large.env\n" },
	"env_files":                         func() string { return "services:\n" + numbered(500, "  s%d: {image: x, env_file: some.env}\n") },
	"services": func() string {
		var b strings.Builder
		b.WriteString("services:\n")
		for i := range 6000 {
			fmt.Fprintf(&b, "  s%d: {image: redis:7, depends_on: [s%d]}\n", i, max(0, i-1))
		}
		return b.String()
	},
	"variables": func() string {
		return "services: {a: {nope: 1, image: '" + strings.Repeat("${A:-", 20_000) + strings.Repeat("}", 20_000) + "'}}\n"
	},
	"variables in a command": func() string {
		return "services: {a: {nope: 1, image: x, command: 'rq worker " + strings.Repeat("$A", 200_000) + "'}}\n"
	},
	"extends":             func() string { return "services: {a: {extends: b}, b: {extends: a}}\n" },
	"extends without end": func() string { return "services:\n" + chain(4900, 4900) },
	"extends in a circle": func() string { return "services:\n" + chain(4900, 0) },
	"include":             func() string { return "include: [compose.yaml]\n" },
}

const clean = "services:\n  web:\n    image: x\n"

// numbered is text n times over, each time with its number in it.
func numbered(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "%d", strconv.Itoa(i)))
	}
	return b.String()
}

// chain is n services, each of which extends the next, and the last one the service of that number.
func chain(n, last int) string {
	var b strings.Builder
	for i := range n - 1 {
		fmt.Fprintf(&b, "  s%d: {image: x, extends: s%d}\n", i, i+1)
	}
	fmt.Fprintf(&b, "  s%d: {image: x, extends: s%d}\n", n-1, last)
	return b.String()
}

// besideBombs are files of variables.
var besideBombs = map[string]string{
	".env":      "LONG=" + strings.Repeat("x", 100_000) + "\n",
	"grows.env": "A0=" + strings.Repeat("x", 10_000) + "\n" + strings.Repeat("A0=\"$A0\n$A0\"\n", 40),
	"large.env": numbered(300_000, "A%d=a\n"),
	"more.yaml": clean,
	"some.env":  numbered(5000, "A%d=a\n"),
}

// runChecker checks a file with the built binary, and tells how long that took and how
// much memory it held.
func runChecker(t *testing.T, dir string, args ...string) (result, time.Duration, int64) {
	t.Helper()
	cmd := exec.Command(checker, append([]string{"check"}, args...)...)
	cmd.Dir, cmd.Env = dir, []string{}
	if os.Geteuid() == 0 { // root may read everything
		for _, folder := range []string{filepath.Dir(checker), filepath.Dir(dir), dir} {
			if err := os.Chmod(folder, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("the system does not say what a process used")
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), stderr.String()}, took, usage.Maxrss << 10
}

// The goals are 1 s and 200 MB on a quiet machine; a busy one gets more time.
func TestBombs(t *testing.T) {
	for name, bomb := range bombs {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "compose.yaml"), []byte(bomb()), 0o666); err != nil {
				t.Fatal(err)
			}
			for file, text := range besideBombs {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			got, took, held := runChecker(t, dir)
			t.Logf("%v, %d MB", took, held>>20)
			if got.code != exitUnjudged || !strings.HasPrefix(got.out, "compose.yaml") {
				t.Errorf("exit %d\n%s%s", got.code, got.out, got.errors)
			}
			if took > 10*time.Second || held > 200<<20 {
				t.Errorf("it took %v and %d MB", took, held>>20)
			}
		})
	}
}

// TestUnusualDotenv: what compose takes variables from is read within bounds,
// also before there is a stack and by compose-go's loader.
func TestUnusualDotenv(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "compose.yaml")
	if err := os.WriteFile(file, []byte(clean), 0o666); err != nil {
		t.Fatal(err)
	}
	grows := "A0=x\n"
	for i := range 40 {
		grows += fmt.Sprintf("A%d=$A%d$A%d\n", i+1, i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(grows), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, took, _ := runChecker(t, dir); got.code != exitUnjudged || took > 10*time.Second {
		t.Errorf("an .env that grows: exit %d after %v\n%s%s", got.code, took, got.out, got.errors)
	}
	more := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(more, ".env"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{file: "include: [" + more + "/more.yaml]\n", filepath.Join(more, "more.yaml"): clean, filepath.Join(dir, ".env"): ""} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(more, 0o755); err != nil { // root is not who reads it
		t.Fatal(err)
	}
	if got, _, _ := runChecker(t, dir); got.code != exitUnjudged || !strings.Contains(got.out, "no regular file") {
		t.Errorf("a FIFO: exit %d\n%s%s", got.code, got.out, got.errors)
	}
}

func TestUnusualFiles(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"denied": cleanStack, "text": "hello\n", "list": "- a\n", "other": "kind: Pod\n", "empty": "", "binary": "\x00\x01\xff"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "denied"), 0); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"fifo": "SG103: the file is no regular file", ".": "SG103: the file is a directory", "denied": "SG103: the file may not be read",
		"absent": "SG103: the file is not there", "text": "SG102", "list": "SG102", "other": "SG102", "empty": "SG102", "binary": "SG101", "/dev/null": "SG103",
	} {
		got, _, _ := runChecker(t, dir, "-f", name)
		if got.code != exitUnjudged || !strings.HasPrefix(got.out, name+":") || !strings.Contains(got.out, "error "+want) {
			t.Errorf("%s: exit %d, want %s in\n%s%s", name, got.code, want, got.out, got.errors)
		}
	}
}

// compose-go's warnings, which name variables and quote defaults, stay within.
func TestSaysNothingBeside(t *testing.T) {
	dir := t.TempDir()
	text := "version: \"3\"\nservices:\n  web:\n    image: ${UNHEARD_OF}:${TAG:-x}\n    deploy: {labels: {a: b}}\n"
	if err := os.WriteFile(filepath.Join(dir, "compose.yaml"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := runChecker(t, dir, "-q"); got.code != exitClean || got.out+got.errors != "" {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errors)
	}
}
