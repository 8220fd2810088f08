package main

import (
	"bytes"
	"go/ast"
	"go/printer"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// envcheckPath is the package that owns the types that can be printed.
const envcheckPath = "github.com/startgate/startgate/envcheck"

// guarded are the directories of the ENTRYPOINT binary.
var guarded = []string{"envcheck", "probe", "gate", "cmd/startgate"}

// sourceFile is a file of the module that is no test.
type sourceFile struct {
	dir, name string // dir is slashed and relative to the module
	syntax    *ast.File
}

// A finding is an expression that is to be on a list.
type finding string

// finding names the place by file and function, since lines move.
func (f sourceFile) finding(function string, node ast.Node) finding {
	var b bytes.Buffer
	printer.Fprint(&b, token.NewFileSet(), node)
	return finding(f.dir + "/" + f.name + " " + function + ": " + strings.Join(strings.Fields(b.String()), " "))
}

// inspect calls visit for every node, with the name of its function.
func (f sourceFile) inspect(visit func(function string, node ast.Node)) {
	for _, decl := range f.syntax.Decls {
		function := "(none)"
		if d, ok := decl.(*ast.FuncDecl); ok {
			function = d.Name.Name
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			if n != nil {
				visit(function, n)
			}
			return true
		})
	}
}

// majorVersion is the end of an import path that is no part of the package's
// name.
var majorVersion = regexp.MustCompile(`/v[0-9]+$`)

// imported returns the path of the package that e names, "" for none.
func (f sourceFile) imported(e ast.Expr) string {
	id, ok := e.(*ast.Ident)
	if !ok {
		return ""
	}
	for _, spec := range f.syntax.Imports {
		p := strings.Trim(spec.Path.Value, `"`)
		name := strings.TrimPrefix(path.Base(majorVersion.ReplaceAllString(p, "")), "go-")
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == id.Name {
			return p
		}
	}
	return ""
}

// constant reports whether e is made of literals alone.
func constant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.ParenExpr:
		return constant(e.X)
	case *ast.BinaryExpr:
		return constant(e.X) && constant(e.Y)
	}
	return false
}

// printable are the types that a diagnostic prints, and all that are declared
// from them: by directory and name.
func printable(files []sourceFile) map[string]bool {
	types := map[string]bool{"envcheck.Code": true, "envcheck.Key": true, "envcheck.Reason": true, "envcheck.Word": true}
	for known := 0; known < len(types); {
		known = len(types)
		for _, f := range files {
			f.inspect(func(_ string, n ast.Node) {
				if spec, ok := n.(*ast.TypeSpec); ok && types[f.typeName(spec.Type)] {
					types[f.dir+"."+spec.Name.Name] = true
				}
			})
		}
	}
	return types
}

// typeName is the directory and name of a type, "" when it has none.
func (f sourceFile) typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.typeName(e.X)
	case *ast.Ident:
		return f.dir + "." + e.Name
	case *ast.SelectorExpr:
		if p, ok := strings.CutPrefix(f.imported(e.X), path.Dir(envcheckPath)+"/"); ok {
			return p + "." + e.Sel.Name
		}
	}
	return ""
}

// conversionsIn finds what makes something printable outside of the package
// that owns the types.
func conversionsIn(files []sourceFile) (found []finding) {
	types := printable(files)
	for _, f := range files {
		if f.dir == "envcheck" {
			continue
		}
		for _, spec := range f.syntax.Imports {
			if spec.Name != nil && spec.Name.Name == "." {
				found = append(found, f.finding("import", spec)) // conversions would not show
			}
		}
		f.inspect(func(function string, n ast.Node) {
			call, ok := n.(*ast.CallExpr)
			if ok && len(call.Args) == 1 && types[f.typeName(call.Fun)] && !constant(call.Args[0]) {
				found = append(found, f.finding(function, call))
			}
		})
	}
	return found
}

// revealsIn finds where a value leaves its seal.
func revealsIn(files []sourceFile) (found []finding) {
	for _, f := range files {
		f.inspect(func(function string, n ast.Node) {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Reveal" {
				found = append(found, f.finding(function, s))
			}
		})
	}
	return found
}

// errorTextsIn finds what makes a text of an error, or an error of a text, in
// the ENTRYPOINT binary.
func errorTextsIn(files []sourceFile) (found []finding) {
	for _, f := range files {
		if !slices.Contains(guarded, f.dir) {
			continue
		}
		for _, spec := range f.syntax.Imports {
			if p := strings.Trim(spec.Path.Value, `"`); p == "log" || p == "log/slog" {
				found = append(found, f.finding("import", spec))
			}
		}
		f.inspect(func(function string, n ast.Node) {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				errorf := n.Sel.Name == "Errorf" && f.imported(n.X) == "fmt"
				if errorf || n.Sel.Name == "Error" && f.imported(n.X) == "" {
					found = append(found, f.finding(function, n))
				}
			case *ast.BasicLit:
				if n.Kind == token.STRING && strings.Contains(n.Value, "%w") {
					found = append(found, f.finding(function, n))
				}
			}
		})
	}
	return found
}
