package probetest

import (
	"errors"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

// A Server is a scripted Redis on a socket of its own. Its methods may be
// called from several goroutines.
type Server struct {
	network string
	addr    string
	started time.Time

	// lifecycle serialises Up, Down and Close, so that none of them adds to
	// running while another waits for it.
	lifecycle sync.Mutex
	running   sync.WaitGroup // the accept loop and every connection
	held      *heldPort      // the port of a server that is down

	mu        sync.Mutex // guards what follows
	behaviour Behaviour
	ln        net.Listener // nil when down
	closed    bool
	conns     map[*conn]bool
	serving   int // conns that were not turned away, see Behaviour.MaxClients
	log       log
}

// Start returns a server that listens on a free port of 127.0.0.1. The caller
// calls Close.
func Start(b Behaviour) (*Server, error) { return Listen("tcp", "127.0.0.1:0", b) }

// Listen is Start for any stream network and address that [net.Listen] takes,
// "unix" among them. It returns net.Listen's error.
func Listen(network, address string, b Behaviour) (*Server, error) {
	ln, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	s := &Server{
		network:   network,
		addr:      ln.Addr().String(),
		started:   time.Now(),
		behaviour: b.clone(),
		conns:     map[*conn]bool{},
	}
	s.serve(ln)
	return s, nil
}

// New is Start for a test: it closes the server at the end of t and fails t
// when the server cannot listen.
func New(t testing.TB, b Behaviour) *Server {
	t.Helper()
	s, err := Start(b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Addr returns the address: host:port, or the path of a unix socket. It stays
// the same while the server is down.
func (s *Server) Addr() string { return s.addr }

// URL returns the URL with which a client reaches database 0 as the server now
// behaves: redis, rediss or unix, with the password if there is one.
func (s *Server) URL() string {
	b := s.current()
	u := url.URL{Scheme: "redis", Host: s.addr}
	switch {
	case s.network == "unix":
		u = url.URL{Scheme: "unix", Path: s.addr}
	case b.TLS != nil:
		u.Scheme = "rediss"
	}
	if b.Password != "" {
		u.User = url.UserPassword("", b.Password)
	}
	return u.String()
}

// Behaviour returns a copy of the present behaviour: change it and Set it.
func (s *Server) Behaviour() Behaviour { return s.current().clone() }

// Set replaces the behaviour. Every command that is answered after Set returns
// meets the new one.
func (s *Server) Set(b Behaviour) {
	b = b.clone()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaviour = b
}

// current returns the present behaviour, whose maps are shared and never
// written to.
func (s *Server) current() Behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.behaviour
}

// Close ends the server and waits until all its goroutines have ended. It may
// be called more than once.
func (s *Server) Close() {
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	s.stop(true)
	s.held.release()
	s.held = nil
}

// stop ends everything that runs and waits for it. The caller holds lifecycle.
func (s *Server) stop(forGood bool) {
	s.mu.Lock()
	ln := s.ln
	s.ln = nil
	s.closed = s.closed || forGood
	for c := range s.conns {
		c.kill()
	}
	s.mu.Unlock()
	if ln != nil {
		ln.Close()
	}
	s.running.Wait()
}

// serve starts the accept loop. The caller holds lifecycle, or nobody else has
// the server yet.
func (s *Server) serve(ln net.Listener) {
	s.mu.Lock()
	s.ln = ln
	s.mu.Unlock()
	s.running.Go(func() {
		for {
			raw, err := ln.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				// Out of descriptors, or the peer has gone: neither is the end.
				time.Sleep(time.Millisecond)
				continue
			}
			s.join(ln, raw)
		}
	})
}

// join serves a connection that ln has accepted, unless the server has stopped
// listening on ln in the meantime.
func (s *Server) join(ln net.Listener, raw net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ln != ln {
		raw.Close()
		return
	}
	c := newConn(s, raw, s.log.accepted())
	s.conns[c] = true
	if c.refused = s.serving >= s.behaviour.maxClients(); !c.refused {
		s.serving++
	}
	s.running.Go(c.run)
}

// leave forgets a connection that has ended.
func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if !c.refused {
		s.serving--
	}
	s.log.ended(c.id)
}
