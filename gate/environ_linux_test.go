package gate

import (
	"io"
	"os"
	"strings"
	"testing"
)

// A child that was started with a name twice sees both, which the Go runtime
// hides. os/exec would drop one before the start.
func TestKernelEnvironKeepsNamesThatStandTwice(t *testing.T) {
	if os.Getenv("GATE_ENVIRON_CHILD") != "" {
		for _, entry := range KernelEnviron() {
			if strings.HasPrefix(entry, "TWICE=") {
				os.Stdout.WriteString(entry + "\n")
			}
		}
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess(self, []string{self, "-test.run=" + t.Name()}, &os.ProcAttr{
		Env: []string{"GATE_ENVIRON_CHILD=1", "TWICE=a", "TWICE=b"}, Files: []*os.File{nil, w, w},
	})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	out, _ := io.ReadAll(r)
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(out), "TWICE=a\nTWICE=b\n") {
		t.Errorf("the child sees %q", out)
	}
}
