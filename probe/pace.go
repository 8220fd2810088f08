package probe

import (
	"cmp"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/startgate/startgate/envcheck"
)

// perClient is how much longer each gate of a fleet pauses for every client
// that a loading server counts. A probe on a kept connection costs the
// server's one thread some 30 µs (integration/measure/fleet), so 1 ms keeps all
// gates together below 5 % of it, as long as no pause meets its longest.
const perClient = time.Millisecond

// pace proposes the pauses between attempts.
type pace struct {
	limits  Limits
	backoff backoff.ExponentialBackOff
	seen    map[envcheck.Code]bool
}

func newPace(l Limits) *pace {
	l.IntervalMin = cmp.Or(l.IntervalMin, 25*time.Millisecond)
	l.IntervalMax = max(l.IntervalMin, cmp.Or(l.IntervalMax, time.Second))
	return &pace{limits: l, seen: make(map[envcheck.Code]bool), backoff: backoff.ExponentialBackOff{
		Multiplier:          1.7,
		RandomizationFactor: 0.5, // full jitter has the longer tail
		MaxInterval:         l.IntervalMax,
		MaxElapsedTime:      0, // the budget is Wait's alone
		Clock:               backoff.SystemClock,
		Stop:                backoff.Stop,
	}}
}

// next returns the pause after o: steady while a server loads, for the fleet's
// load on it must not depend on how long that takes, else exponential, and from
// the shortest with each cause that is new. One that comes back changes nothing:
// two dead addresses of a name take turns for as long as they are dead.
func (p *pace) next(o Outcome) time.Duration {
	first := p.limits.IntervalMin
	steady := o.Code == envcheck.RedisLoading && o.Clients > 0
	if steady {
		first = min(max(first, time.Duration(o.Clients)*perClient), p.limits.IntervalMax)
	}
	if steady || !p.seen[o.Code] {
		p.seen[o.Code] = true
		p.backoff.InitialInterval = first
		p.backoff.Reset()
	}
	return p.backoff.NextBackOff()
}
