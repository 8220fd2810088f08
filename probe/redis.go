package probe

import (
	"context"
	"crypto/x509"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/startgate/startgate/envcheck"
)

// RedisOptions say how a Redis is asked.
type RedisOptions struct {
	DialTimeout  time.Duration // look-up, connect and TLS handshake together
	ReplyTimeout time.Duration // of each round trip
	Verify       envcheck.TLSVerify
	Roots        *x509.CertPool // nil: the system's, or the embedded set
	Require      envcheck.Require
	KeyPrefix    string // of the key that the write test looks for
}

// Redis probes one Redis server. It implements [Prober].
//
// A probe is one connection, kept while the server answers, and on it one
// write and one read: a loading Redis answers between chunks of work only, so
// that every round trip waits for the next chunk.
type Redis struct {
	options RedisOptions
	parts   envcheck.RedisURL
	dialer  *dialer
	session *session // nil without a connection
	looked  bool     // the second look is spent
	found   envcheck.Code
}

// session is one connection to the server.
type session struct {
	wire     *wire
	client   *redis.Client
	fresh    bool            // credentials and database are still to be said
	asked    bool            // for a certificate, by the server
	warnings []envcheck.Code // about credentials, for as long as the connection lasts
}

// NewRedis returns a prober for the server that u names.
func NewRedis(u envcheck.RedisURL, o RedisOptions) *Redis {
	p := u.Reveal()
	r := &Redis{options: o, parts: u, dialer: &dialer{host: p.Host, port: p.Port, timeout: o.DialTimeout}}
	if p.TLS {
		r.dialer.tls = tlsConfig(p.Host, r.verify(), o.Roots)
	}
	return r
}

// verify is what the URL says, else the setting.
func (r *Redis) verify() envcheck.TLSVerify {
	if v := r.parts.Reveal().Verify; v != "" {
		return v
	}
	return r.options.Verify
}

// Close drops the connection.
func (r *Redis) Close() {
	if r.session != nil {
		r.session.client.Close()
		r.session = nil
	}
}

// Probe makes one attempt.
func (r *Redis) Probe(ctx context.Context) (o Outcome) {
	// A panic's text may quote what it choked on.
	defer func() {
		if recover() != nil {
			o = Outcome{Verdict: Refuse, Code: envcheck.InternalError}
		}
	}()
	o = r.attempt(ctx)
	if code := r.secondLook(ctx, o.Code); code != "" {
		o.Code = code
	}
	o.Verdict = verdict(o.Code)
	o.Facts = r.facts()
	o.Cut = o.Verdict == Retry && expired(ctx)
	if o.Verdict == Ready && r.dialer.tls != nil && r.verify() == envcheck.VerifyNone {
		o.Warnings = append(o.Warnings, envcheck.RedisTLSUnverified)
	}
	return o
}

// expired reports whether ctx has ended. Reads that it bounds can end a moment
// before its own timer does.
func expired(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

func (r *Redis) attempt(ctx context.Context) Outcome {
	if r.session == nil {
		conn, asked, code := r.dialer.dial(ctx)
		if code != "" {
			return Outcome{Code: code}
		}
		r.session = r.open(conn)
		r.session.asked = asked
	}
	a := r.session.ask(ctx, r.parts.Reveal(), r.options)
	o := a.judge(r.session)
	o.Code = certificateFault(o.Code, r.session.asked && len(r.session.wire.first) == 0)
	o.Connected = true
	if a.broken() {
		// Never a client with a failed connection again: go-redis's pool would
		// answer from the stored error without dialling.
		r.Close()
	}
	return o
}

func (r *Redis) open(conn net.Conn) *session {
	w := &wire{Conn: conn}
	return &session{wire: w, fresh: true, client: redis.NewClient(&redis.Options{
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			if w.taken.Swap(true) {
				return nil, net.ErrClosed // one connection, one client
			}
			return w, nil
		},
		// No Username, Password or DB: the first probe sends them in its own
		// write. go-redis would try a wrong password twice.
		Protocol:                 2,
		MaxRetries:               -1, // 0 means 3
		DialerRetries:            1,  // 0 means 5
		PoolSize:                 1,
		PipelinePoolSize:         -1, // else pipelines have a pool, and a connection, of their own
		DisableIdentity:          true,
		ContextTimeoutEnabled:    true, // else a deadline does not bound reads
		DialTimeout:              r.options.DialTimeout,
		ReadTimeout:              r.options.ReplyTimeout,
		WriteTimeout:             r.options.ReplyTimeout,
		ReadBufferSize:           4 << 10,
		WriteBufferSize:          1 << 10,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})}
}

// facts are the closed facts about the address.
func (r *Redis) facts() Facts {
	p := r.parts.Reveal()
	f := Facts{Address: r.dialer.address(), TLS: "no", Password: "empty", Port: "other"}
	if p.TLS {
		f.TLS = "yes"
	}
	if p.Password != "" {
		f.Password = "set"
	}
	if p.Port == "6379" {
		f.Port = "default"
	}
	return f
}
