package envcheck

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// loadFile loads a contract that must have no fault.
func loadFile(t testing.TB, path string) *Contract {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, faults := Load(f)
	for _, d := range faults {
		t.Errorf("%s: %s", path, d.AppendText(nil))
	}
	if c == nil {
		t.FailNow()
	}
	return c
}

// scenario is one of a file in testdata, see bullmq.txtar.
type scenario struct {
	name string
	env  Environ
	want string
}

func scenarios(t testing.TB, name string) []scenario {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var base string
	var all []scenario
	for _, f := range archive.Files {
		switch {
		case f.Name == "base":
			base = string(f.Data)
		case strings.HasSuffix(f.Name, ".env"):
			all = append(all, scenario{name: strings.TrimSuffix(f.Name, ".env"), env: change(base, string(f.Data))})
		case strings.HasSuffix(f.Name, ".want"):
			all[len(all)-1].want = string(f.Data)
		}
	}
	return all
}

// change applies a scenario's changes to the base environment.
func change(base, changes string) Environ {
	env := strings.Fields(base)
	unset := func(name string) {
		env = slices.DeleteFunc(env, func(e string) bool { return name == "*" || strings.HasPrefix(e, name+"=") })
	}
	for line := range strings.Lines(changes) {
		line = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(strings.TrimSuffix(line, "\n"))
		name, _, _ := strings.Cut(line, "=")
		switch line[0] {
		case '-':
			unset(line[1:])
		case '+':
			env = append(env, line[1:])
		default:
			unset(name)
			env = append(env, line)
		}
	}
	return env
}

// said is what a result says, as a scenario wants it.
func said(r Result) string {
	exit := 0
	if !r.OK() {
		exit = 78
	}
	return strings.Join(append(r.Codes(), fmt.Sprintf("exit %d", exit)), "\n") + "\n"
}

func TestScenarios(t *testing.T) {
	for _, example := range []struct {
		name  string
		least int
	}{{"bullmq", 43}, {"rq", 14}} {
		c := loadFile(t, "../examples/"+example.name+"/contract.yaml")
		all := scenarios(t, example.name+".txtar")
		if len(all) < example.least {
			t.Errorf("%s has %d scenarios", example.name, len(all))
		}
		for _, s := range all {
			t.Run(example.name+"/"+s.name, func(t *testing.T) {
				if got := said(c.Check(s.env)); got != s.want {
					t.Errorf("got\n%swant\n%s", got, s.want)
				}
			})
		}
		covers(t, c, all)
	}
}

// covers wants each key, rule and condition in a scenario.
func covers(t *testing.T, c *Contract, all []scenario) {
	t.Helper()
	var wants strings.Builder
	held := map[string]bool{}
	keys := map[string]bool{}
	for _, s := range all {
		wants.WriteString(s.want)
		for _, entry := range s.env {
			name, _, _ := strings.Cut(entry, "=")
			keys[name] = true
		}
		j := &judge{contract: c, env: indexOf(s.env), readFile: readSecret}
		j.readAll()
		for _, condition := range c.Conditions {
			if condition.Expr.eval(j) == isTrue {
				held[condition.Name] = true
			}
		}
	}
	for _, k := range c.Keys {
		if !keys[string(k.Key)] && !strings.Contains(wants.String(), string(k.Key)) {
			t.Errorf("no scenario for the key %s", k.Key)
		}
	}
	for _, r := range c.Rules {
		if !strings.Contains(wants.String(), string(r.Code)+"[") {
			t.Errorf("no scenario for the rule %s", r.Code)
		}
	}
	for _, condition := range c.Conditions {
		if !held[condition.Name] {
			t.Errorf("no scenario in which %s holds", condition.Name)
		}
	}
}
