//go:build !linux

package gate

// DeathSignal is false: only Linux has one.
func DeathSignal() bool { return false }
