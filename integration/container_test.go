package integration

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// TestContainers runs the gate where it belongs. The images are built once,
// the server's beside the gate's.
func TestContainers(t *testing.T) {
	needDocker(t)
	images := buildImages(t)
	for name, test := range map[string]func(*testing.T, *imageSet){
		"image":                  testImage,
		"commands in the image":  testImageCommands,
		"worker becomes PID 1":   testWorkerBecomesPID1,
		"exit codes":             testContainerExitCodes,
		"TERM while gating":      testTermWhileGating,
		"Redis starts later":     testRedisStartsLater,
		"Redis is paused":        testRedisPaused,
		"hardened":               testHardened,
		"init in front":          testInitInFront,
		"signals are the worker": testSignalsReachWorker,
		"copied elsewhere":       testElsewhere,
		"TERM before a handler":  testTermBeforeTheHandler,
		"orphans":                testOrphans,
		"init behind":            testInitBehind,
		"other user":             testOtherUser,
		"little CPU and memory":  testLittle,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, images)
		})
	}
	if full() { // everything is compiled once more
		t.Run("image of the checker", testCheckerImage)
	}
}

// needDocker needs Docker's engine and its client.
func needDocker(t testing.TB) {
	t.Helper()
	need(t, "the minutes that images take, so no -short", !testing.Short())
	need(t, "Docker", exec.Command("docker", "version").Run() == nil)
}

// setContainerDefaults is called before anything of testcontainers is. Its
// reaper cannot be pulled everywhere, and the tests clean up by themselves.
// Where this process is in a container itself, as /.dockerenv tells it, it
// would take the gateway for the host of published ports.
func setContainerDefaults() {
	for name, value := range map[string]string{
		"TESTCONTAINERS_RYUK_DISABLED": "true", "TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1",
	} {
		if os.Getenv(name) == "" {
			os.Setenv(name, value)
		}
	}
}

// A box is a running container. What it writes is read as a gate's is.
type box struct {
	*gateProcess // docker logs --follow
	id           string
}

// runBox starts a container, which is removed at the end of t.
func runBox(t *testing.T, image string, options ...testcontainers.ContainerCustomizer) *box {
	t.Helper()
	options = append([]testcontainers.ContainerCustomizer{testcontainers.WithLogger(log.TestLogger(t)), testcontainers.WithLabels(runLabels())}, options...)
	ctr, err := testcontainers.Run(t.Context(), image, options...)
	testcontainers.CleanupContainer(t, ctr, testcontainers.StopTimeout(0))
	if err != nil {
		t.Fatal(err)
	}
	id := ctr.GetContainerID()
	t.Cleanup(func() {
		if t.Failed() {
			state, _ := exec.Command("docker", "inspect", "--format", "{{json .State}}", id).CombinedOutput()
			t.Logf("%.12s: %s%s", id, state, dockerLogs(id))
		}
	})
	return &box{start(t, exec.Command("docker", "logs", "--follow", id)), id}
}

// exit waits for the end of the container and returns its exit code, as docker
// inspect has it.
func (b *box) exit() int {
	b.t.Helper()
	b.wait()
	docker(b.t, "wait", b.id)
	code, err := strconv.Atoi(docker(b.t, "inspect", "--format", "{{.State.ExitCode}}", b.id))
	if err != nil {
		b.t.Fatal(err)
	}
	return code
}

// expect checks the exit code of the container.
func (b *box) expect(code int) *box {
	b.t.Helper()
	if got := b.exit(); got != code {
		b.t.Errorf("exit %d, want %d\nstdout: %s\nstderr: %s", got, code, b.stdout, b.stderr)
	}
	return b
}

// dockerLogs are what a container has written so far.
func dockerLogs(id string) string {
	out, _ := exec.Command("docker", "logs", id).CombinedOutput()
	return string(out)
}

// docker runs Docker's client and returns what it prints.
func docker(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command("docker", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("docker %s: %v\n%s", args[0], err, stderr.Bytes())
	}
	return strings.TrimSpace(string(out))
}
