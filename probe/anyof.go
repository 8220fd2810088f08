package probe

import (
	"context"

	"github.com/startgate/startgate/envcheck"
)

// anyOf probes servers of which one must be ready, as Celery takes them.
type anyOf struct {
	servers  []Prober
	busy     []bool // an attempt is under way
	outcomes chan numbered
}

// numbered is the outcome of one of the servers.
type numbered struct {
	server int
	o      Outcome
}

func newAnyOf(p envcheck.RedisParts, o RedisOptions) *anyOf {
	var a anyOf
	others := p.Others
	p.Others = nil
	for _, one := range append([]envcheck.RedisParts{p}, others...) {
		a.servers = append(a.servers, NewRedis(envcheck.Seal(one), o))
	}
	a.busy = make([]bool, len(a.servers))
	a.outcomes = make(chan numbered, len(a.servers))
	return &a
}

// Probe asks all at once, and is content with the first that is ready: another
// may be silent. While none is, the first that may become so says why.
func (a *anyOf) Probe(ctx context.Context) Outcome {
	a.settle()
	for i, s := range a.servers {
		if !a.busy[i] {
			a.busy[i] = true
			go func() { a.outcomes <- numbered{i, s.Probe(ctx)} }()
		}
	}
	last := make([]Outcome, len(a.servers))
	for range a.servers {
		got := <-a.outcomes
		a.busy[got.server], last[got.server] = false, got.o
		if got.o.Verdict == Ready {
			return got.o
		}
	}
	best := last[0]
	for _, o := range last[1:] {
		if best.Verdict == Refuse && o.Verdict == Retry {
			best = o
		}
	}
	return best
}

// settle drops the outcomes that came once Probe had returned: they tell how
// the servers were then.
func (a *anyOf) settle() {
	for len(a.outcomes) > 0 {
		a.busy[(<-a.outcomes).server] = false
	}
}

// Close drops all connections but those with an attempt under way.
func (a *anyOf) Close() {
	a.settle()
	for i, s := range a.servers {
		if !a.busy[i] {
			s.Close()
		}
	}
}
