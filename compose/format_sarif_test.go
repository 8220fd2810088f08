package compose

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sarifSchema is what OASIS's schema says of the objects that are written.
func sarifSchema(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/sarif-2.1.0.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSARIF(t *testing.T) {
	holdTo(t, sarifSchema(t), write(t, "sarif", Report{}))
	text := write(t, "sarif", shown())
	holdTo(t, sarifSchema(t), text)
	var log sarifLog
	if err := json.Unmarshal([]byte(text), &log); err != nil {
		t.Fatal(err)
	}
	if len(log.Runs) != 1 {
		t.Fatalf("%d runs", len(log.Runs))
	}
	run := log.Runs[0]
	if len(run.Results) != 6 || len(run.Invocations[0].Notifications) != 2 || run.Invocations[0].Successful {
		t.Errorf("%d results, %d notifications, successful %t", len(run.Results), len(run.Invocations[0].Notifications), run.Invocations[0].Successful)
	}
	prints := map[string]bool{}
	for _, r := range run.Results {
		if rule := run.Tool.Driver.Rules[r.RuleIndex]; rule.ID != r.RuleID {
			t.Errorf("result of %s leads to rule %s", r.RuleID, rule.ID)
		}
		print := r.Fingerprints["startgate/v1"]
		if print == "" || prints[print] {
			t.Errorf("the fingerprint %q is empty, or that of two results", print)
		}
		prints[print] = true
	}
	first, last := run.Results[0], run.Results[5]
	if got := first.Locations[0].Logical; len(got) != 1 || got[0].Name != "services.worker" {
		t.Errorf("the logical location is %v", got)
	}
	if got := last.Suppressions; len(got) != 1 || got[0].Kind != "external" || got[0].Justification == "" {
		t.Errorf("the suppression is %v", got)
	}
	if got := last.Locations[0].Physical.Artifact.URI; strings.ContainsAny(got, " \n\"<>") || strings.HasPrefix(got, "/") {
		t.Errorf("the URI is %q", got)
	}
}

// GitHub recognises a result by its fingerprint when lines have moved.
func TestSARIFFingerprintStays(t *testing.T) {
	a := Finding{Rule: "SG104", Position: Position{"compose.yaml", 3, 5}, Service: "worker", Message: "m"}
	b := a
	b.Position.Line = 30
	c := a
	c.Service = "other"
	if a.fingerprint() != b.fingerprint() || a.fingerprint() == c.fingerprint() {
		t.Error("a line makes a fingerprint another one, or a service does not")
	}
}

func TestSARIFArtifacts(t *testing.T) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]sarifArtifact{
		"compose.yaml":                    {"compose.yaml", "%SRCROOT%"},
		"./deploy/../compose.yaml":        {"compose.yaml", "%SRCROOT%"},
		filepath.Join(here, "deploy/a b"): {"deploy/a%20b", "%SRCROOT%"},
		"a:b.yaml":                        {"./a:b.yaml", "%SRCROOT%"},
		"/elsewhere/compose.yaml":         {"file:///elsewhere/compose.yaml", ""},
		"50%.yaml":                        {"50%25.yaml", "%SRCROOT%"},
	} {
		if got := artifact(file); got != want {
			t.Errorf("%s is %v, want %v", file, got, want)
		}
	}
}

// The help of each rule leads to its heading.
func TestAnchors(t *testing.T) {
	headings := map[string]bool{}
	for line := range strings.Lines(pages) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			headings[anchor(strings.TrimSpace(heading))] = true
		}
	}
	for _, r := range Rules() {
		_, fragment, _ := strings.Cut(sarifRuleOf(r.ID).HelpURI, "#")
		if !headings[fragment] {
			t.Errorf("there is no heading for #%s", fragment)
		}
	}
}
