package probe

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// script is a prober whose outcomes are written down. The last one repeats.
type script struct {
	outcomes []Outcome
	takes    time.Duration
	at       []time.Duration // when each attempt began
	began    time.Time
	closed   int
}

func (s *script) Probe(ctx context.Context) Outcome {
	if s.began.IsZero() {
		s.began = time.Now()
	}
	s.at = append(s.at, time.Since(s.began))
	o := s.outcomes[min(len(s.at), len(s.outcomes))-1]
	if !sleep(ctx, s.takes) {
		return Outcome{Code: envcheck.RedisReplyTimeout, Cut: true}
	}
	return o
}

func (s *script) Close() { s.closed++ }

var (
	refused = Outcome{Code: envcheck.RedisRefused}
	denied  = Outcome{Code: envcheck.RedisAuthRejected, Verdict: Refuse}
	loading = Outcome{Code: envcheck.RedisLoading, Clients: 1}
	ready   = Outcome{Code: envcheck.Ready, Verdict: Ready}

	limits = Limits{Budget: 30 * time.Second, IntervalMin: 25 * time.Millisecond, IntervalMax: time.Second}
)

// wait runs Wait in a bubble of fake time and returns how long it took.
func wait(t *testing.T, p *script, l Limits) (o Outcome, attempts int, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		o = Wait(t.Context(), p, l, func(Outcome) { attempts++ })
		took = time.Since(start)
		if attempts != len(p.at)-1 {
			t.Errorf("%d outcomes observed before the last of %d", attempts, len(p.at))
		}
		attempts = len(p.at)
	})
	return o, attempts, took
}

func TestWaitSpendsItsBudget(t *testing.T) {
	p := &script{outcomes: []Outcome{refused}}
	o, _, took := wait(t, p, limits)
	if o.Code != envcheck.RedisRefused || o.Verdict != Retry {
		t.Errorf("code %s verdict %d, want the last cause", o.Code, o.Verdict)
	}
	if last := p.at[len(p.at)-1]; last != limits.Budget-lastProbe {
		t.Errorf("last attempt at %s, want 100 ms before the end", last)
	}
	if took > limits.Budget || took < limits.Budget-lastProbe {
		t.Errorf("took %s of %s", took, limits.Budget)
	}
}

func TestWaitKeepsTheCauseOfACutAttempt(t *testing.T) {
	// Answers every 110 ms: the last attempt begins 100 ms before the end.
	p := &script{outcomes: []Outcome{loading}, takes: 110 * time.Millisecond}
	o, _, took := wait(t, p, limits)
	if o.Code != envcheck.RedisLoading {
		t.Errorf("code %s, want that of the attempts which were answered", o.Code)
	}
	if over := took - limits.Budget; over > 100*time.Millisecond {
		t.Errorf("%s over the budget", over)
	}
}

func TestWaitReportsAFirstAttemptThatWasCut(t *testing.T) {
	p := &script{outcomes: []Outcome{ready}, takes: time.Hour}
	if o, _, _ := wait(t, p, limits); o.Code != envcheck.RedisReplyTimeout {
		t.Errorf("code %s, want %s", o.Code, envcheck.RedisReplyTimeout)
	}
}

func TestWaitWithoutBudgetIsOneAttempt(t *testing.T) {
	p := &script{outcomes: []Outcome{refused, ready}}
	if o, seen, _ := wait(t, p, Limits{}); seen != 1 || o.Code != envcheck.RedisRefused {
		t.Errorf("%d attempts, code %s", seen, o.Code)
	}
}

func TestWaitEndsAtOnceOnReadiness(t *testing.T) {
	p := &script{outcomes: []Outcome{refused, loading, ready}}
	o, seen, took := wait(t, p, limits)
	if o.Verdict != Ready || seen != 3 || took > time.Second {
		t.Errorf("verdict %d after %d attempts and %s", o.Verdict, seen, took)
	}
}

func TestWaitRefusesAtOnce(t *testing.T) {
	p := &script{outcomes: []Outcome{denied, ready}}
	if o, seen, took := wait(t, p, limits); o.Verdict != Refuse || seen != 1 || took != 0 {
		t.Errorf("verdict %d after %d attempts and %s", o.Verdict, seen, took)
	}
}

