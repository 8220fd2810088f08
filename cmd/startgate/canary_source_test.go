package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The suite tries what a process prints; this looks for the doors through
// which a value could get there at all. A diagnostic has room for codes, keys,
// reasons and words only, so that a value must first be converted to one, or
// leave its seal, or come as an error's text. Each place that does so is
// listed in canary_allowed_test.go with the reason why no value gets through.

func TestNothingBecomesPrintable(t *testing.T) {
	compare(t, "makes something printable", conversionsIn(sources(t)), conversions)
}

func TestSealsThatAreBroken(t *testing.T) {
	compare(t, "reveals a value", revealsIn(sources(t)), reveals)
}

func TestErrorsAreNotTexts(t *testing.T) {
	compare(t, "makes a text of an error", errorTextsIn(sources(t)), errorTexts)
}

// sources parses all files, whichever system they are for.
func sources(t *testing.T) (files []sourceFile) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch base := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && name != root && (strings.HasPrefix(base, ".") || base == "testdata"):
			return filepath.SkipDir
		case entry.IsDir(), !strings.HasSuffix(base, ".go"), strings.HasSuffix(base, "_test.go"):
			return nil
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		files = append(files, sourceFile{path.Dir(filepath.ToSlash(rel)), path.Base(filepath.ToSlash(rel)), syntax})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// compare holds what was found against the list of what may be there.
func compare(t *testing.T, does string, found []finding, allowed map[finding]string) {
	t.Helper()
	for _, f := range slices.Compact(slices.Sorted(slices.Values(found))) {
		if allowed[f] == "" {
			t.Errorf("%s %s: no value may get through, and if none can, list it with the reason", f, does)
		}
	}
	for f, reason := range allowed {
		if !slices.Contains(found, f) {
			t.Errorf("%s is listed (%s) and gone: delete it from the list", f, reason)
		}
	}
}

// TestSourceCheckFindsDoors has a file with a door in every second line.
func TestSourceCheckFindsDoors(t *testing.T) {
	const planted = `package gate
import "errors"
import "fmt"
import "log"
import check "github.com/startgate/startgate/envcheck"
type mode check.Word
type kind = mode
var fine = check.Word("constant")
var err = errors.New("fine: a constant")
func door(v string, s check.Secret) {
	_, _, _ = check.Code(v), (check.Key)("A" + v), check.Reason(v[1:])
	_, _, _ = check.Word(fmt.Sprint(v)), mode(v), kind(v)
	_ = s.Reveal
	_ = fmt.Errorf("it is %w: %s", err, err.Error())
	log.Print(v)
}`
	syntax, err := parser.ParseFile(token.NewFileSet(), "door.go", planted, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	files := []sourceFile{{"gate", "door.go", syntax}}
	for name, found := range map[string]struct{ got, want int }{
		"conversions": {len(conversionsIn(files)), 6},
		"reveals":     {len(revealsIn(files)), 1},
		"error texts": {len(errorTextsIn(files)), 4}, // import, Errorf, its verb, Error
	} {
		if found.got != found.want {
			t.Errorf("of %d planted %s, %d are found", found.want, name, found.got)
		}
	}
}
