package main

import (
	"fmt"
	"go/types"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// apiFile is the exported API as it was last agreed on. UPDATE_GOLDEN=1 writes
// it anew: what is gone or changed in the diff is a major version.
const apiFile = "testdata/api.txt"

func TestAPI(t *testing.T) {
	const module = "github.com/startgate/startgate/"
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes, Dir: "../.."},
		"./envcheck", "./probe/...", "./gate")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, p := range loaded {
		for _, e := range p.Errors {
			t.Fatal(e)
		}
		short := func(other *types.Package) string {
			if other == p.Types {
				return ""
			}
			return other.Name()
		}
		scope := p.Types.Scope()
		for _, name := range scope.Names() {
			if o := scope.Lookup(name); o.Exported() {
				for _, line := range apiOf(o, short) {
					fmt.Fprintf(&b, "%s: %s\n", strings.TrimPrefix(p.PkgPath, module), line)
				}
			}
		}
	}
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(apiFile, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(apiFile)
	if err != nil {
		t.Fatal(err)
	}
	agreed, now := strings.Split(string(golden), "\n"), strings.Split(b.String(), "\n")
	for _, line := range agreed {
		if !slices.Contains(now, line) {
			t.Errorf("gone: %s", line)
		}
	}
	for _, line := range now {
		if !slices.Contains(agreed, line) {
			t.Errorf("new: %s", line)
		}
	}
}

// apiOf is an object of a package's API, a type with its fields and methods.
func apiOf(o types.Object, q types.Qualifier) []string {
	name, ok := o.(*types.TypeName)
	if !ok {
		line := types.ObjectString(o, q)
		if c, ok := o.(*types.Const); ok {
			line += " = " + c.Val().ExactString()
		}
		return []string{line}
	}
	line := "type " + o.Name()
	underlying := o.Type().Underlying()
	s, isStruct := underlying.(*types.Struct)
	if !isStruct {
		line += " " + types.TypeString(underlying, q)
	}
	if name.IsAlias() {
		line = "type " + o.Name() + " = " + types.TypeString(types.Unalias(o.Type()), q)
		return []string{line}
	}
	lines := []string{line}
	if isStruct {
		for f := range s.Fields() {
			if f.Exported() {
				lines = append(lines, fmt.Sprintf("type %s, field %s %s", o.Name(), f.Name(), types.TypeString(f.Type(), q)))
			}
		}
	}
	if types.IsInterface(underlying) {
		return lines
	}
	methods := types.NewMethodSet(types.NewPointer(o.Type()))
	for m := range methods.Methods() {
		if m.Obj().Exported() {
			lines = append(lines, types.ObjectString(m.Obj(), q))
		}
	}
	return lines
}
