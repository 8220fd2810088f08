package compose_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/startgate/startgate/compose"
)

func ExampleCheck() {
	report, err := compose.Check(context.Background(), []string{"testdata/example.yaml"}, compose.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range report.Findings {
		fmt.Println(f.Position, f.Severity, f.Rule, f.Service)
	}
	fmt.Println("failed:", report.Failed(compose.Warn))
	// Output:
	// testdata/example.yaml:4:19 error SG504 redis
	// failed: true
}

// A test of a repository's own files.
func ExampleTest() {
	_ = func(t *testing.T) {
		config, faults := compose.LoadConfig("testdata/deployment/startgate.compose.yaml")
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		compose.Test(t, nil, compose.Options{Config: config})
	}
}
