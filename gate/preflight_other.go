//go:build !linux

package gate

import (
	"os"
	"syscall"

	"github.com/startgate/startgate/envcheck"
)

// permission goes by the mode alone.
func permission(_ string, info os.FileInfo) refusal {
	if info.Mode()&0o111 == 0 {
		return refusal{syscall.EACCES, envcheck.NotExecutable}
	}
	return refusal{}
}

// inspect knows the formats of Linux only.
func inspect(string, string, int) (refusal, []envcheck.Reason) { return refusal{}, nil }

func tooLarge(_, _ []string) bool { return false }
