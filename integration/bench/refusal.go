//go:build linux

package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/startgate/startgate/integration/internal/fixture"
	"github.com/startgate/startgate/integration/internal/report"
)

// refusals measures how soon a rival ends when waiting cannot help. What does
// not do that is looked at once, all of them at the same time.
func (b *bench) refusals() error {
	const runs = 10
	const limit = 5 * time.Second
	faults, stop, err := b.lab.Refusals()
	if err != nil {
		return err
	}
	defer stop()
	cells := make([][]cell, len(faults))
	var all sync.WaitGroup
	for f, fault := range faults {
		cells[f] = make([]cell, len(b.rivals))
		for i := range b.rivals {
			r := &b.rivals[i]
			if i == 0 || r.missing || !r.waits {
				continue
			}
			p, err := b.lab.Start(r.command(target{url: fault.URL}, b.nop))
			if err != nil {
				return err
			}
			all.Go(func() {
				late := p.KillAfter(limit)
				defer late.Stop()
				ended, err := p.Wait()
				if cells[f][i] = endOf(ended, limit); err != nil {
					cells[f][i] = cell{Text: err.Error()}
				}
			})
		}
	}
	all.Wait()
	for f, fault := range faults {
		took := report.Samples{}
		for range runs {
			ended, stderr, err := b.lab.Output(b.rivals[0].command(target{url: fault.URL}, b.nop))
			if err != nil {
				return err
			}
			if !fixture.Says(stderr, fault.Code) {
				return fmt.Errorf("%s: exit %d without %s:\n%s", fault.Name, ended.Exit, fault.Code, stderr)
			}
			took = append(took, ended.Took)
		}
		cells[f][0] = least(took)
		b.add("refusal, "+fault.Name, "ms", func(i int, r *rival) cell {
			if !r.waits {
				return noWait
			}
			return cells[f][i]
		})
	}
	return nil
}

func endOf(ended fixture.Ended, limit time.Duration) cell {
	switch {
	case ended.Took >= limit:
		return cell{Text: "waits on"}
	case ended.Exit == 0:
		return cell{Text: "starts the worker"}
	}
	return cell{Figure: ms(ended.Took), Samples: report.Samples{ended.Took}}
}