func TestWaitRetriesARefusalForAWhile(t *testing.T) {
	l := limits
	l.RefuseAfter = 5 * time.Second
	if o, _, took := wait(t, &script{outcomes: []Outcome{denied}}, l); o.Verdict != Refuse || took < l.RefuseAfter || took > l.RefuseAfter+2*time.Second {
		t.Errorf("verdict %d after %s, want a refusal after %s", o.Verdict, took, l.RefuseAfter)
	}
	if o, _, _ := wait(t, &script{outcomes: []Outcome{denied, denied, ready}}, l); o.Verdict != Ready {
		t.Errorf("verdict %d, want ready: the password was set meanwhile", o.Verdict)
	}
	l.RefuseAfter = time.Hour
	if o, _, _ := wait(t, &script{outcomes: []Outcome{denied}}, l); o.Verdict != Refuse {
		t.Errorf("verdict %d, want a refusal: the budget ended while it lasted", o.Verdict)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		start := time.Now()
		Wait(ctx, &script{outcomes: []Outcome{refused}}, limits, func(Outcome) {})
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %s after a cancellation at 3s", took)
		}
	})
}

func TestWaitDropsAConnectionThatWouldIdle(t *testing.T) {
	l := limits
	l.IntervalMin, l.IntervalMax = 8*time.Second, 8*time.Second
	full := Outcome{Code: envcheck.RedisOutOfMemory, Clients: 1}
	p := &script{outcomes: []Outcome{full, full, ready}}
	if wait(t, p, l); p.closed != 2 {
		t.Errorf("closed %d times over two long pauses", p.closed)
	}
	p = &script{outcomes: []Outcome{full, full, ready}}
	if wait(t, p, limits); p.closed != 0 {
		t.Errorf("closed %d times over short pauses", p.closed)
	}
	// A gate that went would not be counted, and its fleet would hurry.
	p = &script{outcomes: []Outcome{loading, loading, ready}}
	if wait(t, p, l); p.closed != 0 {
		t.Errorf("closed %d times over long pauses of a server that loads", p.closed)
	}
}

// mean is the mean pause between attempts at a server that says o.
func mean(o Outcome, l Limits) time.Duration {
	p := newPace(l)
	var sum time.Duration
	const n = 2000
	for range n {
		sum += p.next(o)
	}
	return sum / n
}

func TestPaceGrowsWithTheFleetWhileLoading(t *testing.T) {
	for _, c := range []struct {
		clients int
		want    time.Duration
	}{
		{1, 25 * time.Millisecond}, {100, 100 * time.Millisecond}, {500, 500 * time.Millisecond}, {100000, time.Second},
	} {
		got := mean(Outcome{Code: envcheck.RedisLoading, Clients: c.clients}, limits)
		if ratio := float64(got) / float64(c.want); ratio < 0.9 || ratio > 1.1 {
			t.Errorf("%d clients: mean pause %s, want about %s", c.clients, got, c.want)
		}
	}
}

func TestPaceIsExponentialPerCause(t *testing.T) {
	p := newPace(limits)
	within := func(d, want time.Duration) {
		t.Helper()
		if d < want/2 || d > want*3/2 {
			t.Errorf("pause %s, want %s within half", d, want)
		}
	}
	within(p.next(refused), 25*time.Millisecond)
	for range 20 {
		p.next(refused)
	}
	within(p.next(refused), time.Second)
	within(p.next(Outcome{Code: envcheck.RedisClosed}), 25*time.Millisecond)
	within(p.next(loading), 25*time.Millisecond)
	within(p.next(loading), 25*time.Millisecond)
}

// Causes that take turns are no news, and each attempt is a connection.
func TestPaceSlowsDownWhenCausesAlternate(t *testing.T) {
	p := newPace(limits)
	var took time.Duration
	for range 20 {
		took += p.next(refused) + p.next(Outcome{Code: envcheck.RedisConnectTimeout})
	}
	if took < 10*time.Second {
		t.Errorf("40 attempts in %s", took)
	}
	// After a restart the load is met at its own pace at once.
	if got := p.next(loading); got > 40*time.Millisecond {
		t.Errorf("pause %s of a server that loads", got)
	}
}
