package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// maxSize bounds the binary, in bytes.
const maxSize = 12_000_000

func TestBinaryIsSmall(t *testing.T) {
	info, err := os.Stat(checker)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxSize {
		t.Errorf("%d bytes, want %d at most", info.Size(), maxSize)
	}
}

// allowed are the modules that the binary is made of, with what each is for.
var allowed = map[string]string{
	"github.com/startgate/startgate":           "itself",
	"github.com/compose-spec/compose-go/v2":    "merges compose files as docker compose does",
	"github.com/distribution/reference":        "of compose-go",
	"github.com/docker/go-connections":         "of compose-go",
	"github.com/docker/go-units":               "of compose-go",
	"github.com/go-viper/mapstructure/v2":      "of compose-go",
	"github.com/mattn/go-shellwords":           "of compose-go",
	"github.com/opencontainers/go-digest":      "of compose-go",
	"github.com/santhosh-tekuri/jsonschema/v6": "of compose-go",
	"github.com/sirupsen/logrus":               "of compose-go, and silenced",
	"github.com/xhit/go-str2duration/v2":       "of compose-go",
	"go.yaml.in/yaml/v3":                       "reads contracts",
	"go.yaml.in/yaml/v4":                       "reads compose files, and knows where things stand in them",
	"golang.org/x/sync":                        "of compose-go",
	"golang.org/x/sys":                         "of x/term",
	"golang.org/x/term":                        "tells a terminal",
	"golang.org/x/text":                        "of jsonschema",
}

// banned are packages that must not come in: the checker reads files, and that
// is all.
var banned = map[string]string{
	"net/http":                             "it asks nobody",
	"testing":                              "registers flags; compose.Test takes an interface",
	"plugin":                               "loads code",
	"github.com/startgate/startgate/gate":  "belongs to the worker's image",
	"github.com/startgate/startgate/probe": "connects",
}

func TestImports(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}`, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		path, of, _ := strings.Cut(strings.TrimSpace(line), " ")
		if why, found := banned[path]; found {
			t.Errorf("%s has come in: %s", path, why)
		}
		if used[of] = true; of != "" && allowed[of] == "" {
			t.Errorf("%s has come in, of a module that is not listed", path)
		}
	}
	for of := range allowed {
		if !used[of] {
			t.Errorf("nothing of %s is used any more", of)
		}
	}
}
