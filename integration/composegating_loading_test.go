package integration

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
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
  broker-0: &broker-0 {<<: *broker, command: [--key-load-delay, "100"], networks: {lane-0: {aliases: [`+brokerName+`-0]}}}
  broker-1: {<<: *broker-0, networks: {lane-1: {aliases: [`+brokerName+`-1]}}}
  worker-0: {<<: *gated, networks: [lane-0], environment: {REDIS_URL: redis://`+brokerName+`-0:6379/0}}
  worker-1: {<<: *gated, networks: [lane-1], environment: {REDIS_URL: redis://`+brokerName+`-1:6379/0}}
networks: {lane-0: , lane-1: } # in one, a broker that starts may get the address that the other has just lost
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
}

func (l *loadingLane) run(rounds int) {
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
	l.t.Logf("%d restarts: %d workers started before the broker was ready, %d gates have met it loading, %d rounds were void", rounds, early, met, void)
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
	l.randomPoint()
	docker(l.t, "kill", l.broker)
	r.void = readyLine.MatchString(l.logs(l.broker, begin))
	restarted := time.Now()
	docker(l.t, "start", l.broker)
	if !spans {
		docker(l.t, "start", l.worker)
	}
	l.randomPoint()
	hurry(l.t, l.broker)
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

// randomPoint is one in the middle of loading. There is nothing to be observed.
func (l *loadingLane) randomPoint() {
	time.Sleep(time.Duration(l.rand.Int64N(int64(1500 * time.Millisecond))))
}

// logs are what a container has written since an instant.
func (l *loadingLane) logs(container string, since time.Time) string {
	l.t.Helper()
	out, err := exec.Command("docker", "logs", "--since", since.Format(time.RFC3339Nano), container).CombinedOutput()
	if err != nil {
		l.t.Fatal(err)
	}
	return string(out)
}

// readyLine is what Redis says, by a clock that is the worker's, too.
var readyLine = regexp.MustCompile(`(\d\d \w{3} \d{4} \d\d:\d\d:\d\d\.\d{3}) \* Ready to accept connections`)

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
