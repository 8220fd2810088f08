//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/startgate/startgate/integration/internal/fixture"
	"github.com/startgate/startgate/integration/internal/report"
)

// The append-only file is F2's, some times over.
const (
	partMiB = 100
	// commandsPerMiB of F2's, each of which takes some 80 bytes of the file.
	commandsPerMiB = 12_600
)

// load is what was seen of one load.
type load struct {
	took   time.Duration
	cpu    time.Duration
	probes int
	seen   report.Samples
}

// loads has Redis load a real append-only file before fleets, and before none
// at the begin and the end of each round. On few processors the clock, and even
// the server's own time, says more of the company than of the fleet, so that
// the goal is for what the fleet's probes and connections cost.
func loads(lab *fixture.Lab, r *report.Report, o options, cost costs) error {
	dir, err := appendOnly(lab, max(1, o.mib/partMiB))
	if err != nil {
		return err
	}
	sizes := append([]int{0}, o.sizes...)
	all := make([][]load, len(sizes))
	for range o.rounds {
		for i, n := range append(slices.Clone(sizes), 0) {
			l, err := oneLoad(lab, dir, gates{n: n, intervalMax: o.intervalMax})
			if err != nil {
				return fmt.Errorf("%d gates: %w", n, err)
			}
			i %= len(sizes)
			all[i] = append(all[i], l)
		}
	}
	took := func(l load) time.Duration { return l.took }
	cpu := func(l load) time.Duration { return l.cpu }
	var rows [][]string
	for i, n := range sizes {
		more := func(of func(load) time.Duration) float64 {
			return float64(least(all[i], of))/float64(least(all[0], of)) - 1
		}
		var seen report.Samples
		probes, inflation := 0, 0.0
		for _, l := range all[i] {
			spent := time.Duration(l.probes)*cost.probe + time.Duration(n)*cost.connection
			inflation = max(inflation, float64(spent)/float64(l.took-spent))
			seen, probes = append(seen, l.seen...), max(probes, l.probes)
		}
		rows = append(rows, []string{
			itoa(n), report.Ms(least(all[i], took)), percent(more(took)), report.Ms(least(all[i], cpu)), percent(more(cpu)),
			itoa(probes), percent(inflation), report.Ms(seen.Median()), report.Ms(seen.Max()),
		})
		if n == 0 {
			continue
		}
		r.Keep(fmt.Sprintf("loaded to ready, %d gates", n), seen)
		name := fmt.Sprintf("%d gates, ", n)
		r.Goal(name+"loading:0 to the last one's end", report.Ms(seen.Max()), "≤ "+report.Ms(goalSeen), seen.Max() <= goalSeen)
		if n <= goalGates {
			r.Goal(name+"their cost in the server's time to load", percent(inflation), "≤ "+percent(goalLoad), inflation <= goalLoad)
		}
	}
	r.Table([]string{"gates", "load", "more", "server's CPU", "more", "probes", "which cost", "seen, median", "seen, worst"}, rows)
	r.Note("An append-only file of %d MiB. Minima of %d loads, twice as many without gates, which differ by %s.", max(1, o.mib/partMiB)*partMiB, o.rounds, percent(float64(most(all[0], took))/float64(least(all[0], took))-1))
	return nil
}

// appendOnly makes an append-only file and returns its directory.
func appendOnly(lab *fixture.Lab, parts int) (dir string, err error) {
	dir, _, err = lab.F2(partMiB * commandsPerMiB)
	if err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("%d append-only files: %w", len(files), err)
	}
	part, err := os.ReadFile(files[0])
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(files[0], bytes.Repeat(part, parts), 0o644)
}

func oneLoad(lab *fixture.Lab, dir string, g gates) (l load, err error) {
	s, err := startServer(lab, dir, fixture.AOF()...)
	if err != nil {
		return l, err
	}
	defer s.end()
	g.addr = s.Addr
	f, err := startFleet(lab, g)
	if err != nil {
		return l, err
	}
	loaded, err := s.awaitLoaded()
	if err != nil {
		return l, err
	}
	end, err := s.state()
	if err != nil {
		return l, err
	}
	all, err := f.wait()
	if err != nil {
		return l, err
	}
	if len(all.Ready) != g.n {
		return l, fmt.Errorf("the waits have ended with %v", all.Ended)
	}
	l.took, l.cpu = loaded.Sub(s.Began), end.cpu
	l.probes = all.Attempts
	l.seen = since(loaded, all.Ready)
	return l, nil
}

// since are times as they follow begin.
func since(begin time.Time, nanos []int64) (s report.Samples) {
	for _, n := range nanos {
		s = append(s, time.Unix(0, n).Sub(begin.Round(0)))
	}
	return s
}

func least(l []load, of func(load) time.Duration) time.Duration {
	return of(slices.MinFunc(l, func(a, b load) int { return int(of(a) - of(b)) }))
}

func most(l []load, of func(load) time.Duration) time.Duration {
	return of(slices.MaxFunc(l, func(a, b load) int { return int(of(a) - of(b)) }))
}
