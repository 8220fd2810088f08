package probetest_test

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/startgate/startgate/probe/probetest"
)

// endsWithReset also takes a reset that has come while connecting.
func endsWithReset(t *testing.T, s *probetest.Server) {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr())
	if err == nil {
		defer c.Close()
		_, err = io.ReadAll(c)
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want %v", err, syscall.ECONNRESET)
	}
}

func TestHangupIsEndOfStream(t *testing.T) {
	got, err := dial(t, probetest.New(t, probetest.Behaviour{Accept: probetest.AcceptClose})).rest()
	if got != "" || err != nil {
		t.Errorf("got %q, %v; want the end of the stream", got, err)
	}
}

func TestResetIsReset(t *testing.T) {
	endsWithReset(t, probetest.New(t, probetest.Behaviour{Accept: probetest.AcceptReset}))
}

func TestSilentReadsAndSaysNothing(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{Accept: probetest.AcceptSilent})
	c := dial(t, s)
	c.send(request("PING") + "anything\r\n")
	c.Conn.(*net.TCPConn).CloseWrite() // now the server has read everything, and ends
	got, err := c.rest()
	if got != "" || err != nil {
		t.Errorf("got %q, %v; want nothing", got, err)
	}
	check(t, "commands understood", s.Traffic().Commands["PING"], 0)
}

func TestBannerComesUnasked(t *testing.T) {
	for _, banner := range []string{
		probetest.ProtectedModeBanner, probetest.MaxClientsBanner, probetest.HTTPBanner,
		probetest.SSHBanner, probetest.SMTPBanner, probetest.AMQPBanner,
	} {
		s := probetest.New(t, probetest.Behaviour{Banner: banner, Accept: probetest.AcceptClose})
		got, err := dial(t, s).rest()
		if err != nil {
			t.Error(err)
		}
		check(t, "banner", got, banner)
	}
}

func TestBannerThenSilence(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{Banner: probetest.SSHBanner, Accept: probetest.AcceptSilent})
	c := dial(t, s)
	check(t, "banner", c.reply(), probetest.SSHBanner)
	c.send(request("PING"))
	c.Conn.(*net.TCPConn).CloseWrite()
	got, _ := c.rest()
	check(t, "after the banner", got, "")
}

func TestMaxClientsTurnsAwayWhoeverComesLate(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{MaxClients: 1})
	first := dial(t, s)
	check(t, "first client", first.ask("PING"), "+PONG\r\n")
	for range 2 {
		got, _ := dial(t, s).rest()
		check(t, "late client", got, probetest.MaxClientsBanner)
	}
	first.Close()
	wait(t, s, probetest.Disconnected(3))
	check(t, "client after the first has gone", dial(t, s).ask("PING"), "+PONG\r\n")
}

func TestAcceptConcernsNewConnectionsOnly(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{})
	old := dial(t, s)
	check(t, "before", old.ask("PING"), "+PONG\r\n")
	s.Set(probetest.Behaviour{Accept: probetest.AcceptClose})
	check(t, "old connection", old.ask("PING"), "+PONG\r\n")
	got, _ := dial(t, s).rest()
	check(t, "new connection", got, "")
}

func TestDownRefusesAndUpServesAgain(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{})
	s.Down()
	addr := s.Addr()
	if _, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("down: got %v, want %v", err, syscall.ECONNREFUSED)
	}
	if _, err := net.Listen("tcp", addr); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("another listener: got %v, want %v", err, syscall.EADDRINUSE)
	}
	s.Down() // down already
	for range 3 {
		if err := s.Up(); err != nil {
			t.Fatal(err)
		}
		check(t, "address", s.Addr(), addr)
		c := dial(t, s)
		check(t, "up", c.ask("PING"), "+PONG\r\n")
		s.Down()
		if got, err := c.rest(); got != "" || err != nil {
			t.Errorf("connection at Down: got %q, %v; want the end of the stream", got, err)
		}
		if _, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("down again: got %v, want %v", err, syscall.ECONNREFUSED)
		}
	}
	s.Close()
	if s.Up() == nil {
		t.Error("Up after Close succeeded")
	}
}
