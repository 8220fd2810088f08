package compose

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// junitGrammar is what Jenkins' schema (junit-10.xsd) has of the elements that
// are written: their attributes, a * marking those that must be there, and what
// may stand in them.
var junitGrammar = map[string]struct{ attributes, children []string }{
	"testsuites": {[]string{"name", "time", "tests", "failures", "errors"}, []string{"testsuite"}},
	"testsuite": {
		[]string{"name*", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname", "id", "package", "file"},
		[]string{"testcase", "properties", "system-out", "system-err"},
	},
	"testcase": {
		[]string{"name*", "classname", "time", "status", "assertions", "class", "file", "line"},
		[]string{"skipped", "error", "failure", "system-out", "system-err"},
	},
	"skipped":    {[]string{"message", "type"}, nil},
	"error":      {[]string{"message", "type"}, nil},
	"failure":    {[]string{"message", "type"}, nil},
	"system-out": {},
}

// holdToJUnit reads the text as a strict consumer does.
func holdToJUnit(t *testing.T, text string) (elements map[string]int) {
	t.Helper()
	elements = map[string]int{}
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = true
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return elements
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			grammar, known := junitGrammar[name]
			if !known || len(open) == 0 && name != "testsuites" || len(open) > 0 && !slices.Contains(junitGrammar[open[len(open)-1]].children, name) {
				t.Errorf("%s stands in %v", name, open)
			}
			given := map[string]bool{}
			for _, a := range token.Attr {
				given[a.Name.Local] = true
				if !slices.Contains(grammar.attributes, a.Name.Local) && !slices.Contains(grammar.attributes, a.Name.Local+"*") {
					t.Errorf("%s has %s", name, a.Name.Local)
				}
			}
			for _, a := range grammar.attributes {
				if must, ok := strings.CutSuffix(a, "*"); ok && !given[must] {
					t.Errorf("%s lacks %s", name, must)
				}
			}
			elements[name]++
			open = append(open, name)
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

func TestJUnit(t *testing.T) {
	holdToJUnit(t, write(t, "junit", Report{}))
	text := write(t, "junit", shown())
	elements := holdToJUnit(t, text)
	var suites junitSuites
	if err := xml.Unmarshal([]byte(text), &suites); err != nil {
		t.Fatal(err)
	}
	if suites.Tests != len(shown().Cases) || elements["testcase"] != suites.Tests {
		t.Errorf("%d tests are said and %d written, of %d cases", suites.Tests, elements["testcase"], len(shown().Cases))
	}
	if suites.Errors != 2 || suites.Failures != 1 || elements["failure"] != 2 || elements["skipped"] != 1 {
		t.Errorf("%d errors, %d failures, %v", suites.Errors, suites.Failures, elements)
	}
	passed := 0
	for _, s := range suites.Suites {
		sum := 0
		for _, c := range s.Cases {
			if c.Errors == nil && c.Failures == nil && c.Skipped == nil {
				passed++
			} else {
				sum++
			}
		}
		if sum != s.Errors+s.Failures+s.Skipped || s.Tests != len(s.Cases) {
			t.Errorf("the numbers of suite %s are wrong", strconv.Quote(s.Name))
		}
	}
	if passed != 2 { // the service without a finding, and the one with a remark
		t.Errorf("%d cases passed, want 2", passed)
	}
	if !strings.Contains(text, `name="SG104 redis"`) {
		t.Errorf("what passed is not in\n%s", text)
	}
}

// What --fail-on passes over does not fail a case.
func TestJUnitThreshold(t *testing.T) {
	var b strings.Builder
	if err := WriteJUnit(&b, shown(), Error); err != nil {
		t.Fatal(err)
	}
	if n := holdToJUnit(t, b.String())["failure"]; n != 0 {
		t.Errorf("%d failures", n)
	}
}

// What is found in a service whose name is hidden belongs to its case.
func TestJUnitOfHiddenName(t *testing.T) {
	t.Chdir(t.TempDir())
	stack := "services:\n  " + strings.Repeat("w", 129) + ": {image: app, command: rq worker}\n"
	if err := os.WriteFile("compose.yaml", []byte(stack), 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := Check(context.Background(), []string{"compose.yaml"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if text := write(t, "junit", r); strings.Count(text, `name="SG606 (name hidden)"`) != 1 {
		t.Errorf("not one case for SG606 in\n%s", text)
	}
}
