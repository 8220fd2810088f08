package integration

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	chaosPassword = "chaos-canary-7Q2xV9"
	// slack is how far apart a worker's start and a sight of a ready broker may
	// be: a broker can fall over between the gate's last look and the exec. It
	// is also what a gate may take beyond its budget. Both grow with what the
	// start of a process takes on a busy machine.
	slack = 700 * time.Millisecond
	// startsInSlack is how many such starts.
	startsInSlack = 5
)

// Whatever becomes of the broker, no worker starts while it is not ready, no
// gate outlives its budget, none leaks, and none says the password. An hour of
// it wants a -timeout of more.
func TestChaos(t *testing.T) {
	length := 18 * time.Second
	if full() {
		length = 3 * time.Minute
	}
	if soak, err := time.ParseDuration(os.Getenv("STARTGATE_TEST_SOAK")); err == nil {
		length = soak
	}
	c := newChaos(t)
	leaks := c.watchForLeaks()
	c.run(length, func(path *chaosPath, budget time.Duration) *exec.Cmd {
		return command(redisURL(path.url()), "run", "--timeout", budget.String(), "--reply-timeout", "1", "--", workerPath(), "ready")
	})
	leaks.check()
	t.Logf("seed %d: %d events, %d gates, of which %d came to start the worker, slack up to %s: %s",
		c.seed, len(c.events), c.gates, len(c.starts), c.slackest(), c.count())
	for _, w := range c.wrong {
		t.Error(w)
	}
	if len(c.starts) == 0 || len(c.starts) == c.gates {
		t.Errorf("%d of %d gates have started the worker, which shows nothing", len(c.starts), c.gates)
	}
}

// Each promise that a gate can break is seen to be broken.
func TestChaosIsSeen(t *testing.T) {
	for what, gate := range map[string]string{
		"started unready": `exec "$0" ready`,
		"outlives":        `exec sleep 60`,
		"says the":        `echo "$REDIS_URL" >&2; exit 75`,
		"ends with 69":    `exit 69`,
		"gives up":        `exit 75`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := newChaos(t)
			for range 10 { // what befalls the broker is the seed's, how long that must last the machine's
				c.run(6*time.Second, func(path *chaosPath, _ time.Duration) *exec.Cmd {
					cmd := exec.Command("sh", "-c", gate, workerPath())
					cmd.Env = redisURL(path.url())
					return cmd
				})
				if contains(strings.Join(c.wrong, "\n"), what) {
					return
				}
			}
			t.Errorf("seed %d: not seen in %d gates: %s", c.seed, c.gates, c.count())
		})
	}
}

// chaos is a run of gates and of what befalls their broker.
type chaos struct {
	t     *testing.T
	seed  uint64
	luck  *rand.Rand // of the gates
	fates []*chaosFate
	s     *redisServer
	paths []*chaosPath
	proxy *chaosProxy

	gates int
	done  sync.WaitGroup

	mu     sync.Mutex
	took   []chaosTook
	events []chaosHappened
	starts []chaosStart
	wrong  []string
}

// chaosHappened is an event that has befallen the broker.
type chaosHappened struct {
	name string
	at   time.Time
}

// chaosTook is what the start and end of a process took, at some time.
type chaosTook struct {
	at   time.Time
	took time.Duration
}

// chaosStart is one start of a worker.
type chaosStart struct {
	path *chaosPath
	at   time.Time
	said string
}

func newChaos(t *testing.T) *chaos {
	t.Helper()
	tinyFileSystem(t) // needs what it needs
	c := &chaos{t: t, seed: rand.Uint64()}
	if seed, err := strconv.ParseUint(os.Getenv("STARTGATE_TEST_SEED"), 10, 64); err == nil {
		c.seed = seed
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("STARTGATE_TEST_SEED=%d repeats these events: %s", c.seed, c.count())
		}
	})
	// Each has its own, so that none depends on another's pace.
	random := func(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(c.seed, stream)) }
	c.luck = random(0)
	c.fates = []*chaosFate{{Rand: random(1), events: c.brokerEvents}, {Rand: random(2), events: c.networkEvents}}
	c.s = newRedis(t, redisOptions{dir: dataSet(t)})
	c.start()
	c.proxy = startChaosProxy(t, c.s.addr())
	c.paths = []*chaosPath{watchPath(t, c.s.addr()), watchPath(t, c.proxy.addr())}
	for _, p := range c.paths {
		eventually(t, "the broker is ready", func() error {
			if p.lastSight().IsZero() {
				return errNotYet
			}
			return nil
		})
	}
	return c
}

