package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// maxSize bounds the binary, in bytes: every worker's image carries it.
const maxSize = 10_500_000

func TestBinaryIsSmall(t *testing.T) {
	info, err := os.Stat(startgate)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxSize {
		t.Errorf("%d bytes, want %d at most", info.Size(), maxSize)
	}
}

// allowed are the modules that the binary is made of, with what each is for.
var allowed = map[string]string{
	"github.com/startgate/startgate":         "itself",
	"github.com/redis/go-redis/v9":           "asks Redis",
	"github.com/cespare/xxhash/v2":           "of go-redis",
	"go.uber.org/atomic":                     "of go-redis",
	"github.com/cenkalti/backoff/v4":         "proposes pauses",
	"github.com/kelseyhightower/envconfig":   "reads the settings",
	"github.com/jackc/pgx/v5":                "has PostgreSQL's messages",
	"go.yaml.in/yaml/v3":                     "reads contracts",
	"golang.org/x/crypto/x509roots/fallback": "has the roots for images without any",
	"golang.org/x/sys":                       "of x/term and go-redis",
	"golang.org/x/term":                      "tells a terminal",
}

// banned are packages of the standard library that must not come in, be it
// with a module.
var banned = map[string]string{
	"net/http":       "1 MB, and eleven packages more to initialise at every start",
	"os/exec":        "the gate starts nothing: it becomes the worker",
	"os/user":        "reads files of the image at start",
	"html/template":  "1 MB",
	"testing":        "registers flags",
	"plugin":         "loads code",
	"expvar":         "opens a port",
	"net/http/pprof": "opens a port",
}

// inward are the project's packages that each may import, one way only.
var inward = map[string][]string{
	"envcheck":      nil,
	"probe":         {"envcheck"},
	"gate":          {"envcheck", "probe"},
	"cmd/startgate": {"envcheck", "gate"},
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
		for _, i := range imports {
			if to, ours := strings.CutPrefix(i, module+"/"); ours && !slices.Contains(inward[from], to) {
				t.Errorf("%s imports %s", from, to)
			}
		}
		if from == "envcheck" && slices.Contains(imports, "net") {
			t.Error("envcheck knows of networks")
		}
	}
	for of := range allowed {
		if !used[of] {
			t.Errorf("%s is listed and not used", of)
		}
	}
}
