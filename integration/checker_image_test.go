package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/testcontainers/testcontainers-go"
)

// The checker's own image judges the files that are mounted at /stack.
func testCheckerImage(t *testing.T) {
	provideImages(t, "golang:1.26")
	image, err := buildImage(t, "checker", testcontainers.FromDockerfile{Context: "..", Dockerfile: "cmd/startgate-compose/Dockerfile"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file, want string
		code       int
	}{
		{"services:\n  web: {image: web}\n", "0 errors, 0 warnings, 0 remarks", 0},
		{"services:\n  web: {image: web, links: [gone]}\n", "compose.yaml:2:29: error SG102", 2},
	} {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o755); err != nil { // the image's user is another one
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "compose.yaml"), []byte(c.file), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("docker", "run", "--rm", "--network", "none", "--read-only", "--volume", dir+":/stack:ro", image, "check")
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != c.code || !strings.Contains(string(out), c.want) {
			t.Errorf("%v, want exit %d and %q in\n%s", err, c.code, c.want, out)
		}
	}
}
