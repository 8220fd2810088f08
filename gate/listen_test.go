package gate

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// answering returns a listener on a port of its own.
func answering(t *testing.T) *listener {
	t.Helper()
	var state atomic.Pointer[[]byte]
	text := []byte(`{"phase":"gating"}` + "\n")
	state.Store(&text)
	l, err := listen("127.0.0.1:0", &state)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return l
}

func TestListenerAnswers(t *testing.T) {
	l := answering(t)
	for _, c := range []struct {
		method, path string
		status       int
		body         bool
	}{
		{"GET", "/healthz", 200, true}, {"GET", "/readyz", 503, true}, {"GET", "/readyz?full=1", 503, true}, {"HEAD", "/healthz", 200, false},
		{"GET", "/", 404, false}, {"GET", "/healthz/", 404, false}, {"POST", "/healthz", 405, false},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+l.Addr().String()+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Errorf("%s %s: %v", c.method, c.path, err)
			continue
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != c.status || strings.Contains(string(body), "gating") != c.body {
			t.Errorf("%s %s: %d %q", c.method, c.path, response.StatusCode, body)
		}
	}
}

// ask sends text and returns the first line of the answer, "" for none.
func ask(t *testing.T, l *listener, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", l.Addr().String())
	if errors.Is(err, syscall.ECONNRESET) {
		return "" // the reset can come that early
	}
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	io.WriteString(conn, text)
	line, _ := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(line)
}

func TestListenerBoundsRequests(t *testing.T) {
	l := answering(t)
	for name, c := range map[string]struct{ text, want string }{
		"no version":      {"GET /healthz\r\n\r\n", "HTTP/1.1 400 Bad Request"},
		"another version": {"GET /healthz HTTP/2\r\n\r\n", "HTTP/1.1 400 Bad Request"},
		"not HTTP":        {"\x16\x03\x01\r\n\r\n", "HTTP/1.1 400 Bad Request"},
		"headers":         {"GET /healthz HTTP/1.1\r\nHost: x\r\nA: b\r\n\r\n", "HTTP/1.1 200 OK"},
		"endless":         {"GET /healthz HTTP/1.1\r\n" + strings.Repeat("A: b\r\n", 2000), ""},
		"never ends":      {"GET /healthz HTTP/1.1\r\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := ask(t, l, c.text); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestListenerTakesSoMany(t *testing.T) {
	l := answering(t)
	for range maxRequests {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	// The kernel hands connections over in their order.
	if got := ask(t, l, "GET /healthz HTTP/1.1\r\n\r\n"); got != "" {
		t.Errorf("%q, want a reset", got)
	}
}
