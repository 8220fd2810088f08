package integration

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each test removes what it has started, also when it fails. What is here
// looks once more, at the end of all. Others may use the same engine, so
// whatever the tests start carries the name of this run: as a label, or as the
// beginning of the name of its compose project.

const (
	runLabel     = "startgate.test.run"
	projectLabel = "com.docker.compose.project"
)

// runName names this run. It is a folder's and so no other run's.
func runName() string { return strings.ToLower(filepath.Base(built)) }

func runLabels() map[string]string { return map[string]string{runLabel: runName()} }

// A resource is a kind of what the engine keeps.
type resource struct {
	name           string
	list, describe []string
	remove         []string
}

// resources are in the order in which they can be removed.
func resources() []resource {
	return []resource{
		{"container", []string{"ps", "--all", "--no-trunc"}, []string{"{{.ID}}", "{{.Names}}"}, []string{"rm", "--force", "--volumes"}},
		{"network", []string{"network", "ls", "--no-trunc"}, []string{"{{.ID}}", "{{.Name}}"}, []string{"network", "rm"}},
		{"volume", []string{"volume", "ls"}, []string{"{{.Name}}"}, []string{"volume", "rm", "--force"}},
	}
}

// leftovers removes what the tests have left behind, on the engine and of
// processes, and says what it was.
func leftovers() (left []string) {
	for _, process := range childProcesses() {
		left = append(left, "process "+process)
	}
	if exec.Command("docker", "version").Run() != nil {
		return left
	}
	for _, kind := range resources() {
		found := kind.ofThisRun()
		// An engine that is about to remove something gets a while to do so.
		for deadline := time.Now().Add(5 * time.Second); len(found) > 0 && time.Now().Before(deadline); {
			time.Sleep(100 * time.Millisecond)
			found = kind.ofThisRun()
		}
		for _, words := range found {
			left = append(left, kind.name+" "+strings.Join(words, " "))
			exec.Command("docker", append(kind.remove, words[0])...).Run()
		}
	}
	return left
}

// ofThisRun lists what there is of this run, the ID first.
func (r resource) ofThisRun() [][]string {
	return append(
		r.labelled(runLabel, func(run string) bool { return run == runName() }),
		r.labelled(projectLabel, func(project string) bool { return strings.HasPrefix(project, runName()+"-") })...)
}

// labelled lists what has a label whose value is ours.
func (r resource) labelled(label string, ours func(value string) bool) (found [][]string) {
	format := strings.Join(append([]string{`{{.Label "` + label + `"}}`}, r.describe...), " ")
	out, err := exec.Command("docker", append(r.list, "--filter", "label="+label, "--format", format)...).Output()
	if err != nil {
		return [][]string{{"that", "cannot", "be", "listed:", err.Error()}}
	}
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); ours(words[0]) {
			found = append(found, words[1:])
		}
	}
	return found
}

// The look at the end sees what is left behind, and of this run alone.
func TestLeftoversAreSeen(t *testing.T) {
	needDocker(t)
	provideImages(t, "debian:bookworm-slim")
	for label, ours := range map[string]bool{
		runLabel + "=" + runName():            true,
		projectLabel + "=" + runName() + "-x": true,
		runLabel + "=" + runName() + "-x":     false,
		projectLabel + "=" + runName() + "x":  false,
	} {
		for _, kind := range resources() {
			create := map[string][]string{
				"container": {"create", "--label", label, "debian:bookworm-slim"},
				"network":   {"network", "create", "--label", label, runName() + "-leftover"},
				"volume":    {"volume", "create", "--label", label},
			}[kind.name]
			id := docker(t, create...)
			seen := slices.ContainsFunc(kind.ofThisRun(), func(words []string) bool { return words[0] == id })
			docker(t, append(kind.remove, id)...)
			if seen != ours {
				t.Errorf("a %s with the label %s: seen is %t", kind.name, label, seen)
			}
		}
	}
}
