package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
)

// TestComposeGating starts stacks of gates and brokers with compose. One image
// is everything that a stack needs: Redis with a data set that it loads as
// slowly as it is told to, the gate, and a worker that looks first of all
// whether Redis is ready.
func TestComposeGating(t *testing.T) {
	g := provideGating(t)
	// First and alone, since it measures.
	t.Run("TERM while gating", func(t *testing.T) { testComposeTerm(t, g) })
	cases := map[string]func(*testing.T, *gating){
		"healthy by health":         testGatedByHealth,
		"healthy by probe":          testGatedByProbe,
		"completed by wait":         testGatedByWait,
		"broker starts later":       testBrokerStartsLater,
		"exit codes and restarts":   testExitCodesAndRestarts,
		"broker dies while loading": testBrokerDiesWhileLoading,
	}
	if full() {
		maps.Copy(cases, map[string]func(*testing.T, *gating){
			"loads beyond its window": testLoadsBeyondItsWindow,
			"broker killed and back":  testBrokerKilledAndBack,
			"broker at a new address": testBrokerAtNewAddress,
			"broker paused":           testBrokerPaused,
			"network lost":            testNetworkLost,
			"refusals and restarts":   testRefusalsAndRestarts,
		})
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, g)
		})
	}
}

// gating has the images of the stacks.
type gating struct {
	gate string // the gate's own
	all  string // everything
}

// The commands of the data set are in an append-only file, which Redis loads
// one by one. It is no part of the volume that the base has.
const gatingDockerfile = `
FROM redis:7
RUN mkdir /dataset && redis-server --dir /dataset --appendonly yes --aof-use-rdb-preamble no --save "" --daemonize yes \
 && until redis-cli ping | grep -qx PONG; do sleep 0.1; done \
 && seq %d | sed "s/.*/SET key:& 0/" | redis-cli --pipe \
 && redis-cli shutdown
COPY --from=%s /startgate /startgate
COPY worker /usr/local/bin/worker
ENV STARTGATE_FORMAT=json
ENTRYPOINT ["/startgate", "--"]
CMD ["worker", "ready"]
`

// gatedKeys is how many keys that is. Redis answers once in 1024 of them.
const gatedKeys = 60_000

