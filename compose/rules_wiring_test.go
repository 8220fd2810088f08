package compose

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

// wiring is what is given to a check in the tests of the gate, of dependencies
// and of healthchecks.
type wiring struct {
	files   map[string]string // beside compose.yaml; with override.yaml it is given too
	config  string
	environ []string
	bare    bool // without a contract
}

// found are the findings about a compose file, as RULE/severity, of the rules
// that begin with a prefix.
func (w wiring) found(t *testing.T, file, prefix string) []string {
	t.Helper()
	t.Chdir(t.TempDir())
	files := []string{"compose.yaml"}
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("compose.yaml", file)
	for name, text := range w.files {
		write(name, text)
		if name == "override.yaml" {
			files = append(files, name)
		}
	}
	o := Options{Environ: w.environ}
	if !w.bare {
		contract, faults := envcheck.Load(strings.NewReader(pageContract))
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		o.Contract = contract
	}
	if w.config != "" {
		write(ConfigName, w.config)
		var faults []Finding
		if o.Config, faults = LoadConfig(ConfigName); faults != nil {
			t.Fatal(faults)
		}
	}
	r, err := Check(context.Background(), files, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Unjudged() {
		t.Fatalf("the example is not judged: %v", r.Findings)
	}
	var found []string
	for _, f := range r.Findings {
		if strings.HasPrefix(f.Rule, prefix) {
			found = append(found, f.Rule+"/"+string(f.Severity))
		}
	}
	slices.Sort(found)
	return found
}

// wired is a case of the tables below.
type wired struct {
	name string
	file string
	wiring
	want string // RULE/severity, separated by blanks
}

func runWired(t *testing.T, prefix string, cases []wired) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(c.found(t, c.file, prefix), " "); got != c.want {
				t.Errorf("found %q, want %q in\n%s", got, c.want, c.file)
			}
		})
	}
}
