package gate

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
)

func TestBecomeWaitsForAFileThatIsBeingWritten(t *testing.T) {
	for _, tt := range []struct {
		name   string
		writes time.Duration
		want   int
		signal bool
	}{
		{"for a while", 300 * time.Millisecond, 0, false},
		{"too long", time.Hour, 126, false},
		{"until a signal comes", time.Hour, 143, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "worker")
			write(t, path, "#!/bin/true\n", 0o755)
			argv := asGate(t, path) // which may have to build it first
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			time.AfterFunc(tt.writes, func() { f.Close() })
			cmd := exec.Command(argv[0], argv[1:]...)
			var out strings.Builder
			cmd.Stdout = &out
			start := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if tt.signal {
				time.AfterFunc(200*time.Millisecond, func() { cmd.Process.Signal(syscall.SIGTERM) })
			}
			cmd.Wait()
			got := cmd.ProcessState.ExitCode()
			if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
				got = 128 + int(status.Signal()) // it came while execve was being tried
			}
			if got != tt.want {
				t.Errorf("got %v %s, want exit %d", cmd.ProcessState, &out, tt.want)
			}
			if want := fmt.Sprint(envcheck.ExecDenied, " ", envcheck.Busy); tt.want == 126 && out.String() != want {
				t.Errorf("got %s, want %s", &out, want)
			}
			if d := time.Since(start); d > 20*time.Second || tt.want == 126 && d < busyFor {
				t.Errorf("took %v", d)
			}
		})
	}
}
