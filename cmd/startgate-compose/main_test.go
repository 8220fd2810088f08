package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// checker is the path of the binary under test. It is built as it is for
// images, so that what is shown holds for what users run.
var checker string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	flag.Parse()
	dir, err := os.MkdirTemp("", "startgate-compose-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	checker = filepath.Join(dir, "startgate-compose")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-buildvcs=false", "-o", checker, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "the binary under test does not build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// result is what a run left.
type result struct {
	code        int
	out, errors string
}

// inProcess runs the command in this process, in the current directory.
func inProcess(environ []string, stdin string, args ...string) result {
	var out, errors bytes.Buffer
	p := program{environ: environ, stdin: strings.NewReader(stdin), stdout: &out, stderr: &errors}
	code := p.run(context.Background(), args)
	return result{code, out.String(), errors.String()}
}

// place makes files in a directory of their own, which becomes the current one.
func place(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// Stacks that are found clean, with a remark, and with an error.
const (
	cleanStack  = "services:\n  web: {image: \"nginx:1.29\"}\n"
	remarkStack = "services:\n  web: {image: \"nginx:1.29\", env_file: [absent.env]}\n"
	wrongStack  = "services:\n  web: {imge: nginx}\n"
	warnStack   = "# sg:ignore-file SG104 -- nothing\n" + cleanStack
)

func TestExitCodes(t *testing.T) {
	place(t, map[string]string{
		"clean.yaml": cleanStack, "remark.yaml": remarkStack, "wrong.yaml": wrongStack, "warn.yaml": warnStack,
		"partial.yaml": "include: [absent.yaml]\n" + cleanStack, "contract.yaml": "contract: 1\nname: x\nkeys: {A: {}}\n", "bad.yaml": "contract: 2\n",
		"config.yaml": "version: 1\n", "badconfig.yaml": "version: 1\nstack: {}\n",
	})
	for _, c := range []struct {
		args string
		code int
		out  string // a part of what is written
	}{
		{"check -f clean.yaml", 0, "0 errors"},
		{"-f clean.yaml", 0, "0 errors"},
		{"check -q --file clean.yaml", 0, ""},
		{"check -f remark.yaml", 0, "SG104"},
		{"check -f remark.yaml --fail-on info", 1, "SG104"},
		{"check -f warn.yaml", 1, "SG108"},
		{"check -f warn.yaml --fail-on error", 0, "SG108"},
		{"check -f wrong.yaml", 2, "SG102"},
		{"check -f absent.yaml", 2, "absent.yaml: error SG103"},
		{"check -f absent.yaml --allow-partial", 2, "absent.yaml: error SG103"},
		{"check -f clean.yaml -f absent.yaml --allow-partial", 1, "absent.yaml: warning SG103"},
		{"check -f partial.yaml", 2, "partial.yaml:1:11: error SG103"},
		{"check -f partial.yaml --allow-partial --fail-on error", 0, "SG103"},
		{"check -f .", 2, ".: error SG103: the file is a directory"},
		{"check -f clean.yaml --contract contract.yaml", 1, "SG107"},
		{"check -f clean.yaml --contract bad.yaml", 2, "SG109"},
		{"check -f clean.yaml --contract absent.yaml", 2, "absent.yaml: error SG103"},
		{"check -f clean.yaml --config config.yaml", 0, ""},
		{"check -f clean.yaml --config badconfig.yaml", 2, "badconfig.yaml:2:1: error SG109 stack: "},
		{"check -f clean.yaml --config absent.yaml", 2, "absent.yaml: error SG103"},
		{"check -f clean.yaml --env-file absent.env", 2, "absent.env: error SG103"},
		{"check -f -", 0, "0 errors"},
		{"check", 2, ""}, {"", 2, ""}, {"chekc", 2, ""}, {"check -x", 2, ""}, {"check -f", 2, ""}, {"check extra", 2, ""},
		{"check --format yaml", 2, ""}, {"check --format sarif=", 2, ""}, {"check --format json --format sarif", 2, ""},
		{"check --fail-on all", 2, ""}, {"check -f - -f -", 2, ""}, {"--list-rules --format sarif", 2, ""},
		{"explain", 2, ""}, {"explain SG000", 2, ""}, {"explain -f x", 2, ""}, {"version x", 2, ""},
		{"check -f clean.yaml --format json=nowhere/x", 2, "json"},
		{"--list-rules", 0, "SG101  error    a file is not YAML\n"}, {"--list-rules --format json", 0, `"id": "SG101"`},
		{"explain SG101", 0, "SG101: a file is not YAML\n"}, {"version", 0, "compose-go"}, {"--version", 0, "compose-go"},
		{"-h", 0, "usage:"}, {"help", 0, "usage:"}, {"check -h", 0, "--fail-on"}, {"explain -h", 0, "SGnnn"}, {"version --help", 0, "usage:"},
	} {
		got := inProcess(nil, cleanStack, strings.Fields(c.args)...)
		if got.code != c.code || !strings.Contains(got.out+got.errors, c.out) {
			t.Errorf("startgate-compose %s: exit %d, want %d, with %q in\n%s%s", c.args, got.code, c.code, c.out, got.out, got.errors)
		}
		mistake := c.code == 2 && c.out == ""
		if mistake && (strings.Count(got.errors, "\n") != 1 || got.out != "" || !strings.Contains(got.errors, "startgate-compose: error usage: ")) {
			t.Errorf("startgate-compose %s: a mistake is not one line that says what to type:\n%s%s", c.args, got.out, got.errors)
		}
	}
}

// Without -f the files are those of the configuration, or of docker compose.
func TestDefaultFiles(t *testing.T) {
	const config = "version: 1\nstacks:\n  a: {files: [clean.yaml]}\n  b: {files: [remark.yaml]}\n"
	for _, c := range []struct {
		name    string
		files   map[string]string
		environ []string
		want    string
	}{
		{"compose.yaml", map[string]string{"compose.yaml": remarkStack, "docker-compose.yml": wrongStack}, nil, "compose.yaml:2:"},
		{"docker-compose.yml", map[string]string{"docker-compose.yml": remarkStack}, nil, "docker-compose.yml:2:"},
		{"override", map[string]string{"compose.yaml": cleanStack, "compose.override.yaml": remarkStack}, nil, "compose.override.yaml:2:"},
		{"COMPOSE_FILE", map[string]string{"compose.yaml": wrongStack, "a.yaml": cleanStack, "b.yaml": remarkStack}, []string{"COMPOSE_FILE=a.yaml:b.yaml"}, "b.yaml:2:"},
		{"its separator", map[string]string{"compose.yaml": wrongStack, "a.yaml": cleanStack, "b.yaml": remarkStack}, []string{"COMPOSE_FILE=a.yaml,b.yaml", "COMPOSE_PATH_SEPARATOR=,"}, "b.yaml:2:"},
		{"COMPOSE_FILE in .env", map[string]string{"compose.yaml": wrongStack, "b.yaml": remarkStack, ".env": "COMPOSE_FILE=b.yaml\n"}, nil, "b.yaml:2:"},
		{"stacks", map[string]string{"startgate.compose.yaml": config, "clean.yaml": cleanStack, "remark.yaml": remarkStack, "compose.yaml": wrongStack}, nil, "stack b\nremark.yaml:2:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			place(t, c.files)
			if got := inProcess(c.environ, "", "check"); got.code != 0 || !strings.Contains(got.out, c.want) {
				t.Errorf("exit %d, want %q in\n%s%s", got.code, c.want, got.out, got.errors)
			}
		})
	}
	t.Run("above", func(t *testing.T) {
		place(t, map[string]string{"compose.yaml": remarkStack, "deep/er/x": ""})
		t.Chdir("deep/er")
		if got := inProcess(nil, "", "check"); got.code != 0 || !strings.Contains(got.out, "../../compose.yaml:2:") {
			t.Errorf("exit %d\n%s%s", got.code, got.out, got.errors)
		}
	})
}

func TestSeveralFormats(t *testing.T) {
	place(t, map[string]string{"compose.yaml": remarkStack, "out.json": "old"})
	got := inProcess(nil, "", "check", "--format", "github", "--format", "json=out.json", "--format", "sarif=out.sarif", "--format", "junit=out.xml")
	if got.code != 0 || !strings.HasPrefix(got.out, "::notice file=compose.yaml,line=2,") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errors)
	}
	for file, want := range map[string]string{"out.json": `"version": 1,`, "out.sarif": `"version": "2.1.0"`, "out.xml": "<testsuites "} {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, %q is not in\n%s", file, err, want, text)
		}
	}
	if left, _ := filepath.Glob(".startgate-compose-*"); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// Each rule is explained, and each is listed.
func TestExplainsEveryRule(t *testing.T) {
	for line := range strings.Lines(inProcess(nil, "", "--list-rules").out) {
		id, _, _ := strings.Cut(line, " ")
		if got := inProcess(nil, "", "explain", id); got.code != 0 || !strings.HasPrefix(got.out, id+": ") {
			t.Errorf("explain %s: exit %d\n%s%s", id, got.code, got.out, got.errors)
		}
	}
}

type panics struct{}

func (panics) Read([]byte) (int, error) { panic("text of a panic") }

func TestPanicIsNotShown(t *testing.T) {
	var out, errors bytes.Buffer
	p := program{stdin: panics{}, stdout: &out, stderr: &errors}
	if code := p.run(context.Background(), []string{"check", "-f", "-"}); code != exitUnjudged || strings.Contains(out.String()+errors.String(), "text of") ||
		!strings.HasPrefix(errors.String(), "startgate-compose: error internal: ") {
		t.Errorf("exit %d\n%s%s", code, out.String(), errors.String())
	}
}
