//go:build linux

package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/startgate/startgate/integration/internal/fixture"
	"github.com/startgate/startgate/integration/internal/resp"
)

// calm are arguments with which a server does little by itself.
var calm = []string{"--hz", "1", "--dynamic-hz", "no"}

// thread watches the work of a server's main thread.
type thread struct {
	conn *resp.Conn
	idle float64 // share of a processor that it takes by itself
}

func watchThread(addr string) (*thread, error) {
	conn, err := resp.Dial(addr, "")
	if err != nil {
		return nil, err
	}
	t := &thread{conn: conn}
	const quiet = 2 * time.Second
	work, err := t.during(func() error { time.Sleep(quiet); return nil })
	t.idle = work / quiet.Seconds() / 1e6
	return t, err
}

// during returns the microseconds that the thread has worked for f.
func (t *thread) during(f func() error) (float64, error) {
	before, err := t.seconds()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := f(); err != nil {
		return 0, err
	}
	took := time.Since(began).Seconds()
	after, err := t.seconds()
	return (after - before - t.idle*took) * 1e6, err
}

var threadTime = regexp.MustCompile(`used_cpu_(?:sys|user)_main_thread:([0-9.]+)`)

// seconds is how long the thread has worked so far.
func (t *thread) seconds() (sum float64, err error) {
	info, err := t.conn.Do("INFO", "cpu")
	if err != nil {
		return 0, err
	}
	parts := threadTime.FindAllStringSubmatch(info, -1)
	if len(parts) != 2 {
		return 0, errors.New("INFO cpu does not tell the main thread's")
	}
	for _, part := range parts {
		n, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// counter is a number that INFO tells.
func (t *thread) counter(section, name string) (int, error) {
	info, err := t.conn.Do("INFO", section)
	if err != nil {
		return 0, err
	}
	m := regexp.MustCompile(`(?m)^` + name + `(\d+)`).FindStringSubmatch(info)
	if m == nil {
		return 0, nil // a command that has not been sent yet
	}
	return strconv.Atoi(m[1])
}

// serverCost measures what the thread does for a start, and for one more
// question of a gate that waits on the connection that it keeps.
func (b *bench) serverCost() error {
	const starts, share = 40, 4 * time.Second
	redis, err := b.lab.Redis(b.lab.Dir, calm...)
	if err != nil {
		return err
	}
	defer redis.Kill()
	t, err := watchThread(redis.Addr)
	if err != nil {
		return err
	}
	defer t.conn.Close()
	var failed error
	cells := make([]cell, len(b.rivals))
	b.add("work of the server's thread for a start", "µs", func(i int, r *rival) cell {
		c := r.command(target{url: "redis://" + redis.Addr + "/0"}, b.nop)
		c.Alone = true
		n := 0
		work, err := t.during(func() error {
			for end := time.Now().Add(share); n < starts && time.Now().Before(end); n++ {
				if _, fails, err := b.atMost(c, share); err != nil || fails != "" {
					return errors.Join(err, errors.New(fails))
				}
			}
			return nil
		})
		if err != nil {
			return cell{Text: err.Error()}
		}
		if cells[i] = notMeasured; work > 0 {
			cells[i] = cell{Figure: work / float64(n)}
		}
		return cells[i]
	})
	b.add("its work for one more question of what waits", "µs", func(i int, r *rival) cell {
		switch {
		case i == 0:
			var c cell
			c, failed = b.questions()
			return c
		case !r.waits:
			return noWait
		case r.anew:
			return cells[i]
		}
		return notMeasured
	})
	return failed
}

// questions has gates ask a Redis that takes no writes.
func (b *bench) questions() (cell, error) {
	const gates = 4
	const span = 3 * time.Second
	redis, err := b.lab.Redis(b.lab.Dir, append(calm, "--min-replicas-to-write", "1")...)
	if err != nil {
		return cell{}, err
	}
	defer redis.Kill()
	t, err := watchThread(redis.Addr)
	if err != nil {
		return cell{}, err
	}
	defer t.conn.Close()
	for range gates {
		c := b.rivals[0].command(target{"redis://" + redis.Addr + "/0", []string{
			"STARTGATE_INTERVAL_MIN=25ms", "STARTGATE_INTERVAL_MAX=25ms"}}, b.nop)
		p, err := b.lab.Start(c)
		if err != nil {
			return cell{}, err
		}
		defer p.Kill()
	}
	time.Sleep(time.Second)
	var asked, connected [2]int
	work, err := t.during(func() (err error) {
		for i := range asked {
			if i == 1 {
				time.Sleep(span)
			}
			if asked[i], err = t.counter("commandstats", "cmdstat_ping:calls="); err != nil {
				return err
			}
			if connected[i], err = t.counter("stats", "total_connections_received:"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return cell{}, err
	}
	n := asked[1] - asked[0]
	if n < gates*10 || connected[1] != connected[0] {
		return cell{}, fmt.Errorf("%d questions on %d new connections", n, connected[1]-connected[0])
	}
	return cell{Figure: work / float64(n)}, nil
}

// sizes adds up the files of a rival that the machine need not have for
// anything else.
func (b *bench) sizes() error {
	b.add("size, with the programs and libraries that it takes", "MB", func(_ int, r *rival) cell {
		sum, err := fixture.Size(append([]string{r.args[0]}, r.files...))
		if err != nil {
			return notMeasured
		}
		return cell{Figure: float64(sum) / 1e6}
	})
	return nil
}
