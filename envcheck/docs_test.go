package envcheck

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = os.Getenv("UPDATE_GOLDEN") != ""

// golden compares got with a file of testdata; UPDATE_GOLDEN=1 writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what is written now; UPDATE_GOLDEN=1 go test writes it:\n%s", path, got)
	}
}

func TestDocs(t *testing.T) {
	for _, name := range []string{"bullmq", "rq"} {
		c := loadFile(t, "../examples/"+name+"/contract.yaml")
		golden(t, name+".docs.md", c.Docs())
		golden(t, name+".env.example", c.Example())
		for _, k := range c.Keys {
			if !strings.Contains(c.Docs(), "| `"+string(k.Key)+"` |") {
				t.Errorf("%s is not in the table", k.Key)
			}
		}
	}
}

// The docs name all that health can ask of a worker.
func TestDocsOfHealth(t *testing.T) {
	for _, c := range []struct{ health, want string }{
		{"redis: true, heartbeat: {sidekiq: true, max_age: 90}", "| Redis is ready | |\n| its heartbeat of sidekiq in Redis is fresh, in the last 90 s | |\n"},
		{"heartbeat: {file: F, max_age: 9}", "| it has touched its heartbeat file, in the last 9 s | `F` |\n"},
		{"http: {port: P, path: /x}", "| GET `/x` answers with 2xx | `P` |\n"},
		{"http: {port: 8080, path: /x}", "| GET `/x` answers with 2xx at port 8080 | |\n"},
		{"listen: P", ""},
	} {
		docs := contractOf(t, "keys: {P: {type: port}, F: {type: path}}\nhealth: {"+c.health+"}\n").Docs()
		_, got, _ := strings.Cut(docs, "## Health\n\n| Of a running worker | Keys |\n| --- | --- |\n")
		if got != c.want {
			t.Errorf("health: {%s}: got\n%s\nwant\n%s", c.health, got, c.want)
		}
	}
}

// The docs name all that a wait asks of Redis.
func TestDocsOfWaits(t *testing.T) {
	const want = "write, persistence, noeviction, version>=6.2"
	if docs := contractOf(t, "keys: {A: {type: redis_url}}\nwaits: [{redis: A, require: ["+want+"]}]").Docs(); !strings.Contains(docs, "| "+want+" |") {
		t.Errorf("the table has no %q:\n%s", want, docs)
	}
}

// Where the worker must answer is its key's value, or its default.
func TestHealthPort(t *testing.T) {
	const contract = "keys: {P: {type: port%s}}\nhealth: {http: {port: %s, path: /x}}\n"
	for _, c := range []struct{ fallback, port, env, want string }{
		{"", "P", "P=81", "81"}, {", default: 82", "P", "", "82"}, {"", "P", "", ""}, {"", "83", "P=81", "83"},
	} {
		got := contractOf(t, fmt.Sprintf(contract, c.fallback, c.port)).Check(Environ{c.env}).HealthPort.Reveal()
		if got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

// What the example sets must be what the contract takes, and nothing secret.
func TestExampleIsGood(t *testing.T) {
	c := contractOf(t, `keys:
  A: {enum: [x, y], required: true}
  B: {type: port, default: "1", required: true}
  C: {secret: true, required: true}
  D: {type: http_url, required: true}
  E: {pattern: 'z{3}', required: true}
  F: {type: seconds, min: 3, required: true}
`)
	env := Environ{}
	for line := range strings.Lines(c.Example()) {
		if !strings.HasPrefix(line, "#") {
			env = append(env, strings.TrimSpace(line))
		}
	}
	if got, want := strings.Join(c.Check(env).Codes(), " "), "c_missing[C] e_missing[E] f_missing[F]"; got != want {
		t.Errorf("got %s, want %s\n%s", got, want, c.Example())
	}
}

func TestSchema(t *testing.T) {
	golden(t, "contract.schema.json", string(Schema()))
	var s struct {
		Properties map[string]any
		Required   []string
	}
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	for _, f := range contractFields() {
		if s.Properties[f.name] == nil {
			t.Errorf("the schema lacks %s", f.name)
		}
	}
}