func provideGating(t *testing.T) *gating {
	t.Helper()
	needDocker(t)
	need(t, "docker compose", exec.Command("docker", "compose", "version").Run() == nil)
	provideImages(t, "redis:7")
	worker, err := os.ReadFile(workerPath())
	if err != nil {
		t.Fatal(err)
	}
	g := &gating{gate: ownImage(t)}
	g.all, err = buildImage(t, "gating", testcontainers.FromDockerfile{ContextArchive: archive(map[string][]byte{
		"Dockerfile": fmt.Appendf(nil, gatingDockerfile, gatedKeys, g.gate), "worker": worker,
	})})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// What no gate may print. The broker's name is one that no message has.
const (
	brokerName    = "vault-of-lions"
	rightPassword = "melon-harbour-73"
	wrongPassword = "quince-lantern-58"
)

// stackHead is how each file begins. A broker that takes long loads for a
// minute at least and answers once a second. To tell it to hurry, see hurry.
const stackHead = `
x-gated: &gated
  image: ${ALL}
  environment: &url
    REDIS_URL: redis://` + brokerName + `:6379/0
x-broker: &broker
  image: ${ALL}
  entrypoint: [redis-server, --dir, /dataset, --appendonly, "yes", --save, "", --bind, "*", --protected-mode, "no"]
  command: []
  networks: {default: {aliases: [` + brokerName + `]}}
x-slow: &slow [--key-load-delay, "1000"]
services:
`

// A gatedStack is a stack of gates and brokers. Services whose names begin with
// "broker" are the brokers.
type gatedStack struct {
	*composed
	t *testing.T
}

// stack returns the stack of these services, of which none has been started.
// At the end of t, what its gates have written is searched for values.
func (g *gating) stack(t *testing.T, services string) *gatedStack {
	t.Helper()
	file := filepath.Join(t.TempDir(), "compose.yaml")
	if err := os.WriteFile(file, []byte(stackHead+services), 0o644); err != nil {
		t.Fatal(err)
	}
	_, name, _ := strings.Cut(t.Name(), "/")
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	s := &gatedStack{composeFile(t, []string{"docker", "compose"}, file, name, []string{"ALL=" + g.all, "GATE=" + g.gate}), t}
	t.Cleanup(s.checkSilence)
	return s
}

// facts is what docker inspect says of a container.
type facts struct {
	Name         string
	RestartCount int
	Config       struct{ Labels map[string]string }
	State        struct {
		Status                string
		ExitCode              int
		StartedAt, FinishedAt time.Time
		Health                struct {
			Status string
			Log    []struct {
				ExitCode int
				Output   string
			}
		}
	}
	NetworkSettings struct {
		Networks map[string]struct{ IPAddress string }
	}
}

func (s *gatedStack) inspect(service string) facts {
	s.t.Helper()
	return inspect(s.t, s.container(service))[0]
}

func inspect(t testing.TB, containers ...string) (all []facts) {
	t.Helper()
	if err := json.Unmarshal([]byte(docker(t, append([]string{"container", "inspect"}, containers...)...)), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func (f facts) service() string { return f.Config.Labels["com.docker.compose.service"] }

func (f facts) address() string {
	for _, network := range f.NetworkSettings.Networks {
		return network.IPAddress
	}
	return ""
}

// become waits until a service's container is as cond wants it.
func (s *gatedStack) become(service, what string, cond func(facts) bool) (f facts) {
	s.t.Helper()
	id := s.container(service)
	eventually(s.t, service+" is "+what, func() error {
		if f = inspect(s.t, id)[0]; cond(f) {
			return nil
		}
		time.Sleep(100 * time.Millisecond) // to start Docker's client costs more than what it is asked about
		return fmt.Errorf("it is %+v\n%s", f, s.logs(service))
	})
	return f
}

func (s *gatedStack) becomeHealth(service, status string) facts {
	s.t.Helper()
	return s.become(service, status, func(f facts) bool { return f.State.Health.Status == status })
}

// begin makes all containers and has compose start them, or some, each when
// what it depends on is there. It does not wait for that.
func (s *gatedStack) begin(services ...string) *gateProcess {
	s.t.Helper()
	s.do("create")
	return start(s.t, s.command(append([]string{"up", "--detach"}, services...)...))
}

// started starts services alone, whatever they depend on, and returns what the
// last of them writes.
func (s *gatedStack) started(services ...string) *gateProcess {
	s.t.Helper()
	s.do(append([]string{"up", "--detach", "--no-deps"}, services...)...)
	return s.follow(services[len(services)-1])
}

// follow reads what a service writes, from its first start on. The process
// ends when the container does.
func (s *gatedStack) follow(service string) *gateProcess {
	s.t.Helper()
	return start(s.t, exec.Command("docker", "logs", "--follow", s.container(service)))
}

// finished checks that a container ends, with this code.
func (s *gatedStack) finished(service string, code int) facts {
	s.t.Helper()
	f := s.become(service, "exited", func(f facts) bool { return f.State.Status == "exited" })
	if f.State.ExitCode != code {
		s.t.Errorf("%s: exit %d, want %d\n%s", service, f.State.ExitCode, code, s.logs(service))
	}
	return f
}

// served checks that a worker has been started and has found its broker ready.
func (s *gatedStack) served(service string) facts {
	s.t.Helper()
	f := s.finished(service, 0)
	if log := s.logs(service); !strings.Contains(log, "worker: ready\n") {
		s.t.Errorf("%s has found no ready broker:\n%s", service, log)
	}
	return f
}

// neverStarted checks that compose has kept a service back.
func (s *gatedStack) neverStarted(service string) {
	s.t.Helper()
	if f := s.inspect(service); f.State.Status != "created" || f.State.StartedAt.Year() > 1 {
		s.t.Errorf("%s was started: %+v", service, f)
	}
}

// hurry has a broker load the rest of its data at once.
func (s *gatedStack) hurry(service string) {
	s.t.Helper()
	hurry(s.t, s.container(service))
}

func hurry(t testing.TB, container string) {
	t.Helper()
	eventually(t, "the broker does as it is told", func() error {
		return exec.Command("docker", "exec", container, "redis-cli", "CONFIG", "SET", "key-load-delay", "0").Run()
	})
}

// brokerPort is the brokers' port, and no part of a time.
var brokerPort = regexp.MustCompile(`(?m)(^|[^.0-9])6379([^0-9]|$)`)

// The gates' own lines, and what their health checks have said, have no value
// in them, whatever the stack went through.
func (s *gatedStack) checkSilence() {
	var written bytes.Buffer
	values := []string{brokerName, rightPassword, wrongPassword}
	ids := s.containers()
	if len(ids) == 0 {
		s.t.Error("there are no containers")
		return
	}
	for i, f := range inspect(s.t, ids...) {
		if ip := f.address(); net.ParseIP(ip) != nil {
			values = append(values, ip)
		}
		for _, probe := range f.State.Health.Log {
			written.WriteString(probe.Output)
		}
		if !strings.HasPrefix(f.service(), "broker") {
			log, err := exec.Command("docker", "logs", ids[i]).CombinedOutput()
			if err != nil {
				s.t.Error(err)
			}
			written.Write(log)
		}
	}
	if !s.t.Failed() && !bytes.Contains(written.Bytes(), []byte(`"code"`)) {
		s.t.Errorf("no gate has written anything:\n%s", written.Bytes())
	}
	for _, value := range values {
		if bytes.Contains(written.Bytes(), []byte(value)) || bytes.Contains(written.Bytes(), []byte(url.QueryEscape(value))) {
			s.t.Errorf("%s is in what the gates have written:\n%s", value, written.Bytes())
		}
	}
	if brokerPort.Match(written.Bytes()) {
		s.t.Errorf("the broker's port is in what the gates have written:\n%s", written.Bytes())
	}
}

// mentions reports whether a gate has said all of these codes, in this order.
func mentions(p *gateProcess, codes ...string) bool {
	for _, code := range p.codes() {
		if len(codes) > 0 && code == codes[0] {
			codes = codes[1:]
		}
	}
	return len(codes) == 0
}

// exits are the codes with which a gate has said that it ends.
func exits(p *gateProcess) (codes []int) {
	for _, e := range p.events() {
		if e.Exit != 0 {
			codes = append(codes, e.Exit)
		}
	}
	return slices.Clip(codes)
}
