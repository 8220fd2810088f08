package probe

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// dialer makes connections to one server and says in codes why it cannot.
type dialer struct {
	host, port string
	socket     string        // path of a unix socket, "" for TCP
	tls        *tls.Config   // nil for plain TCP
	roots      envcheck.Word // where those of tls are from
	own        *tls.Certificate
	timeout    time.Duration
	// reached is set to the class of the address that was tried last. Two
	// families are tried side by side.
	reached atomic.Pointer[envcheck.Word]
}

// dial connects, and shakes hands when the server is to speak TLS. The name is
// looked up anew at every call and every address is tried. asked reports
// whether the server asked for a certificate, which it may do without wanting
// one.
func (d *dialer) dial(ctx context.Context) (_ net.Conn, asked bool, _ envcheck.Code) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	conn, code := d.connect(ctx)
	if code != "" || d.tls == nil {
		return conn, false, code
	}
	config := d.tls.Clone()
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		asked = d.own == nil
		return cmp.Or(d.own, new(tls.Certificate)), nil
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, asked, certificateFault(tlsFault(err), asked)
	}
	return talker{secure}, asked, ""
}

// certificateFault says that the server wanted the certificate that it asked
// for, when it ends the connection with an alert. One that just closes may ask
// without wanting one, and have nothing behind it: a proxy closes every
// connection for as long as its Redis is away.
func certificateFault(c envcheck.Code, asked bool) envcheck.Code {
	if asked && c == envcheck.RedisTLSRefused {
		return envcheck.RedisTLSClientCert
	}
	return c
}

func (d *dialer) connect(ctx context.Context) (net.Conn, envcheck.Code) {
	if d.socket != "" {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", d.socket)
		return conn, socketFault(err)
	}
	nd := net.Dialer{Resolver: resolver(within(ctx, d.timeout)), ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		class := addressClass(address)
		d.reached.Store(&class)
		return nil
	}}
	conn, err := nd.DialContext(ctx, "tcp", net.JoinHostPort(d.host, d.port))
	if err != nil {
		return nil, dialFault(err)
	}
	return conn, ""
}

// address is the class of the address that was tried last.
func (d *dialer) address() envcheck.Word {
	if d.socket != "" {
		return "socket"
	}
	if class := d.reached.Load(); class != nil {
		return *class
	}
	return "unresolved"
}

// facts are the closed facts about what is dialled.
func (d *dialer) facts(secure, password, defaultPort bool) Facts {
	f := Facts{Address: d.address(), TLS: "no", Password: "empty", Port: "other"}
	if secure {
		f.TLS, f.Roots = "yes", d.roots
	}
	if password {
		f.Password = "set"
	}
	if defaultPort {
		f.Port = "default"
	}
	return f
}

func addressClass(address string) envcheck.Word {
	ap, err := netip.ParseAddrPort(address)
	ip := ap.Addr().Unmap()
	switch {
	case err != nil:
		return "unresolved"
	case ip.IsLoopback() || ip.IsUnspecified():
		return "loopback"
	case ip.IsPrivate() || ip.IsLinkLocalUnicast():
		return "private"
	}
	return "public"
}

// socketFault classifies an error of connecting to a unix socket.
func socketFault(err error) envcheck.Code {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		return envcheck.RedisSocketMissing
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return envcheck.RedisSocketDenied
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENAMETOOLONG):
		return envcheck.RedisAddressInvalid // longer than the kernel takes: 107 bytes on Linux
	}
	return dialFault(err)
}

// dialFault classifies an error of a look-up or a connect. Its text has seen
// host and port and goes no further.
func dialFault(err error) envcheck.Code {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		switch {
		case dns.IsNotFound && dns.Server == "":
			// Never sent: what the resolver itself takes for no name.
			if _, err := netip.ParseAddr(dns.Name); err == nil {
				return envcheck.RedisUnreachable
			}
			return envcheck.RedisDNSNotFound
		case dns.IsNotFound:
			return envcheck.RedisDNSNotFound
		case dns.IsTimeout:
			return envcheck.RedisDNSTimeout
		}
		return envcheck.RedisDNSFailed
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return envcheck.RedisRefused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF):
		return envcheck.RedisClosed
	case timedOut(err):
		return envcheck.RedisConnectTimeout
	}
	if _, ok := errors.AsType[*net.AddrError](err); ok {
		return envcheck.RedisHostInvalid
	}
	return envcheck.RedisUnreachable
}

// timedOut reports whether err is any of the shapes a time-out has: go-redis
// strips one layer of wrapping in its handshake.
func timedOut(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
