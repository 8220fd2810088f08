package gate

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

var (
	aWarning = envcheck.Diagnostic{Code: envcheck.BrokerNotRedis, Keys: []envcheck.Key{"A"}}
	aFault   = envcheck.Diagnostic{Code: envcheck.EnvBOM, Keys: []envcheck.Key{"B"}}
	another  = envcheck.Diagnostic{Code: envcheck.EnvQuotedValue, Keys: []envcheck.Key{"C"}}
)

func TestFailSaysTheCodeOnItsLastLine(t *testing.T) {
	var out bytes.Buffer
	r := report{w: &out}
	if got := r.fail(78, aFault, aWarning, another); got != 78 {
		t.Errorf("exit %d, want 78", got)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "startgate: warn ") || !strings.HasSuffix(lines[2], "(exit 78: fix first)") ||
		strings.Contains(lines[1], "exit") || !strings.Contains(lines[1], "key=B") {
		t.Errorf("got\n%s", out.String())
	}
}

func TestTerminationMessage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "termination-log")
	var out bytes.Buffer
	r := report{w: &out, termination: path}
	r.fail(78, aFault)
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("the file was created")
	}

	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 5000), 0o666); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	r.fail(78, aFault, aWarning, another)
	got, _ := os.ReadFile(path)
	if want := out.String()[strings.Index(out.String(), "startgate: error"):]; string(got) != want {
		t.Errorf("got\n%s\nwant the errors\n%s", got, want)
	}

	var many []envcheck.Diagnostic
	for range 100 {
		many = append(many, aFault)
	}
	r.fail(78, many...)
	if got, _ := os.ReadFile(path); len(got) > maxTermination || !strings.HasSuffix(string(got), "(exit 78: fix first)\n") {
		t.Errorf("%d bytes that end in %q", len(got), got[max(0, len(got)-30):])
	}
}

func TestTerminationMessageOfOneLongLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "termination-log")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	long := aFault
	for range 500 {
		long.Keys = append(long.Keys, "A_KEY")
	}
	r := report{w: new(bytes.Buffer), termination: path}
	r.fail(78, long)
	if got, _ := os.ReadFile(path); len(got) != maxTermination || !strings.HasSuffix(string(got), "(exit 78: fix first)\n") {
		t.Errorf("%d bytes that end in %q", len(got), got[max(0, len(got)-30):])
	}
}

func TestTerminationMessageIsNoReasonToHang(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, dir, filepath.Join(dir, "no", "such")} {
		r := report{w: new(bytes.Buffer), termination: path}
		r.fail(78, aFault)
	}
}
