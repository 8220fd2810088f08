package probetest

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
)

// A conn is one client. Everything but kill runs on its own goroutine.
type conn struct {
	srv     *Server
	id      int      // from 0, in order of acceptance
	refused bool     // there were too many clients already
	raw     net.Conn // as accepted
	nc      net.Conn // raw, or the TLS connection over it
	in      *requests
	out     *bufio.Writer
	done    chan struct{} // closed by kill
	once    sync.Once

	proto  int    // of RESP, 2 or 3
	authed bool   // see Behaviour.Password
	name   string // CLIENT SETNAME
	leave  bool   // close after this answer
}

func newConn(s *Server, raw net.Conn, id int) *conn {
	return &conn{srv: s, id: id, raw: raw, nc: raw, done: make(chan struct{}), proto: 2}
}

// kill ends the connection from any goroutine. It closes the socket itself:
// closing a TLS connection may wait for a peer that does not read.
func (c *conn) kill() {
	c.once.Do(func() {
		close(c.done)
		c.raw.Close()
	})
}

// reset makes the peer see a RST instead of the end of the stream.
func (c *conn) reset() {
	if tcp, ok := c.raw.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.kill()
}

func (c *conn) run() {
	defer c.srv.leave(c)
	defer c.kill()
	b := c.srv.current()
	if !c.greet(&b) {
		return
	}
	c.authed = b.Password == ""
	c.out = bufio.NewWriterSize(paced{c}, 16<<10)
	c.in = newRequests(c)

	err := c.talk()
	if err == nil || errors.Is(err, errHangup) {
		if c.out.Flush() == nil {
			c.nc.Close()
		}
	}
	switch {
	case errors.Is(err, errReset):
		c.reset()
	case errors.Is(err, errSilence):
		c.listen()
	case errors.Is(err, errDeaf):
		io.Copy(io.Discard, c.nc)
	}
}

// greet does what a new connection meets before its first command. It returns
// false when that was all.
func (c *conn) greet(b *Behaviour) bool {
	if c.refused {
		if b.TLS == nil { // over TLS Redis just closes
			io.WriteString(c.raw, MaxClientsBanner)
		}
		return false
	}
	io.WriteString(c.raw, b.Banner)
	switch b.Accept {
	case AcceptClose:
		return false
	case AcceptReset:
		c.reset()
		return false
	case AcceptSilent:
		io.Copy(io.Discard, c.raw)
		return false
	}
	if b.TLS != nil {
		t := tls.Server(c.raw, b.TLS)
		if t.Handshake() != nil {
			return false
		}
		c.nc = t
	}
	return true
}

// talk answers commands. It returns nil when the client has asked for the end,
// and otherwise how the connection ends.
func (c *conn) talk() error {
	for !c.leave {
		args, err := c.in.next()
		if broken, ok := errors.AsType[protocolError](err); ok {
			c.out.WriteString(errorLine("ERR Protocol error: " + string(broken)))
			return nil
		}
		if err != nil {
			return err
		}
		c.srv.received(c.id, args)
		if c.in.fresh {
			c.in.fresh = false
			if err := c.window(); err != nil {
				return err
			}
		}
		if err := c.answer(args); err != nil {
			return err
		}
	}
	return nil
}

// answer writes the answer to one command.
func (c *conn) answer(args []string) error {
	b := c.srv.current()
	if b.OnCommand != nil {
		b.OnCommand(c.id, newCommand(args))
		b = c.srv.current()
	}
	if r := b.reply(args); r != nil {
		return r(c.out, args)
	}
	text, err := c.execute(&b, args)
	if err != nil {
		return err
	}
	_, err = c.out.WriteString(text)
	return err
}

// listen goes on counting commands and answers none.
func (c *conn) listen() {
	c.out.Flush()
	for {
		args, err := c.in.next()
		if err != nil {
			io.Copy(io.Discard, c.nc)
			return
		}
		c.srv.received(c.id, args)
	}
}
