package compose

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
)

// FuzzCompose checks any text as a compose file, beside another file and an
// env_file that it can name. Nothing panics, every finding stands in a line
// that is there, and every format can be written.
func FuzzCompose(f *testing.F) {
	for _, file := range []string{"testdata/schema.yaml", "../examples/rq/compose.yaml", "../examples/bullmq/compose.yaml", "../examples/celery/compose.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, r := range Rules() {
		if page, ok := Explain(r.ID); ok {
			for _, m := range fence.FindAllStringSubmatch(page, -1) {
				if m[1] == "yaml" {
					f.Add([]byte(m[3]))
				}
			}
		}
	}
	for _, text := range []string{
		"services: {a: &a {<<: [*a, *a], image: x}}", "services: {a: &a [*a]}", "include: [compose.yaml]", "services: {a: {extends: {service: a}}}",
		"services: {a: {extends: {file: other.yaml, service: b}, env_file: [x.env]}}\n---\nservices: {a: !reset null}\n", "services:\n  a:\n    image: !override x\n",
		"services: {? [a]: b, 1: {2: 3}, null: ~}", "services: {a: {environment: {A: ${B:-${C:-${D?}}}}}}", "a: [", "\xff\xfe\x00", "# sg:ignore SG101", "services: {a: null}", "services: {}\n---\n", "0: {}\nservices: {}\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		lines := map[string]int{}
		for name, content := range map[string][]byte{
			"compose.yaml": text, "other.yaml": []byte("services:\n  b: {image: app, command: rq worker}\n"), "x.env": []byte("A=b\nREDIS_URL=redis://redis\n"),
		} {
			if err := os.WriteFile(dir+"/"+name, content, 0o600); err != nil {
				t.Fatal(err)
			}
			lines[dir+"/"+name] = bytes.Count(content, []byte("\n")) + bytes.Count(content, []byte("\r")) + 1 + strings.Count(string(content), "\u0085") +
				strings.Count(string(content), "\u2028") + strings.Count(string(content), "\u2029")
		}
		r, err := Check(context.Background(), []string{dir + "/compose.yaml"}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, finding := range r.Findings {
			last, known := lines[finding.Position.File]
			if !known || finding.Position.Line > last {
				t.Errorf("%s is found at %s, and there are %d lines", finding.Rule, finding.Position, last)
			}
		}
		if os.Getenv("STARTGATE_TEST_FULL") == "1" { // a search, and not what a change must pass: that is TestMergeIsTheLoaders
			compareLoader(t, dir+"/compose.yaml")
			compareLoader(t, dir+"/other.yaml", dir+"/compose.yaml")
		}
		for format, write := range writers {
			if err := write(&bytes.Buffer{}, r); err != nil {
				t.Errorf("%s: %v", format, err)
			}
		}
	})
}
