package probe

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/startgate/startgate/envcheck"
)

// PostgresOptions say how a PostgreSQL server is asked.
type PostgresOptions struct {
	DialTimeout  time.Duration   // look-up, connect and TLS handshake together
	ReplyTimeout time.Duration   // of the server's answer
	Roots        *x509.CertPool  // nil: the system's, or the embedded set
	RootsGiven   bool            // Roots are of a file that the URL or the contract names
	ServerName   envcheck.Secret // that the certificate must have; "" is the host
}

// Postgres probes one PostgreSQL server. It implements [Prober].
//
// It says who wants which database and sends no password: a server that asks
// for one, or lets the user in without, takes connections. That is pg_isready's
// notion of readiness, and beyond it what the server says of user and database.
type Postgres struct {
	options PostgresOptions
	parts   envcheck.Sealed[envcheck.URLParts]
	dialer  *dialer
	tls     *tls.Config // not the dialer's: a request for TLS comes first
	secure  bool        // the last connection was to have TLS
	look    otherLook
}

// NewPostgres returns a prober for the server that u names.
func NewPostgres(u envcheck.Sealed[envcheck.URLParts], o PostgresOptions) *Postgres {
	parts := u.Reveal()
	p := &Postgres{options: o, parts: u, dialer: &dialer{host: parts.Host, port: parts.Port, timeout: o.DialTimeout}}
	p.tls, p.dialer.roots = postgresTLS(parts, o)
	return p
}

// Close does nothing: no connection outlives its attempt.
func (*Postgres) Close() {}

// Probe makes one attempt.
func (p *Postgres) Probe(ctx context.Context) Outcome {
	o := judged(ctx, p.attempt)
	o.Facts = facts(p.dialer, p.parts.Reveal(), p.secure)
	if o.Verdict == Ready && p.parts.Reveal().SSLMode == envcheck.SSLRequire && !p.options.RootsGiven {
		o.Warnings = append(o.Warnings, envcheck.PostgresTLSUnverified)
	}
	return o
}

// attempt connects as libpq does in the URL's sslmode: allow and prefer make a
// second connection, with TLS and without, where the first was turned away.
func (p *Postgres) attempt(ctx context.Context) Outcome {
	mode := p.parts.Reveal().SSLMode
	first := mode != envcheck.SSLDisable && mode != envcheck.SSLAllow
	o, again := p.try(ctx, first)
	if again && (mode == envcheck.SSLAllow || mode == envcheck.SSLPrefer) {
		second, _ := p.try(ctx, !first)
		if second.Code != envcheck.PostgresTLSNotOffered { // else the first says more
			o = second
		}
	}
	// What reads lines never answers the requests of PostgreSQL, which have no
	// line end. PostgreSQL takes a line for a length, and hangs up. PgBouncer,
	// which is silent while its server starts, answers with an error message.
	if o.Code == envcheck.PostgresReplyTimeout && p.look.finds(ctx, p.dialer, "E\x00") {
		o.Code = envcheck.PostgresNotPostgres
	}
	return o
}

// try makes one connection. again reports whether one of the other sort, with
// TLS or without, may fare better.
func (p *Postgres) try(ctx context.Context, secure bool) (_ Outcome, again bool) {
	p.secure = secure
	dialCtx, cancel := context.WithTimeout(ctx, p.options.DialTimeout)
	defer cancel()
	conn, fault := p.dialer.connect(dialCtx)
	if fault != "" {
		return Outcome{Code: ofPostgres.name(fault)}, false
	}
	defer func() { conn.Close() }() // over TLS with its goodbye, the lack of which the server may log
	if secure {
		answer, code := p.askForTLS(dialCtx, conn)
		switch {
		case code != "":
			return Outcome{Code: code, Connected: true}, false
		case answer == 'S':
			encrypted, code := p.handshake(dialCtx, conn)
			if code != "" {
				return Outcome{Code: code, Connected: true}, true
			}
			conn = encrypted
		case answer == 'E': // a message, in the clear, that begins with it
			conn.SetDeadline(within(ctx, p.options.ReplyTimeout))
			code, _ := p.read(bufio.NewReader(io.MultiReader(strings.NewReader("E"), conn)))
			return Outcome{Code: code, Connected: true}, false
		case p.parts.Reveal().SSLMode == envcheck.SSLPrefer:
			p.secure = false
		default:
			return Outcome{Code: envcheck.PostgresTLSNotOffered, Connected: true}, false
		}
	}
	conn.SetDeadline(within(ctx, p.options.ReplyTimeout))
	code := p.login(conn)
	return Outcome{Code: code, Connected: true}, p.secure == secure && verdict(code) == Refuse
}

// askForTLS returns the server's one byte: S, N or E. An error before the
// handshake is nobody's word that can be trusted, but good enough to wait by.
func (p *Postgres) askForTLS(ctx context.Context, conn net.Conn) (answer byte, _ envcheck.Code) {
	conn.SetDeadline(within(ctx, p.options.ReplyTimeout))
	request, _ := new(pgproto3.SSLRequest).Encode(nil)
	if _, err := conn.Write(request); err != nil {
		return 0, ofPostgres.name(readFault(err))
	}
	var b [1]byte
	if _, err := conn.Read(b[:]); err != nil {
		return 0, ofPostgres.name(readFault(err))
	}
	if strings.IndexByte("SNE", b[0]) < 0 {
		return 0, envcheck.PostgresNotPostgres
	}
	return b[0], ""
}

