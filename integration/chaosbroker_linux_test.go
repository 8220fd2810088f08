package integration

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"time"
)

// chaosEvent is something that can happen to a broker. do lets it happen and
// returns what undoes it.
type chaosEvent struct {
	name string
	do   func() (undo func())
}

// chaosFate is a sequence of events that do not overlap.
type chaosFate struct {
	*rand.Rand
	events func(*rand.Rand) []chaosEvent
	next   time.Time
	undo   func() // nil while nothing has happened
}

// let lets the next event happen, or undoes the last one, when that is due, and
// returns when the next is.
func (c *chaos) let(f *chaosFate, now time.Time) time.Time {
	switch {
	case now.Before(f.next):
		return f.next
	case f.undo != nil:
		f.undo()
		f.undo = nil
		f.next = time.Now().Add(between(f.Rand, 500*time.Millisecond, 3*time.Second))
	default:
		all := f.events(f.Rand)
		e := all[f.IntN(len(all))]
		c.look()
		c.mu.Lock()
		c.events = append(c.events, chaosHappened{e.name, time.Now()})
		c.mu.Unlock()
		f.undo = e.do()
		f.next = time.Now().Add(between(f.Rand, 3*slack, 4*time.Second))
	}
	return f.next
}

func (c *chaos) networkEvents(*rand.Rand) []chaosEvent {
	while := func(mode chaosMode) func() func() {
		return func() func() {
			c.proxy.set(mode)
			return func() { c.proxy.set(passing) }
		}
	}
	return []chaosEvent{{"silence", while(silenced)}, {"cut", while(cut)}}
}

func (c *chaos) brokerEvents(r *rand.Rand) []chaosEvent {
	delay := between(r, 300*time.Microsecond, 1200*time.Microsecond) // for each of loadKeys
	again := func(args ...string) func() {
		return func() { c.start(args...) }
	}
	return []chaosEvent{
		{"kill", func() func() {
			c.s.kill()
			return again()
		}},
		{"kill+load", func() func() {
			c.s.kill()
			return again(loadArgs(delay)...)
		}},
		{"load", func() func() {
			c.s.kill()
			c.start(loadArgs(delay)...)
			return func() {}
		}},
		{"stall", func() func() {
			c.s.kill()
			c.start(stallArgs(delay)...)
			return func() {}
		}},
		{"restart", func() func() {
			c.s.cmd.Process.Signal(syscall.SIGTERM)
			<-c.s.done
			return again()
		}},
		{"pause", func() func() {
			c.s.cmd.Process.Signal(syscall.SIGSTOP)
			return func() { c.s.cmd.Process.Signal(syscall.SIGCONT) }
		}},
		{"full", func() func() {
			c.s.kill()
			c.fillDisk()
			return func() {
				c.s.kill()
				c.start()
			}
		}},
		{"demotion", func() func() {
			c.ask("REPLICAOF", "127.0.0.1", "1")
			return func() { c.ask("REPLICAOF", "NO", "ONE") }
		}},
	}
}

// look sees a broker that has only just got ready, before that is over again.
func (c *chaos) look() {
	if c.ask("SET", "seen", "1") != "OK" {
		return
	}
	for _, p := range c.paths {
		if p.address == c.s.addr() || c.proxy.passes() {
			p.see()
		}
	}
}

// start starts the broker, and does not wait for it.
func (c *chaos) start(args ...string) {
	c.s.launch(append([]string{"--requirepass", chaosPassword}, args...)...)
}

// fillDisk starts the broker with its append-only file on a tiny file system,
// and fills that.
func (c *chaos) fillDisk() {
	c.s.o.through = tinyFileSystem(c.t)
	c.start("--appendonly", "yes", "--auto-aof-rewrite-percentage", "0")
	c.s.o.through = nil
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if strings.HasPrefix(c.ask("SET", "big", strings.Repeat("x", 100_000)), "-MISCONF") {
			return
		}
	}
}

// ask sends the broker a command, and returns "" when it does not answer: it
// may be loading, or stopped.
func (c *chaos) ask(args ...string) string {
	conn, err := net.DialTimeout("tcp", c.s.addr(), time.Second)
	if err != nil {
		return ""
	}
	r := newRESPConn(conn)
	defer r.close()
	conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := r.ask("AUTH", chaosPassword); err != nil {
		return ""
	}
	reply, _ := r.ask(args...)
	return reply
}

// chaosPath is a way to the broker, and when the broker was seen ready on it.
type chaosPath struct {
	address string
	sights  chan []time.Time // holds one value
}

func (p *chaosPath) url() string { return fmt.Sprintf("redis://:%s@%s/0", chaosPassword, p.address) }
