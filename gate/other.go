//go:build !linux

package gate

import (
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/startgate/startgate/envcheck"
)

// What only Linux has or shows. Elsewhere the gate is developed, not run.

// DeathSignal is false: there is none.
func DeathSignal() bool { return false }

// KernelEnviron is nil: it is not known.
func KernelEnviron() envcheck.Environ { return nil }

// dispositions are left to the Go runtime.
type dispositions struct{}

func (dispositions) reset([]os.Signal)   {}
func (dispositions) restore([]os.Signal) {}

// slurp reads a file up to limit bytes.
func slurp(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// permission goes by the mode alone.
func permission(_ string, info os.FileInfo) refusal {
	if info.Mode()&0o111 == 0 {
		return refusal{syscall.EACCES, envcheck.NotExecutable}
	}
	return refusal{}
}

func inspect(string, string, int) (refusal, []envcheck.Reason) { return refusal{}, nil }
func tooLarge(_, _ []string) bool                              { return false }

func statePaths(string) []string      { return nil }
func writeState(string, []byte) error { return errors.ErrUnsupported }
func ours(string) bool                { return false }
func ownedByProcess(string, int) bool { return false }
func self() (int, uint64, error)      { return 0, 0, errors.ErrUnsupported }
func startTime(int) (uint64, error)   { return 0, errors.ErrUnsupported }