func (p *Postgres) handshake(ctx context.Context, conn net.Conn) (*tls.Conn, envcheck.Code) {
	conn.SetDeadline(within(ctx, p.options.DialTimeout))
	secure := tls.Client(conn, p.tls)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, ofPostgres.name(tlsFault(err))
	}
	return secure, ""
}

// postgresTLS follows libpq: a file of authorities has the certificate verified
// in every mode.
func postgresTLS(u envcheck.URLParts, o PostgresOptions) (_ *tls.Config, from envcheck.Word) {
	verify := envcheck.VerifyNone
	switch {
	case u.SSLMode == envcheck.SSLVerifyFull:
		verify = envcheck.VerifyFull
	case u.SSLMode == envcheck.SSLVerifyCA, o.RootsGiven:
		verify = envcheck.VerifyCA
	}
	return tlsConfig(cmp.Or(o.ServerName.Reveal(), u.Host), verify, o.Roots)
}

// login says who wants which database, and reads what comes of it.
func (p *Postgres) login(conn net.Conn) envcheck.Code {
	u := p.parts.Reveal()
	start := pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": u.User}}
	if u.User == "" {
		start.Parameters["user"] = "startgate" // the protocol wants one
	}
	if u.Database != "" {
		start.Parameters["database"] = u.Database
	}
	message, err := start.Encode(nil)
	if err != nil {
		return envcheck.InternalError
	}
	if _, err := conn.Write(message); err != nil {
		return ofPostgres.name(readFault(err))
	}
	code, let := p.read(bufio.NewReader(conn))
	if code == envcheck.Ready && let {
		goodbye, _ := new(pgproto3.Terminate).Encode(nil)
		conn.Write(goodbye) // in place of a password the server would log it as a fault
	}
	return code
}

const (
	// maxMessage bounds a message of the server. libpq takes up to 30,000
	// bytes of an error, and 2,000 of a request for a password.
	maxMessage = 64 << 10
	// maxMessages bounds what may come between a login without a password and
	// its end: PostgreSQL sends some 15 parameters.
	maxMessages = 200
)

// read reads up to the message that decides. let reports whether the user was
// let in without a password, which is so before the database is looked for.
func (p *Postgres) read(r *bufio.Reader) (code envcheck.Code, let bool) {
	for range maxMessages {
		head, err := r.Peek(5)
		if len(head) > 0 && !expected(head[0], let) {
			return envcheck.PostgresNotPostgres, let
		}
		if err != nil {
			return ofPostgres.name(readFault(err)), let
		}
		kind, length := head[0], int64(binary.BigEndian.Uint32(head[1:]))-4
		if length < 0 || length > maxMessage {
			return envcheck.PostgresNotPostgres, let
		}
		r.Discard(len(head))
		var body bytes.Buffer
		if _, err := io.CopyN(&body, r, length); err != nil {
			return ofPostgres.name(readFault(err)), let
		}
		switch kind {
		case 'R':
			switch request, known := authRequest(body.Bytes()); {
			case !known:
				return envcheck.PostgresNotPostgres, let
			case request != pgproto3.AuthTypeOk:
				return envcheck.Ready, let
			}
			let = true
		case 'E':
			return p.errorCode(body.Bytes()), let
		case 'Z':
			return envcheck.Ready, let
		}
	}
	return envcheck.PostgresNotPostgres, let
}

// expected reports whether a message of this kind can come: at first a request
// for a password or an error, then what a login ends with.
func expected(kind byte, let bool) bool {
	if let {
		return strings.IndexByte("ESKNZ", kind) >= 0
	}
	return strings.IndexByte("REN", kind) >= 0
}

// authRequest is the number of an authentication request. SASL, the last, has
// had new methods since, and no new number.
func authRequest(body []byte) (request uint32, known bool) {
	if len(body) < 4 {
		return 0, false
	}
	request = binary.BigEndian.Uint32(body)
	return request, request <= pgproto3.AuthTypeSASLFinal
}

// errorCode classifies an error by its SQLSTATE (PostgreSQL's documentation,
// appendix A). Its texts go no further.
func (p *Postgres) errorCode(body []byte) envcheck.Code {
	var e pgproto3.ErrorResponse
	if err := e.Decode(body); err != nil || len(e.Code) != len("57P03") {
		return envcheck.PostgresNotPostgres
	}
	switch {
	case e.Code == "57P01", e.Code == "57P02", e.Code == "57P03": // starting, stopping, recovering from a crash
		return envcheck.PostgresStarting
	case e.Code == "53300":
		return envcheck.PostgresMaxConnections
	case strings.HasPrefix(e.Code, "28") && p.parts.Reveal().User == "":
		return envcheck.Ready // the worker comes as somebody else
	case strings.HasPrefix(e.Code, "28"):
		return envcheck.PostgresNotPermitted
	case e.Code == "3D000":
		return envcheck.PostgresNoDatabase
	}
	return envcheck.PostgresErrorReply
}
