package integration

import (
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// watchPath looks, until t ends, whether the broker at address is ready. It
// does what a worker does: it writes.
func watchPath(t *testing.T, address string) *chaosPath {
	p := &chaosPath{address: address, sights: make(chan []time.Time, 1)}
	p.sights <- nil
	stop, stopped := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop); <-stopped })
	go func() {
		defer close(stopped)
		var c *respConn
		for {
			select {
			case <-stop:
				if c != nil {
					c.close()
				}
				return
			case <-time.After(15 * time.Millisecond):
			}
			if c == nil {
				conn, err := net.DialTimeout("tcp", address, 300*time.Millisecond)
				if err != nil {
					continue
				}
				c = newRESPConn(conn)
			}
			// Long, so that it has asked when an answer comes.
			c.conn.SetDeadline(time.Now().Add(5 * time.Second))
			ready, err := isWritable(c)
			if err != nil {
				c.close()
				c = nil
			}
			if ready {
				p.see()
			}
		}
	}()
	return p
}

func isWritable(c *respConn) (bool, error) {
	if _, err := c.ask("AUTH", chaosPassword); err != nil {
		return false, err
	}
	info, err := c.ask("INFO", "persistence")
	if err != nil {
		return false, err
	}
	reply, err := c.ask("SET", "seen", "1")
	return reply == "OK" && infoField(info, "loading") == "0", err
}

func (p *chaosPath) see() { p.sights <- append(<-p.sights, time.Now()) }

// lastSight is when the broker was last seen ready.
func (p *chaosPath) lastSight() (last time.Time) {
	s := <-p.sights
	p.sights <- s
	if len(s) > 0 {
		last = s[len(s)-1]
	}
	return last
}

// fromSight is how far t is from any time at which the broker was seen ready.
func (p *chaosPath) fromSight(t time.Time) time.Duration {
	s := <-p.sights
	p.sights <- s
	i, _ := slices.BinarySearchFunc(s, t, time.Time.Compare)
	apart := time.Duration(1<<63 - 1)
	if i < len(s) {
		apart = s[i].Sub(t)
	}
	if i > 0 {
		apart = min(apart, t.Sub(s[i-1]))
	}
	return apart
}

// chaosMode is what a chaosProxy does with what it is given.
type chaosMode int

const (
	passing  chaosMode = iota
	silenced           // keeps it for later, as a network that loses packets
	cut                // ends all connections, and new ones at once
)

// chaosProxy is the network between a gate and its broker.
type chaosProxy struct {
	l  net.Listener
	to string

	mu    sync.Mutex
	mode  chaosMode
	open  chan struct{} // closed while it does not keep anything for later
	conns map[net.Conn]bool
}

func startChaosProxy(t *testing.T, to string) *chaosProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:"+freePort(t))
	if err != nil {
		t.Fatal(err)
	}
	p := &chaosProxy{l: l, to: to, open: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(p.open)
	t.Cleanup(func() {
		l.Close()
		p.set(cut)
	})
	go func() {
		for {
			conn, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				go p.relay(conn)
			}
		}
	}()
	return p
}

func (p *chaosProxy) addr() string { return p.l.Addr().String() }

func (p *chaosProxy) set(mode chaosMode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if was := p.mode; mode == silenced && was != silenced {
		p.open = make(chan struct{})
	} else if mode != silenced && was == silenced {
		close(p.open)
	}
	p.mode = mode
	if mode == cut {
		for conn := range p.conns {
			conn.Close()
		}
	}
}

func (p *chaosProxy) passes() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mode == passing
}

// keep has conn end with the others, and reports whether that is not at once.
func (p *chaosProxy) keep(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mode != cut {
		p.conns[conn] = true
		return true
	}
	conn.(*net.TCPConn).SetLinger(0) // a reset
	conn.Close()
	return false
}

func (p *chaosProxy) end(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
	conn.Close()
}

func (p *chaosProxy) awaitOpen() {
	p.mu.Lock()
	open := p.open
	p.mu.Unlock()
	<-open
}

func (p *chaosProxy) relay(client net.Conn) {
	if !p.keep(client) {
		return
	}
	defer p.end(client)
	p.awaitOpen()
	server, err := net.Dial("tcp", p.to)
	if err != nil || !p.keep(server) {
		return
	}
	defer p.end(server)
	go func() {
		defer p.end(client)
		p.pump(client, server)
	}()
	p.pump(server, client)
}

func (p *chaosProxy) pump(to, from net.Conn) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		p.awaitOpen()
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}
