package gate

import "github.com/startgate/startgate/envcheck"

// maxEnviron is more than execve takes (execve(2): 6 MB on Linux).
const maxEnviron = 8 << 20

// KernelEnviron is the process's environment as the kernel has it, in which
// names can stand twice: the Go runtime drops all but the first before main.
// It is nil where it cannot be read.
func KernelEnviron() envcheck.Environ {
	raw, err := slurp("/proc/self/environ", maxEnviron)
	if err != nil {
		return nil
	}
	return envcheck.ParseEnviron(raw)
}
