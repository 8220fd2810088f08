package probe

import (
	"context"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// TCP probes whether a port takes connections. It implements [Prober].
//
// It sends nothing: what listens may be anything.
type TCP struct {
	parts  envcheck.Sealed[envcheck.URLParts]
	dialer *dialer
}

// NewTCP returns a prober for the host and port of u. dialTimeout is for
// look-up and connect together.
func NewTCP(u envcheck.Sealed[envcheck.URLParts], dialTimeout time.Duration) *TCP {
	p := u.Reveal()
	return &TCP{parts: u, dialer: &dialer{host: p.Host, port: p.Port, timeout: dialTimeout}}
}

// Close does nothing: no connection outlives its attempt.
func (*TCP) Close() {}

// Probe makes one attempt.
func (t *TCP) Probe(ctx context.Context) Outcome {
	o := judged(ctx, t.attempt)
	o.Facts = facts(t.dialer, t.parts.Reveal(), false)
	return o
}

func (t *TCP) attempt(ctx context.Context) Outcome {
	conn, _, fault := t.dialer.dial(ctx)
	if fault != "" {
		return Outcome{Code: ofTCP.name(fault)}
	}
	conn.Close()
	return Outcome{Code: envcheck.Ready, Connected: true}
}
