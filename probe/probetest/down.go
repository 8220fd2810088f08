package probetest

import (
	"errors"
	"net"
)

// Down stops listening and closes every connection, as a stopped Redis does.
// When it returns, connecting is refused (on a unix socket: the file is gone)
// and nothing of the server runs. The port stays reserved for Up where that is
// possible. For an address on which nothing has ever listened, call New and
// then Down.
func (s *Server) Down() {
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	s.stop(false)
	if s.held == nil && !s.isClosed() {
		s.held = holdPort(s.network, s.addr)
	}
}

// Up listens again on the same address. It does nothing when the server is up,
// and fails when the server is closed or the address was taken meanwhile.
func (s *Server) Up() error {
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	s.mu.Lock()
	closed, up := s.closed, s.ln != nil
	s.mu.Unlock()
	if closed {
		return errors.New("probetest: the server is closed")
	}
	if up {
		return nil
	}
	s.held.release()
	s.held = nil
	ln, err := net.Listen(s.network, s.addr)
	if err != nil {
		return err
	}
	s.serve(ln)
	return nil
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// A heldPort is a TCP port that is in use, so that no other program is given
// it, and on which nothing listens, so that connecting to it is refused. A port
// that was merely closed may be handed to the next listener on the machine,
// and a test for "refused" would then meet a stranger.
type heldPort struct {
	helper net.Listener
	conn   *net.TCPConn // from the held port to the helper
}

// holdPort returns nil where it cannot hold the port: on a unix socket, or when
// connections of the old listener still linger there.
func holdPort(network, addr string) *heldPort {
	local, err := net.ResolveTCPAddr(network, addr)
	if err != nil || local.IP.IsUnspecified() {
		return nil
	}
	helper, err := net.Listen(network, net.JoinHostPort(local.IP.String(), "0"))
	if err != nil {
		return nil
	}
	d := net.Dialer{LocalAddr: local}
	c, err := d.Dial(network, helper.Addr().String())
	if err != nil {
		helper.Close()
		return nil
	}
	return &heldPort{helper: helper, conn: c.(*net.TCPConn)}
}

func (h *heldPort) release() {
	if h == nil {
		return
	}
	h.conn.SetLinger(0) // a port in TIME_WAIT could not be listened on at once
	h.conn.Close()
	h.helper.Close()
}
