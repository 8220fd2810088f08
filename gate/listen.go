package gate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxRequest  = 4096            // bytes up to the blank line
	maxRequests = 16              // at a time
	requestTime = 2 * time.Second // from its first byte to its last
	// finTime is how long a client has to close first. Whoever closes first
	// keeps the port busy for a minute, for a worker that binds without
	// SO_REUSEADDR.
	finTime = 500 * time.Millisecond
)

// listener answers probes over HTTP while the gate waits: /healthz with 200,
// /readyz with 503 and the gate's state. It is closed before the exec and
// leaves the port as if it had never been bound, which net/http's server
// cannot.
type listener struct {
	net.Listener
	state *atomic.Pointer[[]byte]

	mu    sync.Mutex
	conns map[*net.TCPConn]bool
	ended sync.WaitGroup
}

// listen begins to answer at address, HOST:PORT or a port alone.
func listen(address string, state *atomic.Pointer[[]byte]) (*listener, error) {
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	inner, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	l := &listener{Listener: inner, state: state, conns: map[*net.TCPConn]bool{}}
	l.ended.Go(l.serve)
	return l, nil
}

// close ends all that is under way and frees the port.
func (l *listener) close() {
	if l == nil {
		return
	}
	l.Listener.Close()
	l.mu.Lock()
	for conn := range l.conns {
		abort(conn)
	}
	l.conns = nil // takes no more
	l.mu.Unlock()
	l.ended.Wait()
}

// abort closes without TIME_WAIT: the peer gets a reset.
func abort(conn *net.TCPConn) {
	conn.SetLinger(0)
	conn.Close()
}

func (l *listener) serve() {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files
			time.Sleep(finTime)
			continue
		}
		tcp := conn.(*net.TCPConn)
		if !l.take(tcp) {
			abort(tcp)
			continue
		}
		l.ended.Go(func() {
			defer l.drop(tcp)
			answer(tcp, *l.state.Load())
		})
	}
}

func (l *listener) take(conn *net.TCPConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conns == nil || len(l.conns) >= maxRequests {
		return false
	}
	l.conns[conn] = true
	return true
}

func (l *listener) drop(conn *net.TCPConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, conn)
	conn.Close()
}

// answer reads one request and answers it.
func answer(conn *net.TCPConn, state []byte) {
	conn.SetDeadline(time.Now().Add(requestTime))
	request := make([]byte, 0, maxRequest)
	for !bytes.Contains(request, []byte("\r\n\r\n")) {
		n, err := conn.Read(request[len(request):cap(request)])
		if request = request[:len(request)+n]; err != nil || n == 0 {
			abort(conn)
			return
		}
	}
	line, _, _ := bytes.Cut(request, []byte("\r\n"))
	status, body := respond(string(line), state)
	head := fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", status, len(body))
	if strings.HasPrefix(string(line), "HEAD ") {
		body = nil
	}
	if _, err := conn.Write(append([]byte(head), body...)); err != nil {
		abort(conn)
		return
	}
	conn.SetReadDeadline(time.Now().Add(finTime))
	if n, err := conn.Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
		abort(conn)
	}
}

// respond is the answer to a request's first line.
func respond(line string, state []byte) (status string, body []byte) {
	method, rest, _ := strings.Cut(line, " ")
	target, version, ok := strings.Cut(rest, " ")
	path, _, _ := strings.Cut(target, "?")
	switch {
	case !ok || !strings.HasPrefix(version, "HTTP/1."):
		return "400 Bad Request", nil
	case method != "GET" && method != "HEAD":
		return "405 Method Not Allowed", nil
	case path == "/healthz":
		return "200 OK", state
	case path == "/readyz":
		return "503 Service Unavailable", state
	}
	return "404 Not Found", nil
}
