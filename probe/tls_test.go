package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

// authority is a new one, and what a server on this machine has from it.
func authority(t *testing.T) (*probetest.CA, *tls.Config) {
	t.Helper()
	ca, err := probetest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	config, err := ca.ServerConfig("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	return ca, config
}

func TestTLSConditions(t *testing.T) {
	ca, err := probetest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	serve := func(l probetest.Leaf) *tls.Config {
		cert, err := ca.Issue(l)
		if err != nil {
			t.Fatal(err)
		}
		return &tls.Config{Certificates: []tls.Certificate{cert}}
	}
	good := probetest.Leaf{Names: []string{"127.0.0.1"}}
	other := probetest.Leaf{Names: []string{"other.example"}}
	for _, c := range []struct {
		name    string
		server  *tls.Config
		roots   bool
		verify  envcheck.TLSVerify
		tail    string
		want    envcheck.Code
		verdict Verdict
	}{
		{"good", serve(good), true, envcheck.VerifyFull, "", envcheck.Ready, Ready},
		{"unknown authority", serve(good), false, envcheck.VerifyFull, "", envcheck.RedisTLSUntrusted, Refuse},
		{"unknown authority, names not looked at", serve(good), false, envcheck.VerifyCA, "", envcheck.RedisTLSUntrusted, Refuse},
		{"another name", serve(other), true, envcheck.VerifyFull, "", envcheck.RedisTLSNameMismatch, Refuse},
		{"another name, names not looked at", serve(other), true, envcheck.VerifyCA, "", envcheck.Ready, Ready},
		{"common name only", serve(probetest.Leaf{CommonName: "127.0.0.1"}), true, envcheck.VerifyFull, "", envcheck.RedisTLSNameMismatch, Refuse},
		{"expired", serve(probetest.Leaf{Names: good.Names, NotBefore: now.Add(-2 * time.Hour), NotAfter: now.Add(-time.Hour)}), true, envcheck.VerifyFull, "", envcheck.RedisTLSExpired, Refuse},
		{"not yet valid", serve(probetest.Leaf{Names: good.Names, NotBefore: now.Add(time.Hour)}), true, envcheck.VerifyFull, "", envcheck.RedisTLSNotYetValid, Retry},
		{"not verified", serve(other), false, envcheck.VerifyNone, "", envcheck.Ready, Ready},
		{"not verified, by the URL", serve(other), false, envcheck.VerifyFull, "/0?ssl_cert_reqs=none", envcheck.Ready, Ready},
		{"verified, by the URL", serve(other), false, envcheck.VerifyNone, "/0?ssl_cert_reqs=required", envcheck.RedisTLSNameMismatch, Refuse},
		{"plain server", nil, true, envcheck.VerifyFull, "", envcheck.RedisTLSNotSpoken, Refuse},
		{"too old for both", &tls.Config{Certificates: serve(good).Certificates, MaxVersion: tls.VersionTLS11}, true, envcheck.VerifyFull, "", envcheck.RedisTLSRefused, Refuse},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := probetest.New(t, probetest.Behaviour{TLS: c.server})
			o := options()
			o.Verify = c.verify
			if c.server == nil { // which never answers
				o.DialTimeout = 300 * time.Millisecond
			}
			if o.Roots = x509.NewCertPool(); c.roots {
				o.Roots = ca.Pool()
			}
			got := newRedis(t, at(s, "rediss", "", c.tail), o).Probe(t.Context())
			if got.Code != c.want || got.Verdict != c.verdict {
				t.Errorf("code %s verdict %d, want %s %d", got.Code, got.Verdict, c.want, c.verdict)
			}
			warned := len(got.Warnings) == 1 && got.Warnings[0] == envcheck.RedisTLSUnverified
			if unverified := strings.HasPrefix(c.name, "not verified"); warned != unverified {
				t.Errorf("warnings %v, want one of an unverified certificate: %v", got.Warnings, unverified)
			}
		})
	}
}

