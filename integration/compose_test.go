package integration

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
// is this tree's; the name for it is gone at the end of t.
func provideExamples(t *testing.T, others ...string) {
	t.Helper()
	// The examples' own binaries are built from the first.
	provideImages(t, append([]string{"golang:1.26"}, others...)...)
	docker(t, "tag", ownImage(t), gateImage)
	t.Cleanup(func() { exec.Command("docker", "image", "rm", "--force", gateImage).Run() })
}

// compose returns the stack of an example.
func compose(t *testing.T, program []string, file string, env ...string) *composed {
	t.Helper()
	return composeFile(t, program, filepath.Join("..", "examples", file), filepath.Base(filepath.Dir(file)), env)
}

// composeFile returns the stack of a file. Whatever of it was started is
// removed at the end of t, images included.
func composeFile(t *testing.T, program []string, file, name string, env []string) *composed {
	t.Helper()
	s := &composed{t, program, file, runName() + "-" + name, env}
	t.Cleanup(func() {
		var volumes []string
		defer func() { // also when they cannot be listed
			if out, err := s.command("down", "--volumes", "--remove-orphans", "--rmi", "local", "--timeout", "1").CombinedOutput(); err != nil {
				t.Errorf("compose down: %v\n%s", err, out)
			}
			for _, volume := range volumes {
				if exec.Command("docker", "volume", "inspect", volume).Run() == nil {
					t.Errorf("compose down has left a volume")
					exec.Command("docker", "volume", "rm", "--force", volume).Run()
				}
			}
		}()
		volumes = s.volumes()
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

// containers are the IDs of all containers of the stack, or of those that have
// a label. Compose is not asked: its generations differ in what they list.
func (s *composed) containers(labels ...string) []string {
	s.t.Helper()
	args := []string{"ps", "--all", "--quiet", "--no-trunc", "--filter", "label=com.docker.compose.project=" + s.project}
	for _, label := range labels {
		args = append(args, "--filter", "label="+label)
	}
	return strings.Fields(docker(s.t, args...))
}

// container is the ID of a service's container.
func (s *composed) container(service string) string {
	s.t.Helper()
	ids := s.containers("com.docker.compose.service="+service, "com.docker.compose.oneoff=False")
	if len(ids) != 1 {
		s.t.Fatalf("there are %d containers of %s", len(ids), service)
	}
	return ids[0]
}

// volumes are the volumes that the containers have now. Those without a name
// of their own cannot be told from others once the containers are gone.
func (s *composed) volumes() []string {
	s.t.Helper()
	ids := s.containers()
	if len(ids) == 0 {
		return nil
	}
	return strings.Fields(docker(s.t, append([]string{"inspect", "--format", "{{range .Mounts}}{{.Name}} {{end}}"}, ids...)...))
}

// await waits until docker inspect has the wanted text for a format. A real
// worker, and every check of its health, may start slowly beside other stacks.
func (s *composed) await(service, format, want string) {
	s.t.Helper()
	id := s.container(service)
	eventuallyWithin(s.t, 3*patience, service+" is "+want, func() error {
		got, checks, _ := strings.Cut(docker(s.t, "inspect", "--format", format+"\n{{json .State.Health}}", id), "\n")
		if got != want {
			time.Sleep(100 * time.Millisecond) // to start Docker's client costs more than most of what it is asked about
			return fmt.Errorf("it is %s, its checks %s:\n%s", got, checks, s.logs(service))
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
	return dockerLogs(s.container(service))
}
