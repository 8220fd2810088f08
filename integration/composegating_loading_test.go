package integration

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A broker that is killed at a random point of its loading and started again:
// no worker is started before it is ready.
func testBrokerDiesWhileLoading(t *testing.T, g *gating) {
	rounds, lanes := 5, 1
	if full() {
		rounds, lanes = 50, 2
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	s := g.stack(t, `
  broker-0: &fast {<<: *broker, command: [--key-load-delay, "-8"], networks: {default: {aliases: [`+brokerName+`-0]}}}
  broker-1: {<<: *fast, networks: {default: {aliases: [`+brokerName+`-1]}}}
  worker-0: {<<: *gated, environment: {REDIS_URL: redis://`+brokerName+`-0:6379/0}}
  worker-1: {<<: *gated, environment: {REDIS_URL: redis://`+brokerName+`-1:6379/0}}
`)
	s.do("create")
	t.Run("rounds", func(t *testing.T) {
		for lane := range lanes {
			t.Run(strconv.Itoa(lane), func(t *testing.T) {
				t.Parallel()
				l := loadingLane{
					t: t, rand: rand.New(rand.NewPCG(seed, uint64(lane))),
					broker: s.container(fmt.Sprint("broker-", lane)), worker: s.container(fmt.Sprint("worker-", lane)),
				}
				l.run(rounds / lanes)
			})
		}
	})
}

// A loadingLane is one broker with its worker.
type loadingLane struct {
	t              *testing.T
	rand           *rand.Rand
	broker, worker string
	loads          time.Duration // how long the broker loads when nobody kills it
}

func (l *loadingLane) run(rounds int) {
	docker(l.t, "start", l.broker)
	eventually(l.t, "the broker has loaded", func() error {
		m := loadTime.FindStringSubmatch(l.logs(l.broker, time.Time{}))
		if m == nil {
			return errNotYet
		}
		seconds, err := strconv.ParseFloat(m[1], 64)
		l.loads = time.Duration(seconds * float64(time.Second))
		return err
	})
	docker(l.t, "kill", l.broker)
	void, early, met := 0, 0, 0
	for round := 0; round < rounds; {
		// Every other gate is there when the broker dies.
		result := l.round(round%2 == 0)
		if result.void {
			if void++; void > rounds {
				l.t.Fatal("the broker has always loaded before it is killed")
			}
			continue
		}
		round++
		if result.early {
			early++
		}
		if result.met {
			met++
		}
	}
	l.t.Logf("%d restarts of a broker that loads for %s: %d workers started before it was ready, %d gates have met it loading, %d rounds were void",
		rounds, l.loads, early, met, void)
	if early > 0 || met < rounds/2 {
		l.t.Error("that is not as it should be")
	}
}

type loadingRound struct {
	void  bool // the broker had loaded before it was killed
	early bool // the worker was started before the broker was ready
	met   bool // the gate has seen the broker load
}

// round kills the broker while it loads, and has it load again. The gate is
// started before that, or after.
func (l *loadingLane) round(spans bool) (r loadingRound) {
	begin := time.Now()
	docker(l.t, "start", l.broker)
	if spans {
		docker(l.t, "start", l.worker)
	}
	// A random point is what this is about: there is nothing to be observed.
	time.Sleep(time.Until(begin.Add(time.Duration((0.1 + 0.8*l.rand.Float64()) * float64(l.loads)))))
	docker(l.t, "kill", l.broker)
	r.void = readyLine.MatchString(l.logs(l.broker, begin))
	restarted := time.Now()
	docker(l.t, "start", l.broker)
	if !spans {
		docker(l.t, "start", l.worker)
	}
	code := docker(l.t, "wait", l.worker)
	worker := l.logs(l.worker, begin)
	if !r.void {
		r.early = code != "0" || !strings.Contains(worker, "worker: ready\n") ||
			startedAt(l.t, worker).Before(readyAt(l.t, l.logs(l.broker, restarted)))
	}
	if r.early {
		l.t.Errorf("exit %s\n%s", code, worker)
	}
	r.met = strings.Contains(worker, `"redis_loading"`)
	docker(l.t, "kill", l.broker)
	return r
}

// logs are what a container has written since an instant.
func (l *loadingLane) logs(container string, since time.Time) string {
	l.t.Helper()
	args := []string{"logs", container}
	if !since.IsZero() {
		args = slices.Insert(args, 1, "--since", since.Format(time.RFC3339Nano))
	}
	out, err := exec.Command("docker", args...).CombinedOutput()
	if err != nil {
		l.t.Fatal(err)
	}
	return string(out)
}

// What Redis says, with a clock that is the worker's, too.
var (
	loadTime  = regexp.MustCompile(`DB loaded from append only file: ([0-9.]+) seconds`)
	readyLine = regexp.MustCompile(`(\d\d \w{3} \d{4} \d\d:\d\d:\d\d\.\d{3}) \* Ready to accept connections`)
)

// readyAt is when a broker has last become ready.
func readyAt(t testing.TB, log string) time.Time {
	t.Helper()
	lines := readyLine.FindAllStringSubmatch(log, -1)
	if lines == nil {
		t.Errorf("the broker has not become ready:\n%s", log)
		return time.Time{}
	}
	at, err := time.Parse("02 Jan 2006 15:04:05.000", lines[len(lines)-1][1])
	if err != nil {
		t.Error(err)
	}
	return at
}

// startedAt is when a worker was last started, as it says.
func startedAt(t testing.TB, log string) time.Time {
	t.Helper()
	_, last, _ := strings.Cut(log[max(0, strings.LastIndex(log, "worker: started ")):], "worker: started ")
	last, _, _ = strings.Cut(last, "\n")
	at, err := time.Parse(time.RFC3339Nano, last)
	if err != nil {
		t.Errorf("no worker was started: %v\n%s", err, log)
	}
	return at
}
