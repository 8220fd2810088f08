//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"github.com/startgate/startgate/integration/internal/fixture"
	"github.com/startgate/startgate/integration/internal/report"
)

var (
	noWait      = cell{Text: "–"} // it ends at the first no
	waitsNoMore = cell{Text: "waits no more"}
)

// loadTimes measures from the end of a load to the worker's first instruction.
// All rivals wait for the same loads, each from a moment of its own on.
func (b *bench) loadTimes() error {
	const keys, writes = 4000, 1_500_000
	const load = 2 * time.Second
	worker, err := b.lab.Worker()
	if err != nil {
		return err
	}
	snapshot, err := b.lab.F1(keys)
	if err != nil {
		return err
	}
	if err := b.loadTime("from a loaded snapshot to the worker's first instruction", worker, snapshot, fixture.SlowLoad(load/keys), b.loads); err != nil {
		return err
	}
	appendOnly, size, err := b.lab.F2(writes)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("from a loaded AOF of %d MiB to it", size>>20)
	return b.loadTime(name, worker, appendOnly, fixture.AOF(), max(1, b.loads/2))
}

func (b *bench) loadTime(name, worker, dir string, args []string, rounds int) error {
	const spread = time.Second // the loops' pause
	took, early, fails := make([]report.Samples, len(b.rivals)), make([]int, len(b.rivals)), make([]string, len(b.rivals))
	for range rounds {
		var waiters []fixture.Waiter
		var who []int
		for i := range b.rivals {
			r := &b.rivals[i]
			if r.missing || !r.waits || fails[i] != "" {
				continue
			}
			who = append(who, i)
			waiters = append(waiters, fixture.Waiter{
				Command: func(addr string) fixture.Command { return r.command(target{url: "redis://" + addr + "/0"}, worker) },
				After:   rand.N(spread),
			})
		}
		all, err := b.lab.Load(dir, args, waiters, func(*fixture.Redis) error { return nil })
		if err != nil {
			return err
		}
		for n, l := range all {
			i := who[n]
			switch {
			case l.Err != nil:
				fails[i] = "does not come to it"
			case l.Early:
				early[i]++
			case l.Met:
				took[i] = append(took[i], l.Took)
			}
		}
	}
	b.add(name, "ms", func(i int, r *rival) cell {
		switch {
		case !r.waits:
			return noWait
		case fails[i] != "":
			return cell{Text: fails[i]}
		case early[i] > 0:
			return cell{Text: fmt.Sprintf("too early, %d of %d", early[i], early[i]+len(took[i]))}
		case len(took[i]) == 0:
			return notMeasured
		}
		return median(took[i])
	})
	return nil
}

// waiting measures what waits for a Redis that loads: its memory, and how soon
// it ends when it is told to.
func (b *bench) waiting() error {
	const perKey = 3 * time.Millisecond
	const settle, looks = 9 * time.Second, 5
	const terms, patience = 6, 2 * time.Second
	const span = settle + looks*200*time.Millisecond + terms*(2*time.Second+patience)
	dir, err := b.lab.F1(int(span / perKey))
	if err != nil {
		return err
	}
	redis, err := b.lab.Redis(dir, fixture.SlowLoad(perKey)...)
	if err != nil {
		return err
	}
	defer redis.Kill()
	to := target{url: "redis://" + redis.Addr + "/0"}

	waiters := make([]*fixture.Process, len(b.rivals))
	for i := range b.rivals {
		if r := &b.rivals[i]; r.waits && !r.missing {
			if waiters[i], err = b.lab.Start(r.command(to, b.nop)); err != nil {
				return err
			}
		}
	}
	time.Sleep(settle)
	held := make([][]fixture.Memory, len(b.rivals))
	for range looks {
		for i, p := range waiters {
			if p != nil {
				held[i] = append(held[i], fixture.HeldByAll(p.PID))
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
	for _, p := range waiters {
		if p != nil {
			p.Kill()
		}
	}
	for _, what := range []struct {
		name string
		of   func(fixture.Memory) int
	}{
		{"memory of its own while it waits", func(m fixture.Memory) int { return m.PrivateDirty }},
		{"memory with the pages of files, which others can share", func(m fixture.Memory) int { return m.RSS }},
	} {
		b.add(what.name, "MiB", func(i int, r *rival) cell {
			if !r.waits {
				return noWait
			}
			var kib []int
			for _, m := range held[i] {
				kib = append(kib, what.of(m))
			}
			slices.Sort(kib)
			if kib[len(kib)/2] == 0 {
				return waitsNoMore
			}
			return cell{Figure: float64(kib[len(kib)/2]) / 1024}
		})
	}
	return b.terms(to, terms, patience)
}

// terms measures from TERM to the end of what waits as process 1, as it is in a
// container.
func (b *bench) terms(to target, rounds int, patience time.Duration) error {
	took, text := make([]report.Samples, len(b.rivals)), make([]string, len(b.rivals))
	for range rounds {
		processes := make([]*fixture.Process, len(b.rivals))
		for i := range b.rivals {
			r := &b.rivals[i]
			if !r.waits || r.missing || text[i] != "" {
				continue
			}
			c := r.command(to, b.nop)
			c.Init = true
			p, err := b.lab.Start(c)
			if err != nil { // it takes root
				text[i] = notMeasured.Text
				continue
			}
			processes[i] = p
		}
		time.Sleep(time.Second + rand.N(time.Second))
		for i, p := range processes {
			if p == nil {
				continue
			}
			began := time.Now()
			syscall.Kill(p.PID, syscall.SIGTERM)
			late := p.KillAfter(patience)
			ended, err := p.Wait()
			late.Stop()
			if err != nil {
				return err
			}
			switch ended.Exit {
			case 0:
				text[i] = waitsNoMore.Text
			case 128 + int(syscall.SIGKILL):
				text[i] = fmt.Sprintf("not within %.0f s", patience.Seconds())
			}
			took[i] = append(took[i], time.Since(began))
		}
	}
	b.add("from TERM to its end, as process 1 that waits", "ms", func(i int, r *rival) cell {
		switch {
		case !r.waits:
			return noWait
		case text[i] != "":
			return cell{Text: text[i]}
		}
		return median(took[i])
	})
	return nil
}
