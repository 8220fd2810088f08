package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What bad input may take. The goal is a second; what a busy machine adds to it
// is not the program's.
const (
	maxTook = 10 * time.Second
	maxRSS  = 200 << 20 // the kernel counts what this process had at the fork, too
)

// confined runs the binary and holds it to the bounds above. prepare, if any,
// changes the command before.
func confined(t *testing.T, prepare func(*exec.Cmd), args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*maxTook)
	defer cancel()
	cmd := exec.CommandContext(ctx, checker, args...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if prepare != nil {
		prepare(cmd)
	}
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	rss := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	t.Logf("%v, %d MiB, exit %d", took.Round(time.Millisecond), rss>>20, cmd.ProcessState.ExitCode())
	if took > maxTook {
		t.Errorf("it took %v, want %v at most", took, maxTook)
	}
	if rss > maxRSS {
		t.Errorf("it took %d MiB of memory, want %d at most", rss>>20, maxRSS>>20)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// refused reports what is wrong with the answer to files that cannot be judged.
func (r result) refused(t *testing.T, want string) {
	t.Helper()
	if r.code != exitUnjudged || !strings.Contains(r.out, want) {
		t.Errorf("exit %d, want %d, with %q in\n%.2000s%.2000s", r.code, exitUnjudged, want, r.out, r.errors)
	}
	if strings.Contains(r.out+r.errors, "error internal") || strings.Contains(r.errors, "goroutine ") {
		t.Errorf("the program itself has failed:\n%.2000s", r.errors)
	}
}

// repeated is text n times over, each time with its number in place of %d.
func repeated(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "%d", fmt.Sprint(i)))
	}
	return b.String()
}

