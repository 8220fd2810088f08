package gate

import (
	"os"

	"github.com/startgate/startgate/envcheck"
)

// KernelEnviron is the process's environment as the kernel has it, in which
// names can stand twice: the Go runtime drops all but the first before main.
// It is nil where it cannot be read.
func KernelEnviron() envcheck.Environ {
	raw, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		return nil
	}
	return envcheck.ParseEnviron(raw)
}
