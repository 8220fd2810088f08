package integration

import (
	"archive/tar"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/testcontainers/testcontainers-go"
)

// The image has the binary and certificates, and nothing else.
func testImage(t *testing.T, images *imageSet) {
	config := docker(t, "image", "inspect", "--format", "{{.Config.User}} {{json .Config.Entrypoint}} {{json .Config.Cmd}}", images.gate)
	if want := `65532:65532 ["/startgate"] null`; config != want {
		t.Errorf("configuration %s, want %s", config, want)
	}
	id := docker(t, "create", "--label", runLabel+"="+runName(), images.gate)
	defer docker(t, "rm", "--force", id)
	export := exec.Command("docker", "export", id)
	out, err := export.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := export.Start(); err != nil {
		t.Fatal(err)
	}
	var files []string
	for r := tar.NewReader(out); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg && h.Size > 0 {
			files = append(files, h.Name)
		}
	}
	if err := export.Wait(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	if want := []string{"etc/ssl/certs/ca-certificates.crt", "startgate"}; !slices.Equal(files, want) {
		t.Errorf("files %v, want %v", files, want)
	}
}

// The commands that need no server work in the image as it is.
func testImageCommands(t *testing.T, images *imageSet) {
	version := runBox(t, images.gate, testcontainers.WithCmd("version")).expect(0).stdout
	if !contains(version, "go-redis") || contains(version, "cgo") {
		t.Errorf("version says %q", version)
	}
	explain := runBox(t, images.gate, testcontainers.WithCmd("explain", "redis_loading")).expect(0)
	if !strings.Contains(explain.stdout, "redis_loading") {
		t.Errorf("explain says %q", explain.stdout)
	}
	url := testcontainers.WithEnv(map[string]string{"REDIS_URL": "redis://broker:6379/0", "STARTGATE_FORMAT": "json"})
	check := runBox(t, images.gate, url, testcontainers.WithCmd("check")).expect(0)
	if !strings.Contains(check.stdout, `"contract_ok"`) || !strings.Contains(check.stdout, `"plan"`) || check.stderr != "" {
		t.Errorf("check says %q", check.stdout)
	}
	missing := runBox(t, images.gate, testcontainers.WithEnv(map[string]string{"STARTGATE_FORMAT": "json"}), testcontainers.WithCmd("check"))
	if missing.expect(78); missing.last().Code != "redis_missing" {
		t.Errorf("%+v", missing.last())
	}
	if nothing := runBox(t, images.gate, url, testcontainers.WithCmd("run", "--", "worker")); nothing.exit() != 127 {
		t.Errorf("a worker that is not there: %s", nothing.stderr)
	}
}
