package probe

import (
	"context"
	"crypto/tls"
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
	conn, code := r.dialer.connect(ctx)
	if code != "" {
		return ""
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	conn.SetDeadline(deadline)
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return ""
	}
	var reply [8]byte
	if n, _ := conn.Read(reply[:]); n == 0 || reply[0] != '+' && reply[0] != '-' {
		return ""
	}
	return envcheck.RedisTLSNotSpoken
}
