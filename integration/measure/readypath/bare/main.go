//go:build unix

// Bare becomes its argument at once: the least that a gate in Go can cost.
package main

import (
	"os"
	"syscall"
)

func main() {
	syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	os.Exit(127)
}
