package probetest

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
)

// Limits of one request, far above what a client sends to an empty server.
const (
	maxLine = 64 << 10 // also Redis's own limit, for lines
	maxArgs = 1 << 10
	maxSize = 1 << 20 // of all arguments together
)

// A protocolError is the tail of "ERR Protocol error: …", after which Redis
// closes the connection.
type protocolError string

func (e protocolError) Error() string { return string(e) }

// requests reads commands from a connection.
type requests struct {
	c *conn
	r *bufio.Reader

	boundary bool // nothing of the next command has been read
	fresh    bool // a new batch has arrived since this was last set to false
}

func newRequests(c *conn) *requests {
	q := &requests{c: c}
	q.r = bufio.NewReaderSize(batches{q}, maxLine)
	return q
}

// batches reads from the connection, and first sends what has been answered,
// so that the answers to a pipeline leave together, as Redis sends them.
type batches struct{ q *requests }

func (b batches) Read(p []byte) (int, error) {
	if err := b.q.c.out.Flush(); err != nil {
		return 0, err
	}
	n, err := b.q.c.nc.Read(p)
	if n > 0 && b.q.boundary {
		b.q.boundary, b.q.fresh = false, true
		b.q.c.srv.batch(b.q.c.id)
	}
	return n, err
}

// next returns the next command and its arguments, at least one string. It
// returns a protocolError for what Redis refuses to read, errDeaf for what
// Redis reads without ever answering, and the errors of the connection.
func (q *requests) next() ([]string, error) {
	for {
		q.boundary = true
		first, err := q.r.Peek(1)
		if err != nil {
			return nil, err
		}
		q.boundary = false
		var args []string
		if first[0] == '*' {
			args, err = q.array()
		} else {
			args, err = q.inline()
		}
		if err != nil || len(args) > 0 {
			return args, err
		}
	}
}

// inline reads a command as a person types it. Quotes are not understood.
func (q *requests) inline() ([]string, error) {
	line, err := q.r.ReadSlice('\n')
	if bytes.IndexByte(line, 0) >= 0 {
		// Redis looks for the end of the line with strchr, which stops at the
		// NUL: a TLS ClientHello waits for ever.
		return nil, errDeaf
	}
	if err == bufio.ErrBufferFull {
		return nil, protocolError("too big inline request")
	}
	if err != nil {
		return nil, err
	}
	args := strings.Fields(string(line))
	if len(args) > 0 && (strings.EqualFold(args[0], "POST") || strings.EqualFold(args[0], "Host:")) {
		return nil, errHangup // Redis takes it for an attack from a browser
	}
	return args, nil
}

// array reads a command as clients send it.
func (q *requests) array() ([]string, error) {
	n, err := q.length("too big mbulk count string", "invalid multibulk length", maxArgs)
	if err != nil || n <= 0 {
		return nil, err
	}
	args := make([]string, 0, n)
	left := maxSize
	for range n {
		first, err := q.r.Peek(1)
		if err != nil {
			return nil, err
		}
		if first[0] != '$' {
			return nil, protocolError("expected '$', got '" + string(first) + "'")
		}
		n, err := q.length("too big bulk count string", "invalid bulk length", left)
		if err != nil {
			return nil, err
		}
		if n < 0 {
			return nil, protocolError("invalid bulk length")
		}
		left -= n
		arg := make([]byte, n+2) // with its CRLF
		if _, err := io.ReadFull(q.r, arg); err != nil {
			return nil, err
		}
		args = append(args, string(arg[:n]))
	}
	return args, nil
}

// length reads the header line of an array or a bulk string.
func (q *requests) length(tooLong, invalid string, limit int) (int, error) {
	line, err := q.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		return 0, protocolError(tooLong)
	}
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimRight(string(line[1:]), "\r\n"))
	if err != nil || n > limit {
		return 0, protocolError(invalid)
	}
	return n, nil
}