func TestTLSPeersThatAreNone(t *testing.T) {
	for _, c := range []struct {
		name string
		b    probetest.Behaviour
		want envcheck.Code
	}{
		{"silent", probetest.Behaviour{Accept: probetest.AcceptSilent}, envcheck.RedisTLSTimeout},
		{"closes", probetest.Behaviour{Accept: probetest.AcceptClose}, envcheck.RedisTLSClosed},
		{"HTTP", probetest.Behaviour{Banner: probetest.HTTPBanner, Accept: probetest.AcceptSilent}, envcheck.RedisTLSNotSpoken},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := probetest.New(t, c.b)
			o := options()
			o.DialTimeout, o.Roots = 300*time.Millisecond, x509.NewCertPool()
			if got := newRedis(t, at(s, "rediss", "", ""), o).Probe(t.Context()); got.Code != c.want {
				t.Errorf("code %s, want %s", got.Code, c.want)
			}
		})
	}
}

func TestClientCertificateWanted(t *testing.T) {
	ca, config := authority(t)
	for name, version := range map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
		t.Run(name, func(t *testing.T) {
			config := config.Clone()
			config.ClientAuth, config.ClientCAs, config.MaxVersion = tls.RequireAndVerifyClientCert, ca.Pool(), version
			s := probetest.New(t, probetest.Behaviour{TLS: config})
			o := options()
			o.Roots = ca.Pool()
			if got := newRedis(t, at(s, "rediss", "", ""), o).Probe(t.Context()); got.Code != envcheck.RedisTLSClientCert {
				t.Errorf("code %s, want %s", got.Code, envcheck.RedisTLSClientCert)
			}
			p := envcheck.RedisParts{TLS: true, Sentinels: []string{s.Addr()}, Master: "m"}
			if got := prober(t, p, o).Probe(t.Context()); got.Code != envcheck.RedisTLSClientCert {
				t.Errorf("code %s of a Sentinel, want %s", got.Code, envcheck.RedisTLSClientCert)
			}
		})
	}
}

// A server may ask for a certificate and do without. When it closes, it is
// being restarted, or is a proxy whose Redis is.
func TestClientCertificateAskedFor(t *testing.T) {
	ca, config := authority(t)
	config.ClientAuth = tls.RequestClientCert
	for name, end := range map[string]probetest.Reply{"closes": probetest.HangUp(""), "resets": probetest.Abort()} {
		t.Run(name, func(t *testing.T) {
			s := probetest.New(t, probetest.Behaviour{TLS: config, Replies: map[string]probetest.Reply{"*": end}})
			o := options()
			o.Roots = ca.Pool()
			r := newRedis(t, at(s, "rediss", "", ""), o)
			for range 3 {
				if got := r.Probe(t.Context()); got.Code != envcheck.RedisClosed || got.Verdict != Retry {
					t.Errorf("code %s verdict %d, want %s, retried", got.Code, got.Verdict, envcheck.RedisClosed)
				}
			}
			s.Set(probetest.Behaviour{TLS: config})
			if got := r.Probe(t.Context()); got.Code != envcheck.Ready {
				t.Errorf("code %s, want ready", got.Code)
			}
		})
	}
}

// So it is with a server of HTTP.
func TestClientCertificateOverHTTP(t *testing.T) {
	ca, config := authority(t)
	for _, c := range []struct {
		auth tls.ClientAuthType
		want envcheck.Code
	}{
		{tls.RequestClientCert, envcheck.HTTPClosed},
		{tls.RequireAnyClientCert, envcheck.HTTPTLSRefused},
	} {
		config := config.Clone()
		config.ClientAuth = c.auth
		s := probetest.New(t, probetest.Behaviour{TLS: config, Replies: map[string]probetest.Reply{"*": probetest.HangUp("")}})
		host, port, _ := net.SplitHostPort(s.Addr())
		h := NewHTTP(envcheck.Seal(envcheck.URLParts{Scheme: "https", Host: host, Port: port}), HTTPOptions{
			DialTimeout: 2 * time.Second, ReplyTimeout: time.Second, Verify: envcheck.VerifyFull, Roots: ca.Pool(),
		})
		if got := h.Probe(t.Context()); got.Code != c.want {
			t.Errorf("code %s, want %s", got.Code, c.want)
		}
	}
}

