//go:build !linux

package gate

import "errors"

// Only Linux shows which process became the worker.

func statePaths(string) []string { return nil }

func writeState(string, []byte) error { return errors.ErrUnsupported }

func ours(string) bool { return false }

func ownedByProcess(string, int) bool { return false }

func self() (int, uint64, error) { return 0, 0, errors.ErrUnsupported }

func startTime(int) (uint64, error) { return 0, errors.ErrUnsupported }
