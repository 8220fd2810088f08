//go:build !linux

package gate

import (
	"io"
	"os"
)

// slurp reads a file up to limit bytes.
func slurp(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
