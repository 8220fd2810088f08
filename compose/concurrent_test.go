package compose

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
)

// Checks may run side by side, as tests of several stacks do.
func TestChecksSideBySide(t *testing.T) {
	files, err := filepath.Glob("../examples/*/compose.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no examples")
	}
	var all sync.WaitGroup
	for _, file := range files {
		all.Go(func() {
			if _, err := Check(context.Background(), []string{file}, Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
