package compose

import (
	"slices"
	"strings"
	"testing"
)

// workflowCommand is ::name key=value,key=value::data, read as GitHub's runner
// does (ActionCommand.TryParseV2).
type workflowCommand struct {
	name       string
	properties map[string]string
	data       string
}

func parseCommand(t *testing.T, line string) workflowCommand {
	t.Helper()
	rest, ok := strings.CutPrefix(line, "::")
	head, data, ended := strings.Cut(rest, "::")
	if !ok || !ended {
		t.Fatalf("%q is no workflow command", line)
	}
	decode := strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%")
	c := workflowCommand{properties: map[string]string{}, data: strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%").Replace(data)}
	name, properties, _ := strings.Cut(head, " ")
	c.name = name
	for pair := range strings.SplitSeq(properties, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			t.Fatalf("%q is no property in %q", pair, line)
		}
		c.properties[key] = decode.Replace(value)
	}
	return c
}

func TestGitHub(t *testing.T) {
	if got := write(t, "github", Report{}); got != "" {
		t.Errorf("of nothing comes %q", got)
	}
	var names []string
	var all []workflowCommand
	for line := range strings.Lines(write(t, "github", shown())) {
		c := parseCommand(t, strings.TrimSuffix(line, "\n"))
		names, all = append(names, c.name), append(all, c)
	}
	if want := []string{"error", "error", "notice", "warning", "warning"}; !slices.Equal(names, want) {
		t.Fatalf("commands are %v, want %v", names, want)
	}
	first, hard := all[0], all[3]
	if first.properties["file"] != "compose.yaml" || first.properties["line"] != "3" || first.properties["col"] != "5" ||
		first.properties["title"] != "SG102 services.worker.imge" || first.data != "compose knows no such key\nfix: see the specification" {
		t.Errorf("the first is %+v", first)
	}
	if hard.properties["file"] != hostile || len(hard.properties) != 4 {
		t.Errorf("a name of a file comes back as %+v", hard.properties)
	}
}
