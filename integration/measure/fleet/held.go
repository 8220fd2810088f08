//go:build linux

package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/startgate/startgate/integration/internal/fixture"
	"github.com/startgate/startgate/integration/internal/report"
)

const (
	heldKeys = 20_000
	perKey   = 3 * time.Millisecond // so that it answers every 110 ms
	steady   = 3 * time.Second
	// patience is how long a fleet may take to be all there.
	patience = 30 * time.Second
)

// costs are what gates take of the server's thread.
type costs struct{ probe, connection time.Duration }

// stay is what was seen of a fleet before a Redis that loads for as long as
// the fleet is looked at, and does nothing else with its thread.
type stay struct {
	before, there state // the server without the fleet, and when all were there
	begin, end    state // of a time in which nothing changes
	all           lived
	seen          report.Samples
}

// look has a fleet wait, until it is all there as whole says, for some time
// more and until the server has loaded.
func look(lab *fixture.Lab, dir string, g gates, whole func(state) bool, args ...string) (f stay, err error) {
	s, err := startServer(lab, dir, append(fixture.SlowLoad(perKey), args...)...)
	if err != nil {
		return f, err
	}
	defer s.end()
	if f.before, err = s.state(); err != nil {
		return f, err
	}
	g.addr = s.Addr
	under, err := startFleet(lab, g)
	if err != nil {
		return f, err
	}
	if f.there, err = s.await(patience, whole); err != nil {
		return f, err
	}
	time.Sleep(steady / 2) // each learns its pace with its second answer
	if f.begin, err = s.state(); err != nil {
		return f, err
	}
	time.Sleep(steady)
	if f.end, err = s.state(); err != nil {
		return f, err
	}
	loaded, err := s.release()
	if err != nil {
		return f, err
	}
	if f.all, err = under.wait(); err == nil && len(f.all.Ready) != g.n {
		err = fmt.Errorf("of %d gates the waits have ended with %v", g.n, f.all.Ended)
	}
	f.seen = since(loaded, f.all.Ready)
	return f, err
}

// share is what the server's thread has done, of the time.
func share(from, to state) float64 { return float64(to.cpu-from.cpu) / float64(to.at.Sub(from.at)) }

// held looks at fleets with and without a start jitter. It returns what their
// gates cost.
func held(lab *fixture.Lab, r *report.Report, o options, dir string) (cost costs, err error) {
	largest := slices.Max(o.sizes)
	cost = costs{probe: time.Hour, connection: time.Hour}
	idle := 0.0
	var rows [][]string
	for _, g := range []gates{{}, {n: min(goalGates, largest)}, {n: largest}, {n: largest, jitter: o.jitter}} {
		g.intervalMax = o.intervalMax
		f, err := look(lab, dir, g, func(now state) bool { return now.clients > g.n })
		if err != nil {
			return cost, err
		}
		taken := share(f.begin, f.end) - idle
		if g.n == 0 {
			idle = taken
			continue
		}
		// Of a probe's commands a loading server counts the two that it runs.
		probes := float64(f.end.commands-f.begin.commands) / 2
		took := f.end.at.Sub(f.begin.at)
		one := costs{
			probe:      time.Duration(taken * float64(took) / probes),
			connection: time.Duration((share(f.before, f.there)-idle)*float64(f.there.at.Sub(f.before.at))) / time.Duration(g.n),
		}
		// Other processes only ever add to it.
		cost.probe, cost.connection = min(cost.probe, one.probe), min(cost.connection, one.connection)
		drops := f.there.drops - f.before.drops
		rows = append(rows, []string{
			itoa(g.n), g.jitter.String(), report.Ms(f.there.at.Sub(f.before.at) - settling), itoa(drops), micro(one.connection),
			fmt.Sprintf("%.0f", probes/took.Seconds()), micro(one.probe), percent(taken),
			kib((f.end.used - f.before.used) / g.n), kib((f.end.rss - f.before.rss) / g.n),
		})
		if g.n <= goalGates {
			r.Goal(fmt.Sprintf("%d gates, of the server's thread", g.n), percent(taken), "≤ "+percent(goalShare), taken <= goalShare)
		}
		if g.jitter > 0 {
			r.Goal(fmt.Sprintf("%d gates, jitter %v, connections dropped", g.n, g.jitter), itoa(drops), "≤ "+itoa(g.n/20), drops <= g.n/20) // others' count, too
		}
	}
	r.Table([]string{"gates", "start jitter", "all there", "SYN drops", "CPU each", "probes/s", "CPU each", "of the thread", "used_memory each", "RSS each"}, rows)
	r.Note("Before a Redis that answers every %v. What it takes of its thread without gates, %s, is taken off.", 36*perKey, percent(idle))
	return cost, nil
}

// turnedAway has a fleet wait for a Redis that takes a fifth of it.
func turnedAway(lab *fixture.Lab, r *report.Report, o options, dir string) error {
	n := slices.Max(o.sizes)
	places := max(2, n/5)
	f, err := look(lab, dir, gates{n: n, intervalMax: o.intervalMax}, func(now state) bool {
		return now.clients == places && now.rejected >= n-places
	}, "--maxclients", itoa(places))
	if err != nil {
		return err
	}
	said := f.all.Said["redis_max_clients"]
	r.Table([]string{"gates", "maxclients", "said so", "refusals/s", "of the thread", "through, median", "through, last"}, [][]string{{
		itoa(n), itoa(places), itoa(said), fmt.Sprintf("%.0f", float64(f.end.rejected-f.begin.rejected)/f.end.at.Sub(f.begin.at).Seconds()),
		percent(share(f.begin, f.end)), report.Ms(f.seen.Median()), report.Ms(f.seen.Max()),
	}})
	// The one place that the gates lack is the observer's.
	r.Goal("too few places, gates that said so and came through", itoa(said), "≥ "+itoa(n-places), said >= n-places)
	return nil
}

func kib(bytes int) string { return fmt.Sprintf("%.1f KiB", float64(bytes)/1024) }