// run lets events befall the broker, and starts gates, until length is over.
func (c *chaos) run(length time.Duration, gate func(*chaosPath, time.Duration) *exec.Cmd) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		c.timeStarts(stop)
	}()
	end, nextGate := time.Now().Add(length), time.Now()
	for now := time.Now(); now.Before(end); now = time.Now() {
		next := end
		for _, f := range c.fates {
			next = earlier(next, c.let(f, now))
		}
		if !now.Before(nextGate) {
			c.startGate(gate)
			nextGate = now.Add(between(c.luck, 100*time.Millisecond, 500*time.Millisecond))
		}
		time.Sleep(time.Until(earlier(next, nextGate)))
	}
	for _, f := range c.fates {
		if f.undo != nil {
			f.undo()
			f.undo = nil
		}
	}
	c.done.Wait()
	time.Sleep(slack) // the sights after the last start
	close(stop)
	<-stopped
	for _, s := range c.starts {
		if apart := s.path.fromSight(s.at); apart > c.slack(s.at) {
			c.broken(s.at, "started unready: %s from any sight of a ready broker at %s, the worker found %q", apart, s.path.address, s.said)
		}
	}
}

// timeStarts times the start of a process, over and over.
func (c *chaos) timeStarts(stop <-chan struct{}) {
	for {
		began := time.Now()
		if err := exec.Command(workerPath(), "exit", "0").Run(); err != nil {
			c.broken(began, "a worker without a gate: %v", err)
		}
		c.mu.Lock()
		c.took = append(c.took, chaosTook{began, time.Since(began)})
		c.mu.Unlock()
		select {
		case <-stop:
			return
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// slack is the slack of what was at some time, by how busy the machine was in
// the seconds before and after.
func (c *chaos) slack(at time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	most := time.Duration(0)
	for i := len(c.took) - 1; i >= 0 && c.took[i].at.After(at.Add(-10*time.Second)); i-- {
		if c.took[i].at.Before(at.Add(time.Second)) {
			most = max(most, c.took[i].took)
		}
	}
	if len(c.took) > 0 && at.After(c.took[len(c.took)-1].at) { // one that may be under way
		most = max(most, at.Sub(c.took[len(c.took)-1].at)-time.Second)
	}
	return slack + startsInSlack*most
}

func (c *chaos) startGate(gate func(*chaosPath, time.Duration) *exec.Cmd) {
	path := c.paths[c.luck.IntN(len(c.paths))]
	budget := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 6 * time.Second}[c.luck.IntN(4)]
	cmd := gate(path, budget)
	out := &lockedBuffer{}
	cmd.Stdout = out
	p := start(c.t, cmd)
	c.gates++
	c.done.Go(func() { c.judge(p, path, budget, out) })
}

// judge waits for the end of a gate and says what it has done wrong.
func (c *chaos) judge(p *gateProcess, path *chaosPath, budget time.Duration, out *lockedBuffer) {
	for ended := false; !ended && !contains(out.String(), "worker: started"); {
		select {
		case <-p.exited:
			ended = true
		case <-time.After(20 * time.Millisecond):
			if over := time.Since(p.started) - budget; over > slack && over > c.slack(time.Now()) {
				c.broken(time.Now(), "a gate outlives its budget of %s by %s: %s", budget, over, p.codes())
				ended = true
			}
		}
	}
	select { // the worker, which may hang on a broker that does
	case <-p.exited:
	case <-time.After(slack):
		p.cmd.Process.Kill()
		<-p.exited
	}
	said := out.String()
	if strings.Contains(said+p.stderr, chaosPassword) {
		c.broken(time.Now(), "a gate says the password")
	}
	first, _, _ := strings.Cut(said, "\n")
	stamp, has := strings.CutPrefix(first, "worker: started ")
	if !has {
		if p.code != 75 && p.code != -1 {
			c.broken(time.Now(), "a gate ends with %d: %s", p.code, p.codes())
		}
		if p.code == 75 && p.took() < budget-200*time.Millisecond {
			c.broken(time.Now(), "a gate gives up after %s of its %s: %s", p.took(), budget, p.codes())
		}
		return
	}
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		c.broken(time.Now(), "a worker says %q", first)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.starts = append(c.starts, chaosStart{path, at, said[len(first):]})
}

// broken notes what a gate has done wrong at some time, and what had befallen
// the broker then.
func (c *chaos) broken(at time.Time, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	wrong := fmt.Sprintf(format, args...)
	for _, e := range c.events {
		if since := at.Sub(e.at); since < 10*time.Second && since > -time.Second {
			wrong += fmt.Sprintf(", %s after %s", since.Round(time.Millisecond), e.name)
		}
	}
	c.wrong = append(c.wrong, wrong)
}

func (c *chaos) slackest() (most time.Duration) {
	for _, s := range c.took {
		most = max(most, slack+startsInSlack*s.took)
	}
	return most
}

// count says how often each event befell the broker.
func (c *chaos) count() string {
	times := map[string]int{}
	for _, e := range c.events {
		times[e.name]++
	}
	return fmt.Sprint(times)
}

func between(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)))
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