// Over TLS 1.3 the refusal comes at the first read, or at the first write.
func TestClientCertificateRejected(t *testing.T) {
	ca, config := authority(t)
	foreign, _ := authority(t)
	own, err := foreign.Issue(probetest.Leaf{CommonName: "a client"})
	if err != nil {
		t.Fatal(err)
	}
	for name, version := range map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
		t.Run(name, func(t *testing.T) {
			config := config.Clone()
			config.ClientAuth, config.ClientCAs, config.MaxVersion = tls.RequireAndVerifyClientCert, ca.Pool(), version
			s := probetest.New(t, probetest.Behaviour{TLS: config})
			o := options()
			o.Roots, o.Certificate = ca.Pool(), &own
			for range 20 {
				if got := newRedis(t, at(s, "rediss", "", ""), o).Probe(t.Context()); got.Code != envcheck.RedisTLSRefused {
					t.Errorf("code %s, want %s", got.Code, envcheck.RedisTLSRefused)
				}
			}
		})
	}
}

// A handshake that the network ends, or a server that is not ready for it, is
// tried again.
func TestTLSFaultsThatPass(t *testing.T) {
	alertOf := func(b byte) error {
		near, far := net.Pipe()
		defer near.Close()
		go func() {
			far.Read(make([]byte, 4096))
			far.Write([]byte{0x15, 3, 3, 0, 2, 2, b})
		}()
		return tls.Client(near, &tls.Config{InsecureSkipVerify: true}).Handshake()
	}
	read := func(e syscall.Errno) error {
		return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", e)}
	}
	for _, c := range []struct {
		err  error
		want envcheck.Code
	}{
		{read(syscall.EHOSTUNREACH), envcheck.RedisTLSClosed},
		{read(syscall.ENETDOWN), envcheck.RedisTLSClosed},
		{read(syscall.ECONNRESET), envcheck.RedisTLSClosed},
		{read(syscall.ETIMEDOUT), envcheck.RedisTLSTimeout},
		{context.Canceled, envcheck.RedisTLSClosed},
		{alertOf(80), envcheck.RedisTLSClosed},  // internal_error
		{alertOf(40), envcheck.RedisTLSRefused}, // handshake_failure
		{alertOf(70), envcheck.RedisTLSRefused}, // protocol_version
		{errors.New("tls: server selected unsupported group"), envcheck.RedisTLSRefused},
	} {
		if got := tlsFault(c.err); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
	if err := alertOf(80); alerted(err) || readFault(err) != envcheck.RedisClosed {
		t.Errorf("%v is a refusal", err)
	}
}

// mute is a connection whose peer no longer listens.
type mute struct {
	net.Conn
	now bool
}

func (c *mute) Write(p []byte) (int, error) {
	if c.now {
		return 0, syscall.EPIPE
	}
	return c.Conn.Write(p)
}

// What the peer said before it hung up is not lost to a write.
func TestFailedWriteTellsTheAlert(t *testing.T) {
	_, config := authority(t)
	config.ClientAuth = tls.RequireAnyClientCert
	near, far := net.Pipe()
	defer near.Close()
	go tls.Server(far, config).Handshake()
	conn := &mute{Conn: near}
	c := talker{tls.Client(conn, &tls.Config{InsecureSkipVerify: true})}
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	conn.now = true
	if _, err := c.Write([]byte("PING")); !alerted(err) {
		t.Errorf("%v, want the alert", err)
	}
}

// The embedded set serves images that have no roots, and knows no test CA.
func TestEmbeddedRoots(t *testing.T) {
	t.Setenv("SSL_CERT_FILE", "/nonexistent")
	t.Setenv("SSL_CERT_DIR", "/nonexistent")
	if roots, from := systemRoots(); roots.Equal(x509.NewCertPool()) || from != "embedded" {
		t.Error("no roots at all")
	}
}
