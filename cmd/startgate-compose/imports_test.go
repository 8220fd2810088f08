package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// maxSize bounds the binary, in bytes: it is downloaded at every run of CI.
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
	"github.com/compose-spec/compose-go/v2":    "loads compose files as the engine does",
	"go.yaml.in/yaml/v3":                       "reads contracts",
	"go.yaml.in/yaml/v4":                       "of compose-go; tells where things stand",
	"golang.org/x/term":                        "tells a terminal",
	"github.com/sirupsen/logrus":               "of compose-go, silenced",
	"github.com/distribution/reference":        "of compose-go",
	"github.com/docker/go-connections":         "of compose-go",
	"github.com/docker/go-units":               "of compose-go",
	"github.com/go-viper/mapstructure/v2":      "of compose-go",
	"github.com/mattn/go-shellwords":           "of compose-go",
	"github.com/opencontainers/go-digest":      "of compose-go",
	"github.com/santhosh-tekuri/jsonschema/v6": "of compose-go",
	"github.com/xhit/go-str2duration/v2":       "of compose-go",
	"golang.org/x/sync":                        "of compose-go",
	"golang.org/x/sys":                         "of x/term",
	"golang.org/x/text":                        "of compose-go",
}

func TestImports(t *testing.T) {
	const module = "github.com/startgate/startgate"
	cmd := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}`, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		path, of, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if of != "" && allowed[of] == "" {
			t.Errorf("%s has come in, of a module that is not listed: %s", path, of)
		}
		if path == module+"/gate" || path == module+"/probe" {
			t.Errorf("%s has come in: files are judged without a network", path)
		}
	}
}
