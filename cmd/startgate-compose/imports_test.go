package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// maxSize bounds the binary, in bytes: CI downloads it for each run.
const maxSize = 12_000_000

func TestBinaryIsSmall(t *testing.T) {
	info, err := os.Stat(checker)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if info.Size() > maxSize {
		t.Errorf("%d bytes, want %d at most", info.Size(), maxSize)
	}
}

// allowed are the modules that the binary is made of, with what each is for.
var allowed = map[string]string{
	"github.com/startgate/startgate":           "itself",
	"github.com/compose-spec/compose-go/v2":    "loads and merges compose files",
	"github.com/distribution/reference":        "of compose-go: names of images",
	"github.com/docker/go-connections":         "of compose-go: ports",
	"github.com/docker/go-units":               "of compose-go: sizes",
	"github.com/go-viper/mapstructure/v2":      "of compose-go: maps to its types",
	"github.com/mattn/go-shellwords":           "of compose-go: splits commands",
	"github.com/opencontainers/go-digest":      "of reference: digests",
	"github.com/santhosh-tekuri/jsonschema/v6": "of compose-go: the schema of compose files",
	"github.com/sirupsen/logrus":               "of compose-go: its warnings, which are thrown away",
	"github.com/xhit/go-str2duration/v2":       "of compose-go: durations in days and weeks",
	"go.yaml.in/yaml/v3":                       "reads contracts",
	"go.yaml.in/yaml/v4":                       "reads compose files with positions",
	"golang.org/x/sync":                        "of compose-go: loads in parallel",
	"golang.org/x/sys":                         "of x/term and logrus",
	"golang.org/x/term":                        "tells a terminal",
	"golang.org/x/text":                        "of jsonschema: the wording of its errors",
}

// banned are packages of the standard library that must not come in, be it
// with a module.
var banned = map[string]string{
	"net/http":       "nothing is fetched: files are judged where they are",
	"crypto/tls":     "nothing is fetched: files are judged where they are",
	"html/template":  "1 MB",
	"text/template":  "keeps the linker from dropping methods",
	"testing":        "registers flags",
	"plugin":         "loads code",
	"expvar":         "opens a port",
	"net/http/pprof": "opens a port",
}

// inward are the project's packages that each may import, one way only.
var inward = map[string][]string{
	"envcheck":              nil,
	"compose":               {"envcheck"},
	"cmd/startgate-compose": {"compose", "envcheck"},
}

func TestImports(t *testing.T) {
	const module = "github.com/startgate/startgate"
	cmd := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}} {{with .Module}}{{.Path}}{{end}} {{join .Imports ","}}`, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		path, of, imports := parts[0], parts[1], strings.Split(parts[2], ",")
		if why, found := banned[path]; found {
			t.Errorf("%s has come in: %s", path, why)
		}
		if used[of] = true; of != "" && allowed[of] == "" {
			t.Errorf("%s has come in, of a module that is not listed", path)
		}
		from, ours := strings.CutPrefix(path, module+"/")
		if !ours {
			continue
		}
		if _, known := inward[from]; !known {
			t.Errorf("%s has come in", from)
		}
		for _, i := range imports {
			if to, ours := strings.CutPrefix(i, module+"/"); ours && !slices.Contains(inward[from], to) {
				t.Errorf("%s imports %s", from, to)
			}
			if i == "os/exec" && ours {
				t.Errorf("%s starts programs", from)
			}
		}
	}
	for of := range allowed {
		if !used[of] {
			t.Errorf("%s is listed and not used", of)
		}
	}
}
