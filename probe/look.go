package probe

import (
	"context"
	"crypto/tls"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// lookTimeout bounds a second look. A TLS port answers in about 2 ms.
const lookTimeout = 500 * time.Millisecond

// secondLook tells a TLS mismatch from a network fault, which it looks like: a
// Redis that waits for the end of a line never answers a ClientHello, and a
// TLS port closes on plain text. It makes a connection of its own, sends no
// credentials and runs at most once; what it finds holds for later failures of
// the same shape. It returns "" when it finds no mismatch.
func (r *server) secondLook(ctx context.Context, code envcheck.Code) envcheck.Code {
	var look func(context.Context) envcheck.Code
	switch {
	case r.dialer.tls == nil && (code == envcheck.RedisClosed || code == envcheck.RedisReplyTimeout):
		look = r.lookForTLS
	case r.dialer.tls != nil && code == envcheck.RedisTLSTimeout:
		look = r.lookForPlain
	default:
		return ""
	}
	if !r.looked {
		ctx, cancel := context.WithTimeout(ctx, lookTimeout)
		defer cancel()
		r.looked, r.found = true, look(ctx)
	}
	return r.found
}

func (r *server) lookForTLS(ctx context.Context) envcheck.Code {
	conn, code := r.dialer.connect(ctx)
	if code != "" {
		return ""
	}
	defer conn.Close()
	// Nothing is sent after the handshake, so there is nothing to verify for.
	if tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx) != nil {
		return ""
	}
	return envcheck.RedisTLSRequired
}

func (r *server) lookForPlain(ctx context.Context) envcheck.Code {
	if a := answerToLine(ctx, r.dialer); a == "" || a[0] != '+' && a[0] != '-' {
		return ""
	}
	return envcheck.RedisTLSNotSpoken
}

// otherLook is a second look at a peer that stays silent or hangs up: whether
// it answers to a line of text, as servers of other protocols do. It makes a
// connection of its own, sends nothing of the URL and is done at most once.
type otherLook struct {
	spent, found bool
}

// finds reports whether there is an answer, and one that begins with none of
// own.
func (l *otherLook) finds(ctx context.Context, d *dialer, own ...string) bool {
	if !l.spent {
		ctx, cancel := context.WithTimeout(ctx, lookTimeout)
		defer cancel()
		answer := answerToLine(ctx, d)
		l.spent = true
		l.found = answer != "" && !slices.ContainsFunc(own, func(start string) bool { return strings.HasPrefix(answer, start) })
	}
	return l.found
}

// answerToLine is the start of what a peer answers to a line, "" for nothing.
func answerToLine(ctx context.Context, d *dialer) string {
	conn, fault := d.connect(ctx)
	if fault != "" {
		return ""
	}
	defer conn.Close()
	conn.SetDeadline(within(ctx, lookTimeout))
	if _, err := io.WriteString(conn, "PING\r\n\r\n"); err != nil {
		return ""
	}
	var start [8]byte
	n, _ := conn.Read(start[:])
	return string(start[:n])
}
