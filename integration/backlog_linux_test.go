package integration

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// fullBacklog returns an address at which the kernel drops every SYN.
func fullBacklog(t testing.TB) string {
	t.Helper()
	addr, _ := fullSocket(t)
	return addr
}

// fullSocket returns a socket with no room for connections that nobody accepts,
// and that room taken. The file alone owns the descriptor: closed by its number
// as well, it could be another test's by then.
func fullSocket(t testing.TB) (addr string, socket *os.File) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	socket = os.NewFile(uintptr(fd), "listener")
	t.Cleanup(func() { socket.Close() })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr = (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: name.(*syscall.SockaddrInet4).Port}).String()
	for range 8 {
		conn, err := net.DialTimeout("tcp", addr, 200*time.Millisecond)
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			return addr, socket
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
	}
	t.Fatal("the backlog does not fill")
	return "", nil
}

// A SYN that was dropped is sent again after a second, which a dial lives to
// see: no attempt is lost by it.
func TestDialOutlastsADroppedSYN(t *testing.T) {
	t.Parallel()
	s := startRedis(t, redisOptions{})
	addr, socket := fullSocket(t)
	p := start(t, command(redisURL("redis://"+addr), loadedWorker(s)...))
	awaitSYN(t, addr)
	relay(t, socket, s.addr())
	checkLoaded(t, p)
	if ready := p.await("ready", 1); ready.Attempts != 1 || ready.Elapsed < 0.8 {
		t.Errorf("ready at attempt %d, after %.2f s", ready.Attempts, ready.Elapsed)
	}
}

// relay accepts what comes to a listening socket and connects it to addr.
func relay(t *testing.T, socket *os.File, addr string) {
	t.Helper()
	l, err := net.FileListener(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", addr)
			if err != nil {
				client.Close()
				continue
			}
			copyTo := func(to, from net.Conn) {
				io.Copy(to, from)
				to.Close()
				from.Close()
			}
			go copyTo(server, client)
			go copyTo(client, server)
		}
	}()
}