// aliases doubles tenfold at each of nine levels.
func aliases() string {
	var b strings.Builder
	b.WriteString("x-0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&b, "x-%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return b.String() + "services:\n  web: {image: \"nginx:1.29\", x-all: *a9}\n"
}

// merges is the same with merge keys.
func merges() string {
	var b strings.Builder
	b.WriteString("x-0: &a0 {" + repeated(50, "k%d: v, ") + "}\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&b, "x-%d: &a%d {%s}\n", i, i, repeated(10, fmt.Sprintf("b%%d: {<<: *a%d}, ", i-1)))
	}
	return b.String() + "services:\n  web:\n    image: nginx:1.29\n    x-all: {<<: *a9}\n"
}

// indented nests mappings in block style.
func indented(n int) string {
	var b strings.Builder
	b.WriteString("services:\n  web:\n    image: nginx:1.29\nx-deep:\n")
	for i := range n {
		b.WriteString(strings.Repeat(" ", i+1) + "a:\n")
	}
	return b.String()
}

// including are files of which each includes the next, and the last one next.
func including(n int, next string) map[string]string {
	files := map[string]string{}
	for i := range n {
		to := fmt.Sprintf("f%d.yaml", i+1)
		if i == n-1 {
			to = next
		}
		name := fmt.Sprintf("f%d.yaml", i)
		if i == 0 {
			name = "compose.yaml"
		}
		files[name] = fmt.Sprintf("include: [%s]\nservices:\n  s%d: {image: \"nginx:1.29\"}\n", to, i)
	}
	return files
}

// with adds a file to others.
func with(files map[string]string, name, text string) map[string]string {
	files[name] = text
	return files
}

func TestHostileFilesAreRefused(t *testing.T) {
	one := func(text string) map[string]string { return map[string]string{"compose.yaml": text} }
	wide := map[string]string{"compose.yaml": "include:\n" + repeated(1500, "  - f%d.yaml\n") + cleanStack}
	for i := range 1500 {
		wide[fmt.Sprintf("f%d.yaml", i)] = fmt.Sprintf("services:\n  s%d: {image: \"nginx:1.29\"}\n", i)
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"aliases", one(aliases()), "SG102"},
		{"merge keys", one(merges()), "SG102"},
		{"an alias of itself", one("x-a: &a [*a]\n" + cleanStack), "compose.yaml:1:"},
		{"an alias of itself in a service", one("services:\n  web: &w\n    image: nginx:1.29\n    x-w: *w\n"), "compose.yaml:"},
		{"a merge of itself", one("services:\n  web: &w\n    image: nginx:1.29\n    <<: *w\n"), "compose.yaml:"},
		{"deep in flow style", one(cleanStack + "x-deep: " + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "\n"), "compose.yaml:3:"},
		{"deep mappings in flow style", one(cleanStack + "x-deep: " + strings.Repeat("{a: ", 20_000) + strings.Repeat("}", 20_000) + "\n"), "compose.yaml:3:"},
		{"deep and not closed", one(cleanStack + "x-deep: " + strings.Repeat("[", 150_000)), "compose.yaml:3:"},
		{"deep in block style", one(indented(2_500)), "compose.yaml:103:100: error SG102: this is nested more than 100 deep"},
		{"deep lists", one(cleanStack + "x-deep:\n  " + strings.Repeat("- ", 50_000) + "a\n"), "compose.yaml:"},
		{"5 MiB", one(cleanStack + "# " + strings.Repeat("x", 5<<20) + "\n"), "compose.yaml: error SG103: the file is larger than 4 MiB"},
		{"4 MiB of nodes", one("services:\n  web: {image: \"nginx:1.29\"}\nx-all: [" + strings.Repeat("a,", 2_000_000) + "]\n"), "compose.yaml:1:1: error SG102: the file has more than 200,000 lines, items and keys"},
		{"many aliases", one("x-a: &a [x, x, x]\nx-all:\n" + repeated(40_000, "  - *a\n") + cleanStack), "compose.yaml:1:1: error SG102: the files have more than 100,000 nodes"},
		{"100,000 nodes", one(cleanStack + "x-all:\n" + repeated(120_000, "  - a\n")), "compose.yaml:1:1: error SG102: the file has more than 200,000 lines, items and keys"},
		{"many keys", one(cleanStack + "x-all:\n" + repeated(60_000, "  k%d: a\n")), "compose.yaml:4:3: error SG102: this has more than 5,000 keys"},
		{"many documents", one(strings.Repeat("---\n"+cleanStack, 60_000)), "SG102"},
		{"many includes", wide, "error SG102: the stack is made of more than 1,000 files"},
		{"a chain of includes", including(1500, "f1.yaml"), "error SG102: the stack is made of more than 1,000 files"},
		{"an include of itself", including(1, "compose.yaml"), "compose.yaml:1:11: error SG102: the files include each other in a circle"},
		{"an include circle", including(3, "compose.yaml"), "f2.yaml:1:11: error SG102: the files include each other in a circle"},
		{"an include circle by another name", including(3, "./x/../compose.yaml"), "circle"},
		{"a service that extends itself", one("services:\n  a: {image: x, extends: {service: a}}\n"), "compose.yaml:"},
		{"an extends circle", one("services:\n  a: {extends: {service: b}}\n  b: {extends: {service: a}}\n"), "compose.yaml:"},
		{"an extends circle of files", map[string]string{
			"compose.yaml": "services:\n  a: {extends: {file: b.yaml, service: b}}\n",
			"b.yaml":       "services:\n  b: {extends: {file: compose.yaml, service: a}}\n",
		}, ".yaml:2:"},
		{"a long value", one("services:\n  web: {image: \"nginx:1.29\", imge: \"" + strings.Repeat("x", 4_000_000) + "\"}\n"), "compose.yaml:2:"},
		{"bytes that are no text", one(strings.Repeat("\x00\xff", 1000)), "compose.yaml:1:"},
		{"a contract of 5 MiB", with(one(cleanStack), "contract.yaml", "contract: 1\nname: x\n# "+strings.Repeat("x", 5<<20)), "contract.yaml: error SG"},
		{"a contract of aliases", with(one(cleanStack), "contract.yaml", aliases()), "contract.yaml"},
		{"a configuration of aliases", with(one(cleanStack), "startgate.compose.yaml", "version: 1\n"+aliases()), "startgate.compose.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			place(t, c.files)
			args := []string{"check", "-f", "compose.yaml"}
			if c.files["contract.yaml"] != "" {
				args = append(args, "--contract", "contract.yaml")
			}
			got := confined(t, nil, args...)
			if c.want != "" {
				got.refused(t, c.want)
			} else if got.code != exitClean {
				t.Errorf("exit %d\n%.2000s%.2000s", got.code, got.out, got.errors)
			}
		})
	}
}

