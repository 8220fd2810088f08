//go:build !linux

package gate

import "github.com/startgate/startgate/envcheck"

// KernelEnviron is nil: only Linux shows it.
func KernelEnviron() envcheck.Environ { return nil }
