package probetest_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/startgate/startgate/probe/probetest"
)

// A client speaks RESP without interpreting it.
type client struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func newClient(t *testing.T, c net.Conn, err error) *client {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	// Nothing here takes long; a test that waits in vain fails by itself.
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return &client{t, c, bufio.NewReader(c)}
}

func dial(t *testing.T, s *probetest.Server) *client {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr())
	return newClient(t, c, err)
}

func dialTLS(t *testing.T, s *probetest.Server, config *tls.Config) *client {
	t.Helper()
	c, err := tls.Dial("tcp", s.Addr(), config)
	return newClient(t, c, err)
}

// request encodes a command.
func request(args ...string) string {
	text := fmt.Sprintf("*%d\r\n", len(args))
	for _, a := range args {
		text += fmt.Sprintf("$%d\r\n%s\r\n", len(a), a)
	}
	return text
}

func (c *client) send(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		c.t.Fatal(err)
	}
}

// ask sends one command and returns the answer as it was sent.
func (c *client) ask(args ...string) string {
	c.t.Helper()
	c.send(request(args...))
	return c.reply()
}

// reply returns the next answer as it was sent.
func (c *client) reply() string {
	c.t.Helper()
	s, err := readReply(c.r)
	if err != nil {
		c.t.Fatalf("after %q: %v", s, err)
	}
	return s
}

func readReply(r *bufio.Reader) (string, error) {
	text, err := r.ReadString('\n')
	if err != nil {
		return text, err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(text[1:]))
	switch text[0] {
	case '$', '=':
		if n < 0 {
			return text, nil
		}
		body := make([]byte, n+2)
		_, err := io.ReadFull(r, body)
		return text + string(body), err
	case '%':
		n *= 2
		fallthrough
	case '*', '>':
		for range n {
			element, err := readReply(r)
			text += element
			if err != nil {
				return text, err
			}
		}
	}
	return text, nil
}

// field returns the value of a field in an INFO reply, or "absent".
func field(info, name string) string {
	for line := range strings.SplitSeq(info, "\r\n") {
		if v, found := strings.CutPrefix(line, name+":"); found {
			return v
		}
	}
	return "absent"
}

// rest returns what the server sends until it ends the connection, and how it
// does.
func (c *client) rest() (string, error) {
	b, err := io.ReadAll(c.r)
	return string(b), err
}

func check[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, fmt.Sprint(got), fmt.Sprint(want))
	}
}

// wait fails the test when cond does not come to hold.
func wait(t *testing.T, s *probetest.Server, cond func(probetest.Traffic) bool) {
	t.Helper()
	if err := s.Wait(t.Context(), cond); err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
