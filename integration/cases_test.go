package integration

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// behaviourCases is how many there are.
const behaviourCases = 66

// A behaviourCase is a line of the table of cases.
type behaviourCase struct {
	number int
	name   string
	tests  []string // none for what is not built
}

// TestBehaviourCases sees to it that each case has tests that exist, and prints
// the table. Which of them ran is for those who read the results of all
// packages: .ci/noskip.go does, by the same table.
func TestBehaviourCases(t *testing.T) {
	all := readCases(t)
	sources := map[string]*testSource{}
	var table strings.Builder
	for _, c := range all {
		fmt.Fprintf(&table, "%2d  %-41s", c.number, c.name)
		if len(c.tests) == 0 {
			table.WriteString("not built\n")
		}
		for i, name := range c.tests {
			if i > 0 {
				fmt.Fprintf(&table, "%45s", "")
			}
			fmt.Fprintln(&table, name)
			dir, test, _ := strings.Cut(name, ".")
			if sources[dir] == nil {
				sources[dir] = parseTests(t, dir)
			}
			if !sources[dir].has(test) {
				t.Errorf("case %d, %s: there is no %s", c.number, c.name, name)
			}
		}
	}
	for i := range behaviourCases {
		if i >= len(all) || all[i].number != i+1 {
			t.Fatalf("case %d is not where it belongs", i+1)
		}
	}
	if len(all) > behaviourCases {
		t.Errorf("%d cases, want %d", len(all), behaviourCases)
	}
	t.Logf("\n%s", &table)
}

func readCases(t *testing.T) (all []behaviourCase) {
	t.Helper()
	text, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "|")
		number, err := strconv.Atoi(strings.TrimSpace(fields[0]))
		if err != nil || len(fields) != 3 {
			t.Fatalf("not a case: %s", line)
		}
		c := behaviourCase{number: number, name: strings.TrimSpace(fields[1])}
		if tests := strings.TrimSpace(fields[2]); tests != "not built" {
			c.tests = strings.Split(tests, "; ")
		}
		all = append(all, c)
	}
	return all
}

// A testSource is what the tests of one directory define.
type testSource struct {
	functions map[string]bool
	texts     map[string]bool // literals: subtests are named by them
}

func parseTests(t *testing.T, dir string) *testSource {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	s := &testSource{map[string]bool{}, map[string]bool{}}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil {
					s.functions[n.Name.Name] = true
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
					s.texts[text] = true
				}
			}
			return true
		})
	}
	return s
}

// has reports whether there is a test of this name. The rest of a name after a
// slash is one text, or several that slashes part.
func (s *testSource) has(test string) bool {
	function, rest, nested := strings.Cut(test, "/")
	if !strings.HasPrefix(function, "Test") || !s.functions[function] {
		return false
	}
	if !nested || s.texts[rest] {
		return true
	}
	for part := range strings.SplitSeq(rest, "/") {
		if !s.texts[part] {
			return false
		}
	}
	return true
}
