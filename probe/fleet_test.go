package probe

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

// All gates of a fleet together cost a loading server less than 5 % of its one
// thread, since each pauses the longer the more of them the server counts: at
// most one probe in perClient, up to as many as the longest pause allows for.
func TestFleetSparesALoadingServer(t *testing.T) {
	for _, n := range []int{1, 100, 1000} {
		s := probetest.New(t, probetest.Behaviour{Loading: &probetest.Loading{}, MaxClients: 2 * n})
		ctx, cancel := context.WithCancel(t.Context())
		var fleet sync.WaitGroup
		for range n {
			r := newRedis(t, s.URL(), RedisOptions{DialTimeout: time.Minute, ReplyTimeout: time.Minute, Require: envcheck.RequireWrite})
			fleet.Go(func() { Wait(ctx, r, Limits{Budget: time.Hour}, nil) })
		}
		// From when all are there and have their pace, which they learn with
		// their second answer.
		await := func(batches int) time.Time {
			if err := s.Wait(t.Context(), func(got probetest.Traffic) bool { return got.Open == n && got.Batches >= batches }); err != nil {
				t.Fatal(err)
			}
			return time.Now()
		}
		start := await(3 * n)
		before := s.Traffic().Batches
		took := await(before + 2*n + 20).Sub(start)
		probes := s.Traffic().Batches - before
		cancel()
		fleet.Wait()

		least := max(25*time.Millisecond/time.Duration(n), perClient)
		if mean := took / time.Duration(probes); mean < least*3/4 {
			t.Errorf("%d gates: a probe every %s, want one in %s at most", n, mean, least)
		}
		if got := s.Traffic().Accepted; got != n {
			t.Errorf("%d gates made %d connections", n, got)
		}
	}
}
