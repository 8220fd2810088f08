//go:build !linux

package gate

import "os"

// dispositions are left to the Go runtime: the gate's images are Linux's.
type dispositions struct{}

func (dispositions) reset([]os.Signal)   {}
func (dispositions) restore([]os.Signal) {}
