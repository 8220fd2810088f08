package integration

import (
	"net"
	"net/http"
	"testing"

	"github.com/startgate/startgate/probe/probetest"
)

// peerRows are peers that are not the Redis that the URL means.
func peerRows() []row {
	return []row{
		{"35b", "half-open peer", "listener", func(t testing.TB) call {
			return at("redis://" + peer(t, silent))
		}, isRetried("redis_reply_timeout")},
		{"36", "half-open peer, TLS client", "listener", func(t testing.TB) call {
			return at("rediss://" + peer(t, silent))
		}, isRetried("redis_tls_timeout")},
		{"37", "closes at once", "listener", func(t testing.TB) call {
			return at("redis://" + peer(t, closing))
		}, isRetried("redis_closed")},
		{"38", "resets", "listener", func(t testing.TB) call {
			return at("redis://" + peer(t, resetting))
		}, isRetried("redis_closed")},
		{"39", "closes at once, TLS client", "listener", func(t testing.TB) call {
			return at("rediss://" + peer(t, closing))
		}, isRetried("redis_tls_closed")},
		{"66", "proxy that closes on HELLO", "probetest", func(t testing.TB) call {
			hangUp := map[string]probetest.Reply{"HELLO": probetest.HangUp("")}
			return at(probetest.New(t, probetest.Behaviour{Replies: hangUp}).URL())
		}, isRetried("redis_closed")},
		{"64", "HTTP server", "net/http", func(t testing.TB) call {
			return at("redis://" + httpServer(t))
		}, isRefused("redis_not_redis")},
		{"64a", "SSH server", "listener", func(t testing.TB) call {
			return at("redis://" + peer(t, banner(probetest.SSHBanner)))
		}, isRefused("redis_not_redis")},
		{"64b", "SMTP server", "listener", func(t testing.TB) call {
			return at("redis://" + peer(t, banner(probetest.SMTPBanner)))
		}, isRefused("redis_not_redis")},
		{"64c", "memcached", "listener", func(t testing.TB) call {
			return at("redis://" + peer(t, memcached))
		}, isRefused("redis_not_redis")},
		{"64d", "MySQL server", "listener", func(t testing.TB) call {
			return at("redis://" + peer(t, banner("\x4a\x00\x00\x00\x0a8.0.36\x00\x08\x00\x00\x00")))
		}, isRefused("redis_not_redis")},
		{"65", "AMQP broker: no line ends", "listener", func(t testing.TB) call {
			return at("redis://" + peer(t, afterFirstBytes(probetest.AMQPBanner)))
		}, isRefused("redis_not_redis")},
	}
}

// peer serves every connection to an address of its own with serve, and closes
// the connections at the end of t.
func peer(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan net.Conn)
	go func() {
		defer close(accepted)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var conns []net.Conn
		for conn := range accepted {
			conns = append(conns, conn)
			go serve(conn)
		}
		for _, conn := range conns {
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-ended
	})
	return l.Addr().String()
}

func silent(net.Conn) {}

func closing(c net.Conn) { c.Close() }

func resetting(c net.Conn) {
	c.(*net.TCPConn).SetLinger(0)
	c.Close()
}

func banner(text string) func(net.Conn) {
	return func(c net.Conn) { c.Write([]byte(text)) }
}

// afterFirstBytes is a peer that speaks second.
func afterFirstBytes(text string) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := c.Read(make([]byte, 4096)); err == nil {
			c.Write([]byte(text))
		}
	}
}

// memcached answers each line that it does not know.
func memcached(c net.Conn) {
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		for _, b := range buf[:n] {
			if b == '\n' {
				c.Write([]byte("ERROR\r\n"))
			}
		}
	}
}

func httpServer(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler()}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return l.Addr().String()
}
