package gate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
)

// wallClock are the methods and functions whose time is the wall clock's: it
// can be set while the gate waits, and Go's times are safe from that only for
// as long as they keep what they have from the monotonic clock.
var wallClock = []string{
	"Round", "Truncate", "UTC", "Local", "In", "AddDate", "Unix", "UnixMilli", "UnixMicro", "UnixNano",
	"Date", "Parse", "ParseInLocation", "MarshalJSON", "UnmarshalText", "UnmarshalJSON",
}

// Nothing that decides how long the gate goes on is reckoned by the wall clock.
// A test cannot set the machine's clock, so this one looks at what the packages
// of the wait call.
func TestWaitsGoByTheMonotonicClock(t *testing.T) {
	// These say when something was, to people and to health.
	allowed := []string{"gate/state.go UTC", "probe/heartbeat.go Unix", "probe/heartbeat.go UnixMilli", "probe/heartbeat.go Parse"}
	var found []string
	for _, pattern := range []string{"*.go", "../probe/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if len(path) > 8 && path[len(path)-8:] == "_test.go" {
				continue
			}
			for _, call := range wallClockCalls(t, path) {
				name := filepath.ToSlash(filepath.Join("gate", path)) + " " + call
				if found = append(found, name); !slices.Contains(allowed, name) {
					t.Errorf("%s: loses the monotonic clock", name)
				}
			}
		}
	}
	for _, name := range allowed {
		if !slices.Contains(found, name) {
			t.Errorf("%s is not there any more", name)
		}
	}
}

// wallClockCalls are the calls of these names in a file that imports time.
func wallClockCalls(t *testing.T, path string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"time"` }) {
		return nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if selector, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains(wallClock, selector.Sel.Name) {
				names = append(names, selector.Sel.Name)
			}
		}
		return true
	})
	return names
}
