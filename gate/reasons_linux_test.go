package gate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

// A reason that no test names may be one that nothing ever gives.
func TestEveryReasonOfExecveIsTested(t *testing.T) {
	var tests strings.Builder
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(b)
	}
	source, err := parser.ParseFile(token.NewFileSet(), "../envcheck/reason_exec.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, decl := range source.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			constant := spec.(*ast.ValueSpec)
			name := constant.Names[0].Name
			reason := envcheck.Reason(strings.Trim(constant.Values[0].(*ast.BasicLit).Value, `"`))
			if seen++; !strings.Contains(tests.String(), "envcheck."+name) {
				t.Errorf("%s: no test names it", name)
			}
			switch fix := envcheck.ExecFix(reason); {
			case reason == envcheck.NameTooLong || reason == envcheck.FormatUnknown || reason == envcheck.ExecFailed:
				// the code says it all
			case fix == "":
				t.Errorf("%s: nothing says what to do about it", reason)
			}
		}
	}
	if seen == 0 {
		t.Error("found no reasons")
	}
}
