package probetest_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"testing"
	"time"

	"github.com/startgate/startgate/probe/probetest"
)

func newCA(t *testing.T) *probetest.CA {
	t.Helper()
	ca, err := probetest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

// tlsServer serves a certificate that ca has issued.
func tlsServer(t *testing.T, ca *probetest.CA, leaf probetest.Leaf) *probetest.Server {
	t.Helper()
	cert, err := ca.Issue(leaf)
	if err != nil {
		t.Fatal(err)
	}
	return probetest.New(t, probetest.Behaviour{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}})
}

func TestTLSSpeaksRESP(t *testing.T) {
	ca := newCA(t)
	s := tlsServer(t, ca, probetest.Leaf{Names: []string{"127.0.0.1", "redis.test"}})
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca.PEM()) {
		t.Fatal("PEM is not a certificate")
	}
	for _, config := range []*tls.Config{{RootCAs: ca.Pool()}, {RootCAs: pool, ServerName: "redis.test"}} {
		c := dialTLS(t, s, config)
		c.send(request("PING") + request("LPUSHX", "k", "v"))
		check(t, "PING", c.reply(), "+PONG\r\n")
		check(t, "LPUSHX", c.reply(), ":0\r\n")
	}
	for i, session := range s.Sessions() {
		if session.Batches != 1 {
			t.Errorf("connection %d: got %d batches, want 1", i, session.Batches)
		}
	}
	c := dialTLS(t, s, &tls.Config{RootCAs: ca.Pool()})
	c.send(request("QUIT"))
	if got, err := c.rest(); got != "+OK\r\n" || err != nil {
		t.Errorf("QUIT: got %q, %v; want a close_notify", got, err)
	}
}

func TestCertificatesThatClientsRefuse(t *testing.T) {
	ca, now := newCA(t), time.Now()
	ours := &tls.Config{RootCAs: ca.Pool()}
	local := []string{"127.0.0.1"}
	for _, tt := range []struct {
		name   string
		leaf   probetest.Leaf
		config *tls.Config
		is     func(error) bool
	}{
		{"unknown authority", probetest.Leaf{Names: local}, &tls.Config{RootCAs: newCA(t).Pool()}, isA[x509.UnknownAuthorityError]},
		{"other name", probetest.Leaf{Names: []string{"redis.test"}}, ours, isA[x509.HostnameError]},
		{"no name but the subject's", probetest.Leaf{CommonName: "127.0.0.1"}, ours, isA[x509.HostnameError]},
		{"expired", probetest.Leaf{Names: local, NotBefore: now.Add(-2 * time.Hour), NotAfter: now.Add(-time.Hour)}, ours, isA[x509.CertificateInvalidError]},
		{"not yet valid", probetest.Leaf{Names: local, NotBefore: now.Add(time.Hour)}, ours, isA[x509.CertificateInvalidError]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tls.Dial("tcp", tlsServer(t, ca, tt.leaf).Addr(), tt.config)
			if !tt.is(err) {
				t.Errorf("got %T: %v", err, err)
			}
		})
	}
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func TestClientCertificate(t *testing.T) {
	ca := newCA(t)
	config, err := ca.ServerConfig("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, ca.Pool()
	s := probetest.New(t, probetest.Behaviour{TLS: config})
	cert, err := ca.Issue(probetest.Leaf{CommonName: "a client"})
	if err != nil {
		t.Fatal(err)
	}
	c := dialTLS(t, s, &tls.Config{RootCAs: ca.Pool(), Certificates: []tls.Certificate{cert}})
	check(t, "with", c.ask("PING"), "+PONG\r\n")
	c = dialTLS(t, s, &tls.Config{RootCAs: ca.Pool()}) // TLS 1.3: refused after the client's side is done
	if got, err := c.rest(); got != "" || err == nil {
		t.Errorf("without: got %q, %v; want an error", got, err)
	}
}

func TestPlainClientOnTLSPortGetsNoAnswer(t *testing.T) {
	s := tlsServer(t, newCA(t), probetest.Leaf{Names: []string{"127.0.0.1"}})
	c := dial(t, s)
	c.send(request("PING"))
	if got, _ := c.rest(); got != "" {
		t.Errorf("got %q, want the end of the connection", got)
	}
}

func TestMaxClientsOverTLSJustCloses(t *testing.T) {
	s := tlsServer(t, newCA(t), probetest.Leaf{Names: []string{"127.0.0.1"}})
	b := s.Behaviour()
	b.MaxClients = 1
	s.Set(b)
	dial(t, s)
	wait(t, s, probetest.Connections(1))
	got, err := dial(t, s).rest()
	if got != "" || err != nil {
		t.Errorf("got %q, %v; want the end of the stream", got, err)
	}
}
