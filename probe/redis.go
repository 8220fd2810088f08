package probe

import (
	"context"
	"crypto/x509"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
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
}

// session is one connection to the server.
type session struct {
	wire   *wire
	client *redis.Client
	fresh  bool // nothing was asked yet: credentials and database come first
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
	o.Cut = ctx.Err() != nil && o.Verdict == Retry
	if o.Verdict == Ready && r.dialer.tls != nil && r.verify() == envcheck.VerifyNone {
		o.Warnings = append(o.Warnings, envcheck.RedisTLSUnverified)
	}
	return o
}

func (r *Redis) attempt(ctx context.Context) Outcome {
	if r.session == nil {
		conn, code := r.dialer.dial(ctx)
		if code != "" {
			return Outcome{Code: code}
		}
		r.session = r.open(conn)
	}
	a := r.session.ask(ctx, r.parts.Reveal(), r.options)
	o := a.judge(r.session.wire)
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

// answer is what came back for one write.
type answer struct {
	auth, database, ping *redis.StatusCmd // auth and database: nil when not asked
	hello                *redis.Cmd       // nil when not asked
	persistence, clients *redis.StringCmd
	write                *redis.IntCmd // nil when not required
	err                  error         // of the whole exchange
}

// ask makes one write and one read. PING comes before the write test, since
// go-redis takes READONLY in the first reply for a bad connection, and the
// write test comes last, since it is the one that a paused server holds back.
func (s *session) ask(ctx context.Context, p envcheck.RedisParts, o RedisOptions) (a answer) {
	pipe := s.client.Pipeline()
	if s.fresh && p.Password != "" {
		if p.User != "" {
			a.auth = pipe.AuthACL(ctx, p.User, p.Password)
		} else {
			a.auth = pipe.Auth(ctx, p.Password)
		}
	}
	if s.fresh && p.DB != 0 {
		a.database = pipe.Select(ctx, p.DB)
	}
	a.ping = pipe.Ping(ctx)
	if s.fresh {
		a.hello = pipe.Do(ctx, "hello", "2")
	}
	a.persistence = pipe.Info(ctx, "persistence") // several sections at once: from 7.0
	a.clients = pipe.Info(ctx, "clients")
	if o.Require == envcheck.RequireWrite {
		a.write = pipe.LPushX(ctx, testKey(o.KeyPrefix), "x")
	}
	_, a.err = pipe.Exec(ctx)
	s.fresh = false
	return a
}

// testKey is a key that never exists, so that LPUSHX meets all that stands in
// the way of a write and changes nothing.
func testKey(prefix string) string {
	return prefix + ":startup-gate:" + strconv.FormatUint(rand.Uint64(), 36) + strconv.FormatUint(rand.Uint64(), 36)
}

// broken reports whether the connection is of no more use.
func (a *answer) broken() bool {
	var reply redis.Error
	return a.err != nil && !errors.As(a.err, &reply)
}

// judge says what the answer means. The exchange's own error comes first: when
// the handshake fails, every single command still looks good.
func (a *answer) judge(w *wire) Outcome {
	if a.broken() {
		return Outcome{Code: a.brokenCode(w)}
	}
	if code := unasked(w.first); code != "" {
		return Outcome{Code: code}
	}
	if a.sentinel() {
		return Outcome{Code: envcheck.RedisIsSentinel}
	}
	info := a.persistence.Val()
	o := Outcome{Clients: infoClients(a.clients.Val())}
	for _, cmd := range a.gating() {
		switch code := errorCode(cmd.Err()); code {
		case "":
		case envcheck.RedisAuthNotConfigured:
			o.Warnings = append(o.Warnings, code)
		case envcheck.RedisLoading:
			o.Code, o.Loading = code, infoProgress(info)
			return o
		default:
			o.Code = code
			return o
		}
	}
	switch {
	case a.ping.Val() != "PONG":
		o.Code = envcheck.RedisNotRedis
	case infoLoading(info):
		o.Code, o.Loading = envcheck.RedisLoading, infoProgress(info)
	case a.persistence.Err() != nil:
		o.Code = errorCode(a.persistence.Err())
	case a.write != nil && !writable(a.write):
		o.Code = errorCode(a.write.Err())
	default:
		o.Code = envcheck.Ready
	}
	return o
}

// gating are the commands whose error decides before anything else.
func (a *answer) gating() []redis.Cmder {
	cmds := make([]redis.Cmder, 0, 3)
	if a.auth != nil {
		cmds = append(cmds, a.auth)
	}
	if a.database != nil {
		cmds = append(cmds, a.database)
	}
	return append(cmds, a.ping)
}

// brokenCode classifies an exchange that the connection did not survive.
func (a *answer) brokenCode(w *wire) envcheck.Code {
	switch code := unasked(w.first); {
	case w.alien, strings.HasPrefix(a.err.Error(), "redis: "):
		return envcheck.RedisNotRedis // go-redis's own words quote the peer
	case code != "":
		return code
	case timedOut(a.err) && a.write != nil && a.ping.Val() == "PONG" && a.clients.Val() != "":
		return envcheck.RedisWritePaused
	case timedOut(a.err):
		return envcheck.RedisReplyTimeout
	}
	return envcheck.RedisClosed
}

// sentinel reports whether HELLO names the server's mode so. A server without
// HELLO, or with none for this user, makes no statement.
func (a *answer) sentinel() bool {
	if a.hello == nil {
		return false
	}
	fields, _ := a.hello.Slice()
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i] == "mode" {
			return fields[i+1] == "sentinel"
		}
	}
	return false
}

// writable reports whether the write test met nothing in its way. A key of
// another type means that the server would have written.
func writable(write *redis.IntCmd) bool {
	return write.Err() == nil || strings.HasPrefix(write.Err().Error(), "WRONGTYPE ")
}

func errorCode(err error) envcheck.Code {
	if err == nil {
		return ""
	}
	return replyFault(err.Error())
}
