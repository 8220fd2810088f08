package integration

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/testcontainers/testcontainers-go"
)

// A composed stack is an example's compose file, started.
type composed struct {
	t       testing.TB
	program []string // docker compose, or docker-compose
	file    string
	project string
	env     []string
}

// gateImage is the image that the examples copy the gate from.
const gateImage = "ghcr.io/startgate/startgate:latest"

// needCompose needs Docker's engine and compose, of either generation.
func needCompose(t testing.TB) []string {
	t.Helper()
	needDocker(t)
	if exec.Command("docker", "compose", "version").Run() == nil {
		return []string{"docker", "compose"}
	}
	return []string{needProgram(t, "docker-compose")}
}

// provideExamples makes the images that the examples are made from. The gate's
// is this tree's, and gone at the end of t.
func provideExamples(t *testing.T, others ...string) {
	t.Helper()
	if out, err := exec.Command("../.ci/images", append([]string{"golang:1.26"}, others...)...).CombinedOutput(); err != nil {
		t.Fatalf(".ci/images: %v\n%s", err, out)
	}
	image, err := buildImage(t, "examples", testcontainers.FromDockerfile{Context: ".."})
	if err != nil {
		t.Fatal(err)
	}
	docker(t, "tag", image, gateImage)
	t.Cleanup(func() { exec.Command("docker", "image", "rm", "--force", gateImage).Run() })
}

// compose returns the stack of an example. Whatever of it was started is
// removed at the end of t, images included.
func compose(t *testing.T, program []string, file string, env ...string) *composed {
	t.Helper()
	s := &composed{t, program, filepath.Join("..", "examples", file), strings.ToLower(filepath.Base(built)) + "-" + filepath.Base(filepath.Dir(file)), env}
	t.Cleanup(func() {
		if out, err := s.command("down", "--volumes", "--remove-orphans", "--rmi", "local", "--timeout", "1").CombinedOutput(); err != nil {
			t.Errorf("compose down: %v\n%s", err, out)
		}
	})
	return s
}

func (s *composed) command(args ...string) *exec.Cmd {
	argv := append(append(s.program[1:len(s.program):len(s.program)], "--file", s.file, "--project-name", s.project), args...)
	cmd := exec.Command(s.program[0], argv...)
	cmd.Env = append(cmd.Environ(), s.env...)
	return cmd
}

// do runs compose and returns what it prints.
func (s *composed) do(args ...string) string {
	s.t.Helper()
	cmd := s.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("compose %s: %v\n%s%s", args[0], err, out, stderr.Bytes())
	}
	return strings.TrimSpace(string(out))
}

// up builds the stack and starts it, or some of its services.
func (s *composed) up(services ...string) {
	s.t.Helper()
	s.do(append([]string{"up", "--detach", "--build"}, services...)...)
}

// container is the ID of a service's container.
func (s *composed) container(service string) string {
	s.t.Helper()
	id := s.do("ps", "--quiet", service)
	if id == "" {
		s.t.Fatalf("there is no container of %s", service)
	}
	return id
}

// await waits until docker inspect has the wanted text for a format.
func (s *composed) await(service, format, want string) {
	s.t.Helper()
	id := s.container(service)
	eventually(s.t, service+" is "+want, func() error {
		if got := docker(s.t, "inspect", "--format", format, id); got != want {
			return fmt.Errorf("it is %s:\n%s", got, s.logs(service))
		}
		return nil
	})
}

const (
	healthStatus = "{{.State.Health.Status}}"
	exitCode     = "{{.State.Status}} {{.State.ExitCode}}"
)

// logs are what a service has written so far.
func (s *composed) logs(service string) string {
	s.t.Helper()
	out, err := exec.Command("docker", "logs", s.container(service)).CombinedOutput()
	if err != nil {
		s.t.Fatal(err)
	}
	return string(out)
}
