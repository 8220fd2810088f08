package main

import (
	"os"
	"regexp"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/startgate/startgate/compose"
)

// root is the repository.
const root = "../.."

var block = regexp.MustCompile("(?ms)^```(yaml|console)\n(.*?)^```$")

func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := block.FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 3 {
		t.Fatal("the README shows no stack, output and configuration")
	}
	stack, shown, config := blocks[0][2], blocks[1][2], blocks[2][2]
	place(t, map[string]string{"compose.yaml": stack, "x/" + compose.ConfigName: config})
	if got := inProcess(nil, "", "check"); got.out != shown || got.code != 1 {
		t.Errorf("the README shows\n%swhat is printed with exit %d is\n%s", shown, got.code, got.out)
	}
	if _, faults := compose.LoadConfig("x/" + compose.ConfigName); len(faults) > 0 {
		t.Errorf("the README's configuration: %+v", faults)
	}
}

// The hook of pre-commit runs this program on files that it would find.
func TestHook(t *testing.T) {
	text, err := os.ReadFile(root + "/.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var hooks []struct{ ID, Entry, Language, Files string }
	if err := yaml.Unmarshal(text, &hooks); err != nil || len(hooks) != 1 {
		t.Fatalf("%v: %+v", err, hooks)
	}
	h := hooks[0]
	if h.ID != "startgate-compose" || h.Entry != "startgate-compose check" || h.Language != "golang" {
		t.Errorf("%+v", h)
	}
	files := regexp.MustCompile(h.Files)
	for name, want := range map[string]bool{
		"compose.yaml": true, "docker-compose.yml": true, "a/docker-compose.prod.worker.yml": true, "compose.override.yaml": true,
		compose.ConfigName: true, "decompose.yaml": false, "compose.go": false,
	} {
		if files.MatchString(name) != want {
			t.Errorf("the hook runs for %s: %v", name, !want)
		}
	}
}
