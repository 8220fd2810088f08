package probe

import (
	"context"

	"github.com/startgate/startgate/envcheck"
)

// anyOf probes servers of which one must be ready, as Celery takes them.
type anyOf struct{ servers []Prober }

func newAnyOf(p envcheck.RedisParts, o RedisOptions) *anyOf {
	var a anyOf
	others := p.Others
	p.Others = nil
	for _, one := range append([]envcheck.RedisParts{p}, others...) {
		a.servers = append(a.servers, NewRedis(envcheck.Seal(one), o))
	}
	return &a
}

// Probe asks all at once. While none is ready, the first that may become so
// says why.
func (a *anyOf) Probe(ctx context.Context) Outcome {
	outcomes := make([]Outcome, len(a.servers))
	done := make(chan bool)
	for i, s := range a.servers {
		go func() {
			outcomes[i] = s.Probe(ctx)
			done <- true
		}()
	}
	for range a.servers {
		<-done
	}
	best := outcomes[0]
	for _, o := range outcomes[1:] {
		if rank(o) > rank(best) {
			best = o
		}
	}
	return best
}

func rank(o Outcome) int {
	switch o.Verdict {
	case Ready:
		return 2
	case Retry:
		return 1
	}
	return 0
}

// Close drops all connections.
func (a *anyOf) Close() {
	for _, s := range a.servers {
		s.Close()
	}
}
