//go:build linux

package main

import (
	"fmt"
	"time"

	"github.com/startgate/startgate/integration/internal/fixture"
	"github.com/startgate/startgate/integration/internal/report"
)

// chain is one rival's way to the worker.
type chain struct {
	command fixture.Command
	files   []string // copies of the program, when it is the lab's
	took    report.Samples
	fails   string // how it ended, when not by the worker
	spent   time.Duration
}

// starts measures whole processes when Redis is ready: with and without TLS.
func (b *bench) starts() error {
	plain, err := b.lab.Redis(b.lab.Dir)
	if err != nil {
		return err
	}
	secure, err := b.lab.TLSRedis()
	if err != nil {
		return err
	}
	defer plain.Kill()
	defer secure.Kill()
	program, err := b.lab.Build("integration/measure/readypath/bare")
	if err != nil {
		return err
	}
	nothing := rival{args: []string{program}, own: true}
	bare, err := b.chain(&nothing, target{url: "redis://" + plain.Addr + "/0"})
	if err != nil {
		return err
	}
	ways := []struct {
		name string
		to   target
	}{
		{"plain", target{"redis://" + plain.Addr + "/0", nil}},
		{"TLS, CA file", target{secure.URL, []string{"CA_FILE=" + secure.CA, "STARTGATE_TLS_CA_FILE=" + secure.CA}}},
		{"TLS, system's roots", target{secure.URL, []string{"SSL_CERT_FILE=" + secure.Bundle}}},
	}
	chains := make([][]*chain, len(ways))
	all := []*chain{bare}
	for w := range ways {
		for i := range b.rivals {
			c, err := b.chain(&b.rivals[i], ways[w].to)
			if err != nil {
				return err
			}
			chains[w] = append(chains[w], c)
			if !b.rivals[i].missing {
				all = append(all, c)
			}
		}
	}
	if err := b.inTurn(all, b.runs, 0); err != nil {
		return err
	}
	least := ms(bare.took.Min())
	b.add(fmt.Sprintf("a start when Redis is ready; a Go program that only execs takes %s ms", number(least)), "ms", func(i int, _ *rival) cell {
		return chains[0][i].cell(0)
	})
	for w, way := range ways {
		b.add("what it adds to that, "+way.name, "ms", func(i int, _ *rival) cell { return chains[w][i].cell(least) })
	}
	return nil
}

func (b *bench) chain(r *rival, t target) (*chain, error) {
	c := &chain{command: r.command(t, b.nop)}
	c.command.Alone = true
	if r.own {
		files, err := b.lab.Copies(r.args[0])
		c.files = files[:]
		return c, err
	}
	return c, nil
}

// cell is the least of the starts, less what is of no interest.
func (c *chain) cell(less float64) cell {
	if c.fails != "" {
		return cell{Text: c.fails}
	}
	figure := least(c.took)
	figure.Figure -= less
	return figure
}

// inTurn runs chains in turn. One that is slow has fewer runs.
func (b *bench) inTurn(chains []*chain, runs int, rest time.Duration) error {
	const warmUp, share = 1, 6 * time.Second
	for n := range warmUp + runs {
		for i := range chains {
			c := chains[(n+i)%len(chains)] // each comes after each other
			if c.fails != "" || c.spent > share {
				continue
			}
			if c.files != nil {
				c.command.Args[0] = c.files[n%len(c.files)]
			}
			time.Sleep(rest)
			took, fails, err := b.atMost(c.command, share)
			if err != nil {
				return err
			}
			c.fails, c.spent = fails, c.spent+took
			if n >= warmUp {
				c.took = append(c.took, took)
			}
		}
	}
	return nil
}

// atMost runs a program to its end, or for limit. fails says how it has ended
// when the worker has not.
func (b *bench) atMost(c fixture.Command, limit time.Duration) (took time.Duration, fails string, err error) {
	p, err := b.lab.Start(c)
	if err != nil {
		return 0, "", err
	}
	late := p.KillAfter(limit)
	defer late.Stop()
	ended, err := p.Wait()
	switch {
	case ended.Took >= limit:
		fails = "waits on"
	case ended.Exit != 0:
		fails = fmt.Sprintf("exit %d", ended.Exit)
	}
	return ended.Took, fails, err
}

// coldStarts measures starts of a program that the page cache does not have.
// Of the others the machine has parts in use, which it cannot be told to
// forget.
func (b *bench) coldStarts() error {
	const runs = 10
	redis, err := b.lab.Redis(b.lab.Dir)
	if err != nil {
		return err
	}
	defer redis.Kill()
	b.add("the first start, its file not in the page cache", "ms", func(_ int, r *rival) cell {
		if !r.own {
			return notMeasured
		}
		var took report.Samples
		for range runs {
			files, err := b.lab.Copies(r.args[0])
			if err != nil || fixture.Evict(files[0]) != nil {
				return notMeasured
			}
			c := r.command(target{url: "redis://" + redis.Addr + "/0"}, b.nop)
			c.Args[0], c.Alone = files[0], true
			ended, err := b.lab.Run(c)
			if err != nil || ended.Exit != 0 {
				return cell{Text: fmt.Sprintf("exit %d", ended.Exit)}
			}
			took = append(took, ended.Took)
		}
		return median(took)
	})
	return nil
}

var notMeasured = cell{Text: "not measured"}

// slowStarts measures starts with a tenth of a processor.
func (b *bench) slowStarts() error {
	const runs = 6
	const period = 150 * time.Millisecond // after which there is a whole quota again
	const name = "a start with 0.1 processors"
	redis, err := b.lab.Redis(b.lab.Dir)
	if err != nil {
		return err
	}
	defer redis.Kill()
	quota, err := b.lab.Quota()
	if err != nil {
		b.add(name, "ms", func(int, *rival) cell { return notMeasured })
		return nil
	}
	defer quota.Close()
	chains := make([]*chain, len(b.rivals))
	var there []*chain
	for i := range b.rivals {
		if chains[i], err = b.chain(&b.rivals[i], target{url: "redis://" + redis.Addr + "/0"}); err != nil {
			return err
		}
		chains[i].command.Under = quota
		if !b.rivals[i].missing {
			there = append(there, chains[i])
		}
	}
	if err := b.inTurn(there, runs, period); err != nil {
		return err
	}
	b.add(name, "ms", func(i int, _ *rival) cell {
		if chains[i].fails != "" {
			return cell{Text: chains[i].fails}
		}
		return median(chains[i].took)
	})
	return nil
}
