package integration

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// respConn asks a server over a bare connection, so that what a test knows of
// a server does not come through the client that is tested.
type respConn struct {
	conn net.Conn
	r    *bufio.Reader
}

func newRESPConn(conn net.Conn) *respConn {
	conn.SetDeadline(time.Now().Add(patience))
	return &respConn{conn, bufio.NewReader(conn)}
}

func (c *respConn) close() { c.conn.Close() }

// ask sends one command and returns the answer: an error with its minus, the
// elements of an array as lines.
func (c *respConn) ask(args ...string) (string, error) {
	if err := c.send(args...); err != nil {
		return "", err
	}
	return c.receive()
}

func (c *respConn) send(args ...string) error {
	_, err := io.WriteString(c.conn, respCommand(args...))
	return err
}

func respCommand(args ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return b.String()
}

func (c *respConn) receive() (string, error) {
	line, err := c.r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return "", fmt.Errorf("an empty line")
	}
	n, _ := strconv.Atoi(line[1:])
	switch line[0] {
	case '-':
		return line, nil
	case '+', ':':
		return line[1:], nil
	case '$':
		if n < 0 {
			return "", nil
		}
		b := make([]byte, n+2)
		_, err := io.ReadFull(c.r, b)
		return strings.TrimSuffix(string(b), "\r\n"), err
	case '*':
		var elements []string
		for range n {
			element, err := c.receive()
			if err != nil {
				return "", err
			}
			elements = append(elements, element)
		}
		return strings.Join(elements, "\n"), nil
	}
	return "", fmt.Errorf("not RESP: %q", line)
}
