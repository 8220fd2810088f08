package compose

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// suppressRun checks files in a directory of its own. What is found is shown as
// RULE file:line, with the reason of what is suppressed.
func suppressRun(t *testing.T, files map[string]string, stub string) []string {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{EnvFileStub: stub}
	given := []string{"compose.yaml"}
	if files[ConfigName] != "" {
		var faults []Finding
		if o.Config, faults = LoadConfig(ConfigName); len(faults) > 0 {
			t.Fatal(faults)
		}
		if len(o.Config.Stacks) > 0 {
			given = nil
		}
	}
	r, err := Check(context.Background(), given, o)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range r.Findings {
		if f.Rule != absentEnvFile && f.Rule != badSuppression && f.Rule != notCompose {
			continue // of others
		}
		text := fmt.Sprintf("%s %s:%d", f.Rule, f.Position.File, f.Position.Line)
		if f.Suppressed != "" {
			text += " " + f.Suppressed
		}
		found = append(found, strings.TrimSpace(text))
	}
	return found
}

func TestSuppressions(t *testing.T) {
	const config = "version: 1\n"
	absent := func(comment string) string {
		return "services:\n  web:\n    image: nginx\n    env_file:\n      - absent.env" + comment + "\n"
	}
	two := "services:\n  a: {image: nginx, env_file: [absent.env]}\n  b: {image: nginx, env_file: [absent.env]}\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"none", map[string]string{"compose.yaml": absent("")}, []string{"SG104 compose.yaml:5"}},
		{"on the line", map[string]string{"compose.yaml": absent(" # sg:ignore SG104 -- it is made there")}, []string{"SG104 compose.yaml:5 it is made there"}},
		{"above it", map[string]string{"compose.yaml": strings.Replace(absent(""), "      - a", "      # sg:ignore SG104 -- made there\n      - a", 1)},
			[]string{"SG104 compose.yaml:6 made there"}},
		{"above it, with other comments between", map[string]string{"compose.yaml": strings.Replace(absent(""), "      - a", "      # sg:ignore SG104 -- made there\n\n      # of the host\n      - a", 1)},
			[]string{"SG104 compose.yaml:8 made there"}},
		{"two above it", map[string]string{"compose.yaml": strings.Replace(absent(""), "      - a", "      # sg:ignore SG105 -- x\n      # sg:ignore SG104 -- made there\n      - a", 1)},
			[]string{"SG108 compose.yaml:5", "SG104 compose.yaml:7 made there"}},
		{"on the line before", map[string]string{"compose.yaml": strings.Replace(absent(""), "env_file:", "env_file: # sg:ignore SG104 -- made there", 1)},
			[]string{"SG108 compose.yaml:4", "SG104 compose.yaml:5"}},
		{"for the file", map[string]string{"compose.yaml": "# sg:ignore-file SG104 -- made there\n" + two},
			[]string{"SG104 compose.yaml:3 made there", "SG104 compose.yaml:4 made there"}},
		{"two rules on one line", map[string]string{"compose.yaml": absent(" # sg:ignore SG105, SG104 -- made there")},
			[]string{"SG104 compose.yaml:5 made there", "SG108 compose.yaml:5"}},
		{"without a reason", map[string]string{"compose.yaml": absent(" # sg:ignore SG104")}, []string{"SG104 compose.yaml:5", "SG108 compose.yaml:5"}},
		{"with an empty reason", map[string]string{"compose.yaml": absent(" # sg:ignore SG104 -- ")}, []string{"SG104 compose.yaml:5", "SG108 compose.yaml:5"}},
		{"without a rule", map[string]string{"compose.yaml": absent(" # sg:ignore -- made there")}, []string{"SG104 compose.yaml:5", "SG108 compose.yaml:5"}},
		{"misspelt", map[string]string{"compose.yaml": absent(" # sg:ignored SG104 -- made there")}, []string{"SG104 compose.yaml:5", "SG108 compose.yaml:5"}},
		{"CR LF", map[string]string{"compose.yaml": strings.ReplaceAll(absent(" # sg:ignore SG104 -- made there"), "\n", "\r\n")}, []string{"SG104 compose.yaml:5 made there"}},
		{"unused in an env_file", map[string]string{
			"compose.yaml": "services:\n  web:\n    image: nginx\n    env_file: [web.env]\n", "web.env": "A=b\n# sg:ignore SG801 -- a password of nobody\nB=c\n",
		}, []string{"SG108 web.env:2"}},
		{"by configuration", map[string]string{"compose.yaml": two, ConfigName: config + "ignore:\n  - {rule: SG104, reason: made there}\n"},
			[]string{"SG104 compose.yaml:2 made there", "SG104 compose.yaml:3 made there"}},
		{"of one service", map[string]string{"compose.yaml": two, ConfigName: config + "ignore:\n  - {rule: SG104, service: b, reason: made there}\n"},
			[]string{"SG104 compose.yaml:2", "SG104 compose.yaml:3 made there"}},
		{"of one stack", map[string]string{
			"compose.yaml": absent(""), ConfigName: config + "stacks:\n  one: {files: [compose.yaml]}\n  two: {files: [compose.yaml]}\nignore:\n  - {rule: SG104, stack: two, reason: made there}\n",
		}, []string{"SG104 compose.yaml:5", "SG104 compose.yaml:5 made there"}},
		{"unused in the configuration", map[string]string{"compose.yaml": "services:\n  web: {image: nginx}\n", ConfigName: config + "ignore:\n  - {rule: SG104, service: web, reason: made there}\n"},
			[]string{"SG108 " + ConfigName + ":3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := suppressRun(t, c.files, ""); !slices.Equal(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// A list of ports may be put together of two files' and a base's.
func TestSuppressionOfPorts(t *testing.T) {
	t.Chdir(t.TempDir())
	const reason = " # sg:ignore SG803 -- it is meant\n"
	for name, text := range map[string]string{
		"compose.yaml":  "services:\n  redis:\n    image: redis:7\n    extends: {file: base.yaml, service: base}\n    ports:\n      - 127.0.0.1:1:1\n      - '6379:6379'" + reason,
		"base.yaml":     "services:\n  base:\n    ports:\n      - '6380:6380'" + reason,
		"override.yaml": "services:\n  redis:\n    ports:\n      - 127.0.0.1:2:2\n      - {target: 6381, published: 6381}" + reason,
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Check(context.Background(), []string{"compose.yaml", "override.yaml"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	suppressed := 0
	for _, f := range r.Findings {
		switch {
		case f.Rule == "SG803" && f.Suppressed != "":
			suppressed++
		case f.Rule == "SG803", f.Rule == badSuppression:
			t.Errorf("found %v", f)
		}
	}
	if suppressed != 3 {
		t.Errorf("%d are suppressed, want 3", suppressed)
	}
}

// A finding in an env_file is ignored there.
func TestSuppressionInEnvFile(t *testing.T) {
	u := &suppressions{}
	u.read("web.env", []byte("# sg:ignore SG801 -- of nobody\nA=b\nB=c # sg:ignore SG801 -- of nobody\n"))
	for line, want := range map[int]bool{1: false, 2: true, 3: true, 4: false} {
		f := &Finding{Rule: "SG801", Position: Position{"web.env", line, 1}}
		if got := slices.ContainsFunc(u.all, func(s suppression) bool { return s.suppresses(f) }); got != want {
			t.Errorf("line %d is ignored: %t", line, got)
		}
	}
}

func TestEnvFileStub(t *testing.T) {
	files := map[string]string{"compose.yaml": "services:\n  web:\n    image: nginx\n    env_file: [absent.env]\n", "example.env": "A=b\n"}
	if got := suppressRun(t, files, "example.env"); len(got) > 0 {
		t.Errorf("with a stub there is found %q", got)
	}
	files["example.env"] = "A=\"b\nC D\n"
	if got := suppressRun(t, files, "example.env"); !slices.Equal(got, []string{"SG102 compose.yaml:4"}) {
		t.Errorf("with a malformed stub there is found %q", got)
	}
}
