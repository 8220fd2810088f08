package gate

import (
	"bytes"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/startgate/startgate/probe/probetest"
)

// The first attempts of a fleet that starts in one instant are spread evenly
// over the jitter: Kolmogorov and Smirnov's distance of even times is larger
// than this once in 3,000 tests, that of times all alike is one half and more.
// On the clock of synctest an attempt takes no time.
func TestStartJitterSpreadsAFleet(t *testing.T) {
	const gates, jitter = 400, 10 * time.Second
	const most = 2.1 / 20 // by the root of gates
	down := probetest.New(t, probetest.Behaviour{})
	down.Down()
	url := "REDIS_URL=redis://" + down.Addr()
	var times []float64
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var fleet sync.WaitGroup
		var mu sync.Mutex
		for range gates {
			fleet.Go(func() {
				stderr := new(bytes.Buffer)
				g := Gate{Environ: []string{url}, Stderr: stderr, Flags: map[string]string{"timeout": "0", "start-jitter": jitter.String()}}
				if code := g.Wait(t.Context()); code != ExitBudgetSpent {
					t.Errorf("exit %d: %s", code, stderr)
				}
				mu.Lock()
				defer mu.Unlock()
				times = append(times, float64(time.Since(start))/float64(jitter))
			})
		}
		fleet.Wait()
	})
	slices.Sort(times)
	distance := 0.0
	for i, at := range times {
		distance = max(distance, math.Abs(float64(i)/gates-at), math.Abs(float64(i+1)/gates-at))
	}
	t.Logf("from %.3f to %.3f of the jitter, distance %.3f", times[0], times[len(times)-1], distance)
	if distance > most {
		t.Errorf("not even: distance %.3f, want at most %.3f", distance, most)
	}
}
