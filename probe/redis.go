package probe

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/startgate/startgate/envcheck"
)

// RedisOptions say how a Redis is asked, and what is asked of it.
type RedisOptions struct {
	DialTimeout  time.Duration // look-up, connect and TLS handshake together
	ReplyTimeout time.Duration // of each round trip
	Verify       envcheck.TLSVerify
	Roots        *x509.CertPool   // nil: the system's, or the embedded set
	ServerName   envcheck.Secret  // that the certificate is for, when that is not the host
	Certificate  *tls.Certificate // the client's own, nil for none

	Client    envcheck.Client // whose needs apply
	Require   envcheck.Require
	Checks    []envcheck.Check  // needed beside that level
	Prefer    []envcheck.Check  // only warned about
	OOM       envcheck.Handling // of a full Redis: Retry or AsWarn, "" for the family's
	Topology  envcheck.Word     // "cluster" for a worker that follows redirections
	KeyPrefix string            // of the key that the write test looks for
}

// NewRedis returns a prober for the Redis that u names: one server, the master
// that Sentinels know, or a list of servers of which one must be ready.
func NewRedis(u envcheck.RedisURL, o RedisOptions) Prober {
	p := u.Reveal()
	switch {
	case len(p.Others) > 0:
		return newAnyOf(p, o)
	case len(p.Sentinels) > 0:
		return newSentinel(p, o)
	}
	return newServer(u, o)
}

// server probes one Redis server.
//
// A probe is one connection, kept while the server answers, and on it one
// write and one read: a loading Redis answers between chunks of work only, so
// that every round trip waits for the next chunk.
type server struct {
	options RedisOptions
	parts   envcheck.RedisURL
	dialer  *dialer
	key     string   // of the write test
	session *session // nil without a connection
	node    *server  // of a cluster, that key's own
	moved   bool     // this is such a node
	looked  bool     // the second look is spent
	found   envcheck.Code
}

// session is one connection to the server.
type session struct {
	wire     *wire
	client   *redis.Client
	born     time.Time
	fresh    bool            // credentials and database are still to be said
	asked    bool            // for a certificate that we do not have, by the server
	greeting greeting        // what it said of itself
	warnings []envcheck.Code // about credentials, for as long as the connection lasts
}

func newServer(u envcheck.RedisURL, o RedisOptions) *server {
	p := u.Reveal()
	return &server{options: o, parts: u, key: testKey(o.KeyPrefix), dialer: newDialer(p, o)}
}

func newDialer(p envcheck.RedisParts, o RedisOptions) *dialer {
	d := &dialer{host: p.Host, port: p.Port, socket: p.Socket, timeout: o.DialTimeout, own: o.Certificate}
	if p.TLS {
		d.tls, d.roots = tlsConfig(cmp.Or(o.ServerName.Reveal(), p.Host), cmp.Or(p.Verify, o.Verify), o.Roots)
	}
	return d
}

// Close drops the connection.
func (r *server) Close() {
	if r.session != nil {
		r.session.close()
		r.session = nil
	}
	if r.node != nil {
		r.node.Close()
	}
}

// Probe makes one attempt.
func (r *server) Probe(ctx context.Context) (o Outcome) {
	defer caught(&o)
	o = r.attempt(ctx)
	if code := r.secondLook(ctx, o.Code); code != "" {
		o.Code = code
	}
	o.Verdict = verdict(o.Code)
	o.Facts = r.facts()
	o.Cut = o.Verdict == Retry && expired(ctx)
	if o.Verdict == Ready && r.dialer.tls != nil && cmp.Or(r.parts.Reveal().Verify, r.options.Verify) == envcheck.VerifyNone {
		o.Warnings = append(o.Warnings, envcheck.RedisTLSUnverified)
	}
	return o
}

// caught makes an outcome of a panic, whose text may quote what it choked on.
func caught(o *Outcome) {
	if recover() != nil {
		*o = Outcome{Verdict: Refuse, Code: envcheck.InternalError}
	}
}

// expired reports whether ctx has ended. Reads that it bounds can end a moment
// before its own timer does.
func expired(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

func (r *server) attempt(ctx context.Context) Outcome {
	if r.session == nil {
		conn, asked, code := r.dialer.dial(ctx)
		if code != "" {
			return Outcome{Code: code}
		}
		r.session = newSession(conn, r.options)
		r.session.asked = asked
	}
	s := r.session
	a := s.ask(ctx, r.parts.Reveal(), r.key, r.options)
	o := a.judge(s, r.options)
	o.Code = certificateFault(o.Code, s.asked)
	broken := a.broken()
	switch {
	case broken:
	case errorCode(a.write) == envcheck.RedisClusterRedirect && o.Code == envcheck.RedisClusterRedirect && r.options.Topology == cluster:
		o = r.askNode(ctx, a.write.Err().Error())
	case o.Code == envcheck.Ready && r.options.Require != envcheck.RequireReachable:
		broken = s.examine(ctx, r.options, a.persistence.Val(), &o)
	}
	o.Connected = true
	if broken || s.stale(o.Code) {
		// Never a client with a failed connection again: go-redis's pool would
		// answer from the stored error without dialling.
		r.Close()
	}
	return o
}

// stale reports whether a server that is not ready, for this reason, is to be
// left, so that the next attempt looks the name up again: after a failover the
// old master stays up, as a replica. One that loads never is: to connect costs
// it many times an answer, and a fleet is counted by its connections.
func (s *session) stale(c envcheck.Code) bool {
	limit := time.Minute
	switch c {
	case envcheck.Ready, envcheck.RedisLoading:
		return false
	case envcheck.RedisReadOnly, envcheck.RedisMasterDown, envcheck.RedisClusterDown:
		limit = 5 * time.Second
	}
	return time.Since(s.born) > limit
}

func newSession(conn net.Conn, o RedisOptions) *session {
	w := &wire{Conn: conn}
	return &session{wire: w, born: time.Now(), fresh: true, client: redis.NewClient(&redis.Options{
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
		DialTimeout:              o.DialTimeout,
		ReadTimeout:              o.ReplyTimeout,
		WriteTimeout:             o.ReplyTimeout,
		ReadBufferSize:           4 << 10,
		WriteBufferSize:          1 << 10,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})}
}

// close drops the connection, also where the client has not got it yet.
func (s *session) close() {
	s.client.Close()
	s.wire.Close()
}

func (r *server) facts() Facts { return factsOf(r.parts.Reveal(), r.dialer) }

// factsOf are the closed facts about the address that d dials.
func factsOf(p envcheck.RedisParts, d *dialer) Facts {
	return d.facts(p.TLS, p.Password != "", p.Port == "6379")
}
