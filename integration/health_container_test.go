package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/network"
)

const healthDockerfile = `
FROM debian:bookworm-slim
COPY startgate /startgate
COPY worker answer loop nop /usr/local/bin/
COPY redis.yaml http.yaml http6.yaml /contracts/
ENV STARTGATE_FORMAT=json
ENTRYPOINT ["/startgate", "--"]
CMD ["worker", "signal"]
`

// The contracts that the image has.
var healthContracts = map[string]string{
	"redis.yaml": "keys: {REDIS_URL: {type: redis_url}}\nwaits: [{redis: REDIS_URL}]\nhealth: {redis: true}\n",
	"http.yaml":  "keys: {REDIS_URL: {type: redis_url}, PORT: {type: port}}\nwaits: [{redis: REDIS_URL}]\nhealth: {http: {port: PORT, path: /readyz}}\n",
	"http6.yaml": "keys: {REDIS_URL: {type: redis_url}}\nwaits: [{redis: REDIS_URL}]\nhealth: {http: {port: 8086, path: /readyz}}\n",
}

// A ward has a Redis that all tests share and none disturbs.
type ward struct {
	t     *testing.T
	image string
	net   *testcontainers.DockerNetwork
}

// TestHealthInContainers asks for the health of containers of every kind.
func TestHealthInContainers(t *testing.T) {
	needDocker(t)
	w := newWard(t)
	t.Run("own time", func(t *testing.T) { testHealthOwnTime(&ward{t, w.image, w.net}) }) // and nothing beside it
	for name, test := range map[string]func(*ward){
		"table":                    testHealthTable,
		"broker away":              testHealthBrokerAway,
		"HEALTHCHECK":              testHealthcheckNeverGated,
		"bad state files":          testHealthBadState,
		"earlier boot":             testHealthEarlierBoot,
		"read-only root":           testHealthReadOnly,
		"nowhere to write":         testHealthNowhere,
		"worker of another user":   testHealthOtherUser,
		"init in front":            testHealthBelowInit,
		"shared /dev/shm":          testHealthSharedMemory,
		"shared volume":            testHealthSharedVolume,
		"shared PID namespace":     testHealthSharedPIDs,
		"worker over HTTP":         testHealthHTTP,
		"worker over IPv6 alone":   testHealthHTTP6,
		"logs and termination log": testTerminationMessage,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(&ward{t, w.image, w.net})
		})
	}
}

// newWard makes an image with the gate that TestMain has built.
func newWard(t *testing.T) *ward {
	t.Helper()
	if out, err := exec.Command("../.ci/images", "debian:bookworm-slim", "redis:7").CombinedOutput(); err != nil {
		t.Fatalf(".ci/images: %v\n%s", err, out)
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir+"/", "./testdata/answer", "./measure/health/loop", "./measure/health/nop")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	files := map[string][]byte{"Dockerfile": []byte(healthDockerfile)}
	for name, contract := range healthContracts {
		files[name] = []byte("contract: 1\nname: ward\n" + contract)
	}
	for _, path := range []string{gatePath(), workerPath(), dir + "/answer", dir + "/loop", dir + "/nop"} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = content
	}
	image, err := buildImage(t, "health", testcontainers.FromDockerfile{ContextArchive: archive(files)})
	if err != nil {
		t.Fatal(err)
	}
	net, err := network.New(t.Context(), network.WithLabels(runLabels()))
	if err != nil {
		t.Fatal(err)
	}
	testcontainers.CleanupNetwork(t, net)
	w := &ward{t, image, net}
	w.redis("broker")
	return w
}

// redis starts a server of that name.
func (w *ward) redis(name string) *box {
	w.t.Helper()
	return runBox(w.t, "redis:7", network.WithNetwork([]string{name}, w.net),
		testcontainers.WithCmd("redis-server", "--save", "", "--protected-mode", "no"))
}

// start starts a container whose worker needs the broker.
func (w *ward) start(options ...testcontainers.ContainerCustomizer) *box {
	w.t.Helper()
	options = append([]testcontainers.ContainerCustomizer{network.WithNetwork(nil, w.net), variables("REDIS_URL=" + broker)}, options...)
	return runBox(w.t, w.image, options...)
}

// idle starts a container whose PID 1 is a shell's, for as long as it takes.
func (w *ward) idle(script string, options ...testcontainers.ContainerCustomizer) *box {
	w.t.Helper()
	options = append(options, testcontainers.WithEntrypoint("sh", "-c"), testcontainers.WithCmd(script+" exec sleep 1000"))
	return w.start(options...)
}

func variables(env ...string) testcontainers.CustomizeRequestOption {
	m := map[string]string{}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		m[name] = value
	}
	return testcontainers.WithEnv(m)
}

func host(change func(*container.HostConfig)) testcontainers.CustomizeRequestOption {
	return testcontainers.WithHostConfigModifier(change)
}

// A healthLine is what health says of a container.
type healthLine struct {
	exit       int
	code, text string
}

// ask runs health in the container, once with each of args, which may be none.
// A command of docker for each would take longer than all else. exec are
// further arguments of docker exec.
func (b *box) ask(exec []string, args ...string) []healthLine {
	b.t.Helper()
	var script strings.Builder
	for _, arg := range args {
		script.WriteString("/startgate health --format=text " + arg + "; echo $?; ")
	}
	return askBy(b.t, append(append([]string{"exec"}, exec...), b.id, "sh", "-c", script.String()), len(args))
}

// askBy runs health n times by a command of docker that prints the exit code
// after each, and holds what it says to its form: one line of 200 bytes.
func askBy(t testing.TB, command []string, n int) []healthLine {
	t.Helper()
	p := start(t, exec.Command("docker", command...)).wait()
	lines := strings.Split(strings.TrimSuffix(p.stdout, "\n"), "\n")
	if len(lines) != 2*n || p.stderr != "" {
		t.Fatalf("docker %q: exit %d, and not %d answers of one line:\n%s%s", command, p.code, n, p.stdout, p.stderr)
	}
	all := make([]healthLine, n)
	for i := range all {
		h := &all[i]
		h.text = lines[2*i]
		var level string
		if _, err := fmt.Sscanf(h.text, "startgate: %s %s", &level, &h.code); err != nil || len(h.text) >= 200 {
			t.Errorf("health says, in %d bytes: %s", len(h.text), h.text)
		}
		h.code = strings.TrimSuffix(h.code, ":")
		h.exit, _ = strconv.Atoi(lines[2*i+1])
	}
	return all
}

// expectHealth checks the three forms of the command. code is what readiness
// says, and liveness too unless it is well.
func (b *box) expectHealth(when string, readiness, liveness int, code string, exec ...string) {
	b.t.Helper()
	forms := []string{"", "--readiness", "--liveness"}
	exits := []int{readiness, readiness, liveness}
	for i, h := range b.ask(exec, forms...) {
		want := code
		if exits[i] == 0 {
			want = "health_ok"
		}
		if h.exit != exits[i] || h.code != want {
			b.t.Errorf("%s, health %s: exit %d, want %d with %s: %s", when, forms[i], h.exit, exits[i], want, h.text)
		}
	}
}

// awaitHealth waits until health says a text.
func (b *box) awaitHealth(text string) {
	b.t.Helper()
	eventually(b.t, "health says "+text, func() error {
		if h := b.ask(nil, "")[0]; !strings.Contains(h.text, text) {
			return errors.New(h.text)
		}
		return nil
	})
}

// field is the value of a field of a line of text.
func field(line, name string) string {
	for word := range strings.FieldsSeq(line) {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return strings.TrimSuffix(value, ":")
		}
	}
	return ""
}
