package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What is meant to exhaust the program is refused at once. The bounds are wide:
// each of these takes less than half a second where nothing else runs.
func TestExhaustingInput(t *testing.T) {
	aliases := "x0: &x0 [a, a, a, a, a, a, a, a, a]\n"
	for i := range 11 {
		aliases += fmt.Sprintf("x%d: &x%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*x%d, ", i), 9), ", "))
	}
	var chain strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&chain, "  s%d: {image: redis:7, depends_on: [s%d]}\n", i, max(0, i-1))
	}
	place(t, nil)
	for _, c := range []struct{ name, text, code string }{
		{"aliases", aliases + "services: {a: {image: x}}\n", "SG102"},
		{"lists", "services: " + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), "SG101"},
		{"mappings", "services: " + strings.Repeat("{a: ", 8000) + "x" + strings.Repeat("}", 8000), "SG102"},
		{"nodes", "x-l: [" + strings.Repeat("a, ", 150_000) + "a]\nservices: {a: {image: x}}\n", "SG102"},
		{"services", "services:\n" + chain.String(), "SG102"},
		{"variables", "services: {a: {image: '" + strings.Repeat("${A:-", 20_000) + strings.Repeat("}", 20_000) + "'}}\n", ""},
		{"bytes", "services: {a: {image: x}}\n#" + strings.Repeat("x", 5<<20), "SG103"},
		{"a circle", "include: [compose.yaml]\nservices: {a: {image: x}}\n", "SG102"},
		{"an extended circle", "services: {a: {extends: b}, b: {extends: a}}\n", "SG102"},
	} {
		t.Run(c.name, func(t *testing.T) {
			place(t, map[string]string{"compose.yaml": c.text})
			begun := time.Now()
			cmd := exec.CommandContext(t.Context(), checker, "check", "-f", "compose.yaml")
			out, _ := cmd.CombinedOutput()
			took, state := time.Since(begun), cmd.ProcessState
			if usage, ok := state.SysUsage().(*syscall.Rusage); ok && usage.Maxrss > 200<<10 {
				t.Errorf("it took %d MiB", usage.Maxrss>>10)
			}
			if took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			if c.code != "" && (state.ExitCode() != 2 || !strings.Contains(string(out), "compose.yaml:") || !strings.Contains(string(out), "error "+c.code)) {
				t.Errorf("exit %d, want 2 and %s in\n%s", state.ExitCode(), c.code, out)
			}
			t.Log(took)
		})
	}
}

// What cannot be a compose file is named as it was given.
func TestNoComposeFile(t *testing.T) {
	place(t, map[string]string{
		"empty.yaml": "", "list.yaml": "- a\n", "scalar.yaml": "hello\n", "pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n",
		"dir.yaml/x": "",
	})
	if err := syscall.Mkfifo("fifo.yaml", 0o600); err != nil {
		t.Fatal(err)
	}
	for file, code := range map[string]string{
		"empty.yaml": "SG102", "list.yaml": "SG102", "scalar.yaml": "SG102", "pod.yaml": "SG102", "dir.yaml": "SG103", "fifo.yaml": "SG103", "absent.yaml": "SG103",
		"dir.yaml/x/y": "SG103",
	} {
		if got := inProcess(nil, "", "check", "-f", file); got.code != 2 || !strings.HasPrefix(got.out, file) || !strings.Contains(got.out, "error "+code) {
			t.Errorf("%s: exit %d, want 2 and %s in\n%s", filepath.ToSlash(file), got.code, code, got.out)
		}
	}
}
