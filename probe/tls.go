package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/startgate/startgate/envcheck"
)

// tlsConfig returns the client side for host. Without roots of its own it
// loads the system's, which takes 11 to 26 ms for the usual bundle, so it is
// called where TLS may be spoken only. from says where the roots are from, for
// [Facts].
func tlsConfig(host string, verify envcheck.TLSVerify, roots *x509.CertPool) (c *tls.Config, from envcheck.Word) {
	c = &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if verify == envcheck.VerifyNone {
		c.InsecureSkipVerify = true
		return c, ""
	}
	from = "file"
	if roots == nil {
		roots, from = systemRoots()
	}
	c.RootCAs = roots
	if verify == envcheck.VerifyCA {
		// crypto/tls has no switch for the name alone.
		c.InsecureSkipVerify = true
		c.VerifyConnection = func(s tls.ConnectionState) error { return verifyChain(s, roots) }
	}
	return c, from
}

func verifyChain(s tls.ConnectionState, roots *x509.CertPool) error {
	o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
	for _, c := range s.PeerCertificates[1:] {
		o.Intermediates.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(o)
	return err
}

// systemRoots returns the roots of the machine, or the embedded set where the
// image has none: COPY --from brings the binary and no bundle.
func systemRoots() (_ *x509.CertPool, from envcheck.Word) {
	roots, err := x509.SystemCertPool()
	if err == nil && !roots.Equal(x509.NewCertPool()) {
		return roots, "system"
	}
	roots = x509.NewCertPool()
	for r := range bundle.Roots() {
		c, err := x509.ParseCertificate(r.Certificate)
		switch {
		case err != nil:
		case r.Constraint != nil:
			roots.AddCertWithConstraint(c, r.Constraint)
		default:
			roots.AddCert(c)
		}
	}
	return roots, "embedded"
}

// talker is a TLS connection that tells why it was closed. A server of TLS 1.3
// judges the client's certificate when the handshake is over for the client:
// its alert may come before the first write, which then fails without it.
type talker struct{ *tls.Conn }

func (c talker) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil && !timedOut(err) {
		c.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) // it is there, or never will be
		if _, said := c.Conn.Read(make([]byte, 1)); alerted(said) {
			err = said
		}
	}
	return n, err
}

// alerted reports whether the peer refuses to speak TLS with us, by an alert.
// An internal error is no refusal: a proxy has it while its own certificate is
// not loaded. Package tls exports no type for an alert.
func alerted(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error" && op.Err.Error() != "tls: internal error"
}

// tlsFault classifies an error of the handshake.
func tlsFault(err error) envcheck.Code {
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		switch {
		case invalid.Reason != x509.Expired:
			return envcheck.RedisTLSUntrusted
		case time.Now().Before(invalid.Cert.NotBefore):
			return envcheck.RedisTLSNotYetValid
		}
		return envcheck.RedisTLSExpired
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return envcheck.RedisTLSNameMismatch
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return envcheck.RedisTLSUntrusted
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return envcheck.RedisTLSUntrusted
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return envcheck.RedisTLSNotSpoken
	}
	op, network := errors.AsType[*net.OpError](err)
	switch {
	case timedOut(err):
		return envcheck.RedisTLSTimeout
	case alerted(err), network && op.Op == "local error": // our own alert
		return envcheck.RedisTLSRefused
	case network, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, context.Canceled):
		return envcheck.RedisTLSClosed
	}
	return envcheck.RedisTLSRefused
}
