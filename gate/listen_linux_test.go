package gate

import (
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"
)

// After close the port is free for a bind without SO_REUSEADDR: whether clients
// closed first, keep their connections, or never asked.
func TestListenerLeavesNoTrace(t *testing.T) {
	for name, use := range map[string]func(t *testing.T, l *listener){
		"a connection each": func(t *testing.T, l *listener) {
			client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			for range 3 {
				response, err := client.Get("http://" + l.Addr().String() + "/readyz")
				if err != nil {
					t.Fatal(err)
				}
				io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		},
		"one that stays open": func(t *testing.T, l *listener) {
			if got := ask(t, l, "GET /healthz HTTP/1.1\r\n\r\n"); got != "HTTP/1.1 200 OK" {
				t.Fatal(got)
			}
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			io.WriteString(conn, "GET /healthz HTTP/1.1\r\n\r\n")
			io.ReadFull(conn, make([]byte, 1))
		},
		"one that says nothing": func(t *testing.T, l *listener) {
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := answering(t)
			use(t, l)
			port := l.Addr().(*net.TCPAddr).Port
			l.close()
			fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer syscall.Close(fd)
			if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
				t.Errorf("bind: %v", err)
			}
		})
	}
}

// A probe that waits to be accepted when the worker takes over is reset, and
// hangs on nobody.
func TestListenerResetsWhoWaits(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{Listener: inner} // that never serves
	conn, err := net.Dial("tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET /healthz HTTP/1.1\r\n\r\n")
	l.close()
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%d bytes, %v; want a reset", n, err)
	}
}
