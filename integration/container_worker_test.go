package integration

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/network"
)

// A stack is a network with the images to put on it.
type stack struct {
	t      *testing.T
	images *imageSet
	net    *testcontainers.DockerNetwork
}

func newStack(t *testing.T, images *imageSet) *stack {
	t.Helper()
	net, err := network.New(t.Context(), network.WithLabels(runLabels()))
	if err != nil {
		t.Fatal(err)
	}
	testcontainers.CleanupNetwork(t, net)
	return &stack{t, images, net}
}

// redis starts a server that is called broker on the network.
func (s *stack) redis(args ...string) *box {
	s.t.Helper()
	data := testcontainers.WithFiles(testcontainers.ContainerFile{
		HostFilePath: filepath.Join(dataSet(s.t), "dump.rdb"), ContainerFilePath: "/data/dump.rdb", FileMode: 0o644,
	})
	return runBox(s.t, s.images.redis, network.WithNetwork([]string{"broker"}, s.net), data, testcontainers.WithCmd(args...))
}

// worker starts a worker whose URL names the broker.
func (s *stack) worker(url string, options ...testcontainers.ContainerCustomizer) *box {
	s.t.Helper()
	options = append(options, network.WithNetwork([]string{"worker"}, s.net), testcontainers.WithEnv(map[string]string{"REDIS_URL": url}))
	return runBox(s.t, s.images.worker, options...)
}

const broker = "redis://broker:6379/0"

// inContainer runs a command in the container.
func (b *box) inContainer(command ...string) string {
	b.t.Helper()
	return docker(b.t, append([]string{"exec", b.id}, command...)...)
}

// processes are the processes of the container, without their arguments.
func (b *box) processes() []string {
	b.t.Helper()
	lines := strings.Split(docker(b.t, "top", b.id, "-o", "pid,comm"), "\n")[1:]
	for i, line := range lines {
		lines[i] = strings.Fields(line)[1]
	}
	return lines
}

// The container has one process. It was the gate and is the worker, which
// finds the data loaded.
func testWorkerBecomesPID1(t *testing.T, images *imageSet) {
	s := newStack(t, images)
	r := s.redis(loadArgs(20 * time.Millisecond)...) // for 40 s
	w := s.worker(broker, testcontainers.WithCmd("worker", "loading", "broker:6379", "signal"))
	w.await("redis_loading", 1)
	if got := w.processes(); !slices.Equal(got, []string{"startgate"}) {
		t.Errorf("while gating: processes %v", got)
	}
	r.inContainer("redis-cli", "config", "set", "key-load-delay", "0") // and now at once
	w.await("exec", 1)
	eventually(t, "the worker has taken over", func() error {
		if got := w.processes(); !slices.Equal(got, []string{"worker"}) {
			return errNotYet
		}
		return nil
	})
	if got := w.inContainer("readlink", "/proc/1/exe"); got != "/usr/local/bin/worker" {
		t.Errorf("process 1 is %s", got)
	}
	w.awaitStdout("ready for signals")
	docker(t, "kill", "--signal", "TERM", w.id)
	w.expect(40 + 15)
	if want := "worker: loaded\nworker: ready for signals\n"; w.stdout != want {
		t.Errorf("stdout %q, want %q", w.stdout, want)
	}
}

// What orchestrators see is the worker's code, or the gate's.
func testContainerExitCodes(t *testing.T, images *imageSet) {
	s := newStack(t, images)
	s.redis("--requirepass", "right-password")
	good := "redis://:right-password@broker:6379/0"
	s.worker(good, testcontainers.WithCmd("worker", "exit", "17")).expect(17)
	if w := s.worker("redis://:wrong-password@broker:6379/0").expect(69); w.last().Code != "redis_auth_rejected" {
		t.Errorf("wrong password: %+v", w.last())
	}
	if w := s.worker("redis://broker:6379/-1").expect(78); w.last().Reason != "db_invalid" {
		t.Errorf("bad database: %+v", w.last())
	}
	s.worker(good, testcontainers.WithCmd("no-such-worker")).expect(127)
	absent := s.worker("redis://no-such-host:6379/0", testcontainers.WithEnv(map[string]string{"STARTGATE_TIMEOUT": "1"}))
	if absent.expect(75); absent.last().Code != "redis_dns_not_found" {
		t.Errorf("no such host: %+v", absent.last())
	}
}

// testHardened runs the gate with as few rights as a container can have.
func testHardened(t *testing.T, images *imageSet) {
	s := newStack(t, images)
	s.redis()
	hardened := testcontainers.WithHostConfigModifier(func(c *container.HostConfig) {
		c.ReadonlyRootfs = true
		c.CapDrop = []string{"ALL"}
		c.SecurityOpt = []string{"no-new-privileges"}
	})
	user := testcontainers.WithConfigModifier(func(c *container.Config) { c.User = "65532:65532" })
	w := s.worker(broker, hardened, user, testcontainers.WithCmd("worker", "report"))
	w.expect(0)
	if r := reported(t, w.stdout); r.PID != 1 || !slices.Equal(r.Args, []string{"worker", "report"}) {
		t.Errorf("process %d, arguments %q", r.PID, r.Args)
	}
	// The gate's own image, as an init container.
	wait := runBox(t, images.gate, hardened, network.WithNetwork(nil, s.net),
		testcontainers.WithEnv(map[string]string{"REDIS_URL": broker, "STARTGATE_FORMAT": "json"}), testcontainers.WithCmd("wait"))
	if wait.expect(0); wait.last().Code != "ready" {
		t.Errorf("wait ends with %+v", wait.last())
	}
}
