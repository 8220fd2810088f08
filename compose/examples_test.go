package compose

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// instruction is one of a Dockerfile, in its exec form.
var instruction = regexp.MustCompile(`(?m)^(ENTRYPOINT|CMD) (\[.*\])$`)

// imageOf is what the Dockerfile of an example says of its image.
func imageOf(t *testing.T, dir string) Image {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	checked := strings.Contains(string(text), "\nHEALTHCHECK ")
	image := Image{Healthcheck: &checked}
	for _, m := range instruction.FindAllStringSubmatch(string(text), -1) {
		var args []string
		if err := json.Unmarshal([]byte(m[2]), &args); err != nil {
			t.Fatal(err)
		}
		if m[1] == "CMD" {
			image.Cmd = args
		} else {
			image.Entrypoint = args
		}
	}
	if image.Entrypoint == nil || image.Cmd == nil {
		t.Fatalf("the Dockerfile in %s does not say how its image starts", dir)
	}
	return image
}

// TestExamplesAreClean judges the project's own stacks as their
// startgate.compose.yaml has them, which is to say of the images what the
// Dockerfiles do.
func TestExamplesAreClean(t *testing.T) {
	files, err := filepath.Glob("../examples/*/compose*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatalf("there are %d compose files, and an error: %v", len(files), err)
	}
	judged := map[string][]string{} // by the examples' directories
	for _, file := range files {
		dir := filepath.Dir(file)
		if judged[dir] == nil {
			t.Run(filepath.Base(dir), func(t *testing.T) { judged[dir] = checkExample(t, dir) })
		}
		if !slices.Contains(judged[dir], file) {
			t.Errorf("%s is in no stack of its startgate.compose.yaml", file)
		}
	}
}

// checkExample judges an example and returns its compose files.
func checkExample(t *testing.T, dir string) []string {
	config, faults := LoadConfig(filepath.Join(dir, ConfigName))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for name, image := range config.Images {
		if want := imageOf(t, dir); !reflect.DeepEqual(image, want) {
			t.Errorf("of %s is said %v, want %v", name, image, want)
		}
	}
	r, err := Check(context.Background(), nil, Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Severity.AtLeast(Warn) {
			t.Errorf("%s: %s %s: %s", f.Position, f.Severity, f.Rule, f.Message)
		}
	}
	for _, file := range r.Files {
		s := load(context.Background(), "", []string{file}, &Options{Config: config})
		for _, v := range s.services {
			if v.at("build").exists() && (v.role != worker || v.gating() != gated) {
				t.Errorf("%s of %s is not seen to be a worker behind the gate", v.name, file)
			}
		}
	}
	return r.Files
}
