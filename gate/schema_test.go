package gate_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

const schemaFile = "../envcheck/events.schema.json"

// A schemaScene is one run of the gate and what it is to say.
type schemaScene struct {
	name  string
	redis *probetest.Behaviour // nil: none, and REDIS_URL is as in env
	load  time.Duration        // how long redis loads, from the start on
	login string               // user and password in REDIS_URL
	tls   bool                 // rediss:// in REDIS_URL
	args  []string
	env   []string       // {address} is where redis is
	stop  syscall.Signal // sent once redis was asked twice
	exit  int
	codes []envcheck.Code // of every line, in order
}

// A schemaRun is what came out of a scene.
type schemaRun struct {
	text []byte // of stderr, then of stdout
	exit int
	err  error
}

// TestJSONLinesMeetTheSchema runs the built gate through many scenes: every
// line is valid, and there is no field in the schema that none of them has.
func TestJSONLinesMeetTheSchema(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "startgate")
	build := exec.Command("go", "build", "-o", bin, "../cmd/startgate")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	schema := compileSchema(t)

	// Not t.Parallel: most scenes only wait, and it runs as many of them as
	// there are processors.
	scenes := schemaScenes(t)
	runs := make([]chan schemaRun, len(scenes))
	slots := make(chan struct{}, 8)
	for i := range scenes {
		runs[i] = make(chan schemaRun, 1)
		go func() {
			slots <- struct{}{}
			runs[i] <- scenes[i].play(t.Context(), bin)
			<-slots
		}()
	}
	seen := map[string]bool{}
	for i, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			run := <-runs[i]
			if run.err != nil {
				t.Fatal(run.err)
			}
			if run.exit != s.exit {
				t.Errorf("exit %d, want %d", run.exit, s.exit)
			}
			var codes []envcheck.Code
			for line := range bytes.Lines(run.text) {
				value, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				if err := schema.Validate(value); err != nil {
					t.Errorf("%s: %v", line, err)
				}
				object := value.(map[string]any)
				code, _ := object["code"].(string)
				codes = append(codes, envcheck.Code(code))
				addFields(seen, "", object)
			}
			if !bytes.HasSuffix(run.text, []byte("}\n")) {
				t.Error("the last line does not end")
			}
			if !slices.Equal(codes, s.codes) {
				t.Errorf("got lines %v, want %v", codes, s.codes)
			}
		})
	}
	for _, field := range slices.Sorted(maps.Keys(schemaFields(t))) {
		if !seen[field] && (runtime.GOOS == "linux" || !slices.Contains([]string{"phase", "revision", "enabled", "queues", "redis", "postgres"}, field)) {
			t.Errorf("the schema has %s, and no line had it", field)
		}
	}
}

// TestSchemaHasEveryField holds the schema against the program's source, for
// the lines that no scene brings about.
func TestSchemaHasEveryField(t *testing.T) {
	declared := schemaFields(t)
	inSource := map[string]bool{}
	for _, dir := range []string{".", "../cmd/startgate", "../envcheck"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no source in %s: %v", dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, name := range fieldsInSource(t, file) {
				inSource[name] = true
				if !declared[name] {
					t.Errorf("%s has the field %s, and the schema does not", file, name)
				}
			}
		}
	}
	for _, name := range []string{"v", "time", "level", "code", "wait", "keys", "near", "reason", "exit", "message"} {
		inSource[name] = true // what every diagnostic can have
	}
	for name := range declared {
		if !inSource[name] && !strings.Contains(name, ".") {
			t.Errorf("the schema has the field %s, and the program does not", name)
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	schema := compileSchema(t)
	const start = `{"v":1,"time":"2026-01-02T03:04:05.678Z","level":"info"`
	for _, line := range []string{
		`{}`,
		start + `}`,
		start + `,"code":"Ready"}`,
		start + `,"code":"ready"}`,
		start + `,"code":"mode_off","unknown":1}`,
		start + `,"code":"mode_off","elapsed":"1s"}`,
		start + `,"code":"mode_off","keys":["lower"]}`,
		start + `,"code":"mode_off","exit":1}`,
		start + `,"code":"mode_off","causes":{"redis_loading":3}}`,
		strings.Replace(start, "Z", "+00:00", 1) + `,"code":"mode_off"}`,
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(value) == nil {
			t.Errorf("takes %s", line)
		}
	}
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// schemaFields returns the names of the schema's fields, those of a nested
// object after its own name and a dot.
func schemaFields(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]struct {
			AdditionalProperties struct{ Properties map[string]any }
		}
	}
	var schema object
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	fields := map[string]bool{}
	for name, p := range schema.Properties {
		fields[name] = true
		for inner := range p.AdditionalProperties.Properties {
			fields[name+"."+inner] = true
		}
	}
	return fields
}

// addFields adds the names that schemaFields gives to the fields of object.
func addFields(seen map[string]bool, prefix string, object map[string]any) {
	for name, value := range object {
		seen[prefix+name] = true
		if causes, ok := value.(map[string]any); ok {
			for _, cause := range causes {
				addFields(seen, name+".", cause.(map[string]any))
			}
		}
	}
}

// fieldsInSource returns the names with which file makes fields.
func fieldsInSource(t *testing.T, file string) (names []string) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return true
		}
		made := ""
		switch f := call.Fun.(type) {
		case *ast.SelectorExpr:
			if pkg, ok := f.X.(*ast.Ident); ok && pkg.Name == "envcheck" {
				made = f.Sel.Name
			}
		case *ast.Ident:
			if tree.Name.Name == "envcheck" {
				made = f.Name
			}
		}
		switch made {
		case "Dur", "Int", "Percent", "Is", "Says", "Causes":
		default:
			return true
		}
		name, ok := call.Args[0].(*ast.BasicLit)
		if !ok {
			t.Errorf("%s: the name of a field is not written out", file)
			return true
		}
		text, err := strconv.Unquote(name.Value)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, text)
		return true
	})
	return names
}
