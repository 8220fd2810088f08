package compose

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// hostile is what a file's name may be made of.
const hostile = "dir,with:all %0A\n::error::of\"it\"<&>ä.yaml"

// shown is a report with everything that a format has to show.
func shown() Report {
	return Report{
		Files: []string{"compose.yaml", hostile},
		Cases: []Case{
			{Rule: notCompose, File: "compose.yaml"},
			{Rule: missingFile, File: "compose.yaml"},
			{Rule: "SG104", Service: "worker", File: "compose.yaml"},
			{Rule: "SG104", Service: "redis", File: "compose.yaml"},
			{Rule: "SG104", Stack: "prod", Service: "worker", File: hostile},
			{Rule: badSuppression, Stack: "prod", Service: "worker", File: hostile},
		},
		Findings: []Finding{
			{Rule: notCompose, Severity: Error, Position: Position{"compose.yaml", 3, 5}, Path: "services.worker.imge", Service: "worker", Message: "compose knows no such key", Fix: "see the specification", Unjudged: true},
			{Rule: missingFile, Severity: Error, Position: Position{File: "absent.yaml"}, Message: "the file is not there", Unjudged: true},
			{Rule: "SG104", Severity: Info, Position: Position{"compose.yaml", 9, 7}, Path: "services.worker.env_file.0", Service: "worker", Message: "an env_file of worker is not here", Code: "env_missing"},
			{Rule: badSuppression, Severity: Warn, Stack: "prod", Position: Position{hostile, 4, 1}, Service: "worker", Message: "SG105 is not ignored", Fix: "write the reason"},
			{Rule: badSuppression, Severity: Warn, Stack: "prod", Position: Position{hostile, 8, 1}, Service: "worker", Message: "SG105 is not ignored", Fix: "write the reason"},
			{Rule: "SG104", Severity: Info, Stack: "prod", Position: Position{hostile, 5, 0}, Service: "worker", Message: "an env_file of worker is not here", Suppressed: "it is made\nwhere \x1b it runs", outside: true},
		},
	}
}

// writers are all formats.
var writers = map[string]func(io.Writer, Report) error{
	"text":   func(w io.Writer, r Report) error { return WriteText(w, r, false, false) },
	"json":   func(w io.Writer, r Report) error { return WriteJSON(w, r, "v1") },
	"sarif":  func(w io.Writer, r Report) error { return WriteSARIF(w, r, "v1") },
	"junit":  func(w io.Writer, r Report) error { return WriteJUnit(w, r, Warn) },
	"github": WriteGitHub,
}

func write(t *testing.T, format string, r Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := writers[format](&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFormatsAreDeterministic(t *testing.T) {
	for format := range writers {
		first := write(t, format, shown())
		for range 20 {
			if again := write(t, format, shown()); again != first {
				t.Errorf("%s is\n%s\nand another time\n%s", format, first, again)
				break
			}
		}
	}
}

// holdTo validates text against a JSON Schema.
func holdTo(t *testing.T, schemaText, text string) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schemaText))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("not JSON: %v\n%s", err, text)
	}
	if err := c.MustCompile("schema.json").Validate(value); err != nil {
		t.Errorf("%v\nin\n%s", err, text)
	}
}

func TestJSON(t *testing.T) {
	holdTo(t, ReportSchema, write(t, "json", Report{}))
	text := write(t, "json", shown())
	holdTo(t, ReportSchema, text)
	var e envelope
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		t.Fatal(err)
	}
	if len(e.Findings) != 4 || len(e.Errors) != 2 {
		t.Errorf("%d findings and %d errors, want 4 and 2", len(e.Findings), len(e.Errors))
	}
	if want := (summary{Errors: 2, Warnings: 2, Remarks: 1, Suppressed: 1}); e.Summary != want {
		t.Errorf("the summary is %+v, want %+v", e.Summary, want)
	}
}

// Every member that is written is one that the schema describes.
func TestJSONSchemaIsWhole(t *testing.T) {
	closed := strings.ReplaceAll(ReportSchema, `"type": "object",`, `"type": "object", "additionalProperties": false,`)
	if strings.Count(closed, "additionalProperties") != 5 {
		t.Fatal("the schema has other objects than this test knows")
	}
	holdTo(t, closed, write(t, "json", shown()))
}

func TestText(t *testing.T) {
	text := write(t, "text", shown())
	for _, want := range []string{
		"compose.yaml:3:5: error SG102 services.worker.imge: compose knows no such key\n    fix: see the specification\n",
		"absent.yaml: error SG103: the file is not there\n",
		" info SG104 services.worker.env_file.0: an env_file of worker is not here (env_missing)\n",
		"\nstack prod\n", "\n2 errors, 2 warnings, 1 remark\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "where it runs") || strings.Contains(text, "\x1b") {
		t.Errorf("a suppressed finding is shown in\n%s", text)
	}
	var quiet, colored bytes.Buffer
	WriteText(&quiet, shown(), true, false)
	if strings.Contains(quiet.String(), "info") || strings.Contains(quiet.String(), "2 errors") {
		t.Errorf("quiet text has\n%s", quiet.String())
	}
	WriteText(&colored, shown(), false, true)
	if !strings.Contains(colored.String(), "\x1b[31merror\x1b[0m SG102") {
		t.Errorf("coloured text has\n%q", colored.String())
	}
}