// Variables that name each other are no way round the bounds, and neither is
// one whose default has one whose default has one.
func TestDeepVariables(t *testing.T) {
	deep := strings.Repeat("${A:-", 20_000) + strings.Repeat("}", 20_000)
	place(t, map[string]string{
		"compose.yaml": "services:\n  web: {image: \"nginx:1.29\", environment: {A: \"" + deep + "\", B: \"" + strings.Repeat("${A}", 100_000) + "\"}}\n",
		".env":         "A=" + strings.Repeat("x", 100_000) + "\n",
	})
	got := confined(t, nil, "check")
	if got.code == exitUnjudged || strings.Contains(got.errors, "error internal") || strings.Contains(got.errors, "goroutine ") {
		t.Errorf("exit %d\n%.2000s%.2000s", got.code, got.out, got.errors)
	}
}

func TestWhatIsNoComposeFile(t *testing.T) {
	place(t, map[string]string{
		"empty.yaml": "", "blank.yaml": "\n# nothing\n", "list.yaml": "- a\n- b\n", "scalar.yaml": "hello\n", "null.yaml": "---\n",
		"kubernetes.yaml":   "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1}\n",
		"deep/er/list.yaml": "- a\n", "unreadable.yaml": cleanStack, "closed/compose.yaml": cleanStack,
	})
	if err := syscall.Mkfifo("fifo.yaml", 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"unreadable.yaml", "closed"} {
		if err := os.Chmod(name, 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod("closed", 0o700) })
	if err := os.Symlink("loop.yaml", "loop.yaml"); err != nil {
		t.Fatal(err)
	}
	var unprivileged func(*exec.Cmd)
	if os.Getuid() == 0 {
		here, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		// What another user must pass through on the way.
		for _, dir := range []string{filepath.Dir(checker), filepath.Dir(here), here} {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		unprivileged = func(cmd *exec.Cmd) {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
	}
	for _, c := range []struct{ file, want string }{
		{"deep", "deep: error SG103: the file is a directory"},
		{"./deep/", "./deep/: error SG103: the file is a directory"},
		{"fifo.yaml", "fifo.yaml: error SG103: the file is no regular file"},
		{"/dev/zero", "/dev/zero: error SG103: the file is no regular file"},
		{"absent.yaml", "absent.yaml: error SG103: the file is not there"},
		{"list.yaml/x", "list.yaml/x: error SG103: the file is not there"},
		{"loop.yaml", "loop.yaml: error SG103: the file cannot be read"},
		{"unreadable.yaml", "unreadable.yaml: error SG103: the file may not be read"},
		{"closed/compose.yaml", "closed/compose.yaml: error SG103: the file may not be read"},
		{"empty.yaml", "empty.yaml:1:1: error SG102"},
		{"blank.yaml", "blank.yaml:1:1: error SG102"},
		{"null.yaml", "null.yaml:1:1: error SG102"},
		{"list.yaml", "list.yaml:1:1: error SG102"},
		{"./deep/../deep/er/list.yaml", "./deep/../deep/er/list.yaml:1:1: error SG102"},
		{"scalar.yaml", "scalar.yaml:1:1: error SG102"},
		{"kubernetes.yaml", "kubernetes.yaml:1:1: error SG102"},
	} {
		t.Run(strings.ReplaceAll(c.file, "/", "_"), func(t *testing.T) {
			confined(t, unprivileged, "check", "-f", c.file).refused(t, c.want)
		})
	}
	for _, args := range [][]string{{"--contract", "fifo.yaml"}, {"--config", "fifo.yaml"}, {"--env-file", "fifo.yaml"}, {"--contract", "/dev/zero"}, {"--contract", "unreadable.yaml"}} {
		t.Run(strings.ReplaceAll(args[0]+args[1], "/", "_"), func(t *testing.T) {
			if err := os.WriteFile("clean.yaml", []byte(cleanStack), 0o644); err != nil {
				t.Fatal(err)
			}
			confined(t, unprivileged, append([]string{"check", "-f", "clean.yaml"}, args...)...).refused(t, args[1]+": error SG103")
		})
	}
}
