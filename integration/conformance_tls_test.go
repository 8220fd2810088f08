package integration

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/startgate/startgate/probe/probetest"
)

// tlsRows are what can be between a client and a server about TLS.
func tlsRows() []row {
	local := probetest.Leaf{Names: []string{"127.0.0.1"}}
	other := probetest.Leaf{Names: []string{"other.example"}}
	return []row{
		{"1c", "healthy, TLS", "", func(t testing.TB) call {
			return newTLS(t, local).trusted()
		}, isReady()},
		// The server has no text for it then.
		{"26a", "max clients, TLS", "", func(t testing.TB) call {
			s := newTLS(t, local, "--maxclients", "1")
			takeOnlyPlace(t, s.server)
			return s.trusted()
		}, isRetried("redis_tls_closed")},
		{"40", "plain client, TLS server", "", func(t testing.TB) call {
			return at("redis://" + newTLS(t, local).server.addr())
		}, isRefused("redis_tls_required")},
		{"40a", "plain client, TLS server, client certificates wanted", "", func(t testing.TB) call {
			return at("redis://" + newTLS(t, local, "--tls-auth-clients", "yes").server.addr())
		}, isRefused("redis_tls_required")},
		{"41", "TLS client, plain server", "", func(t testing.TB) call {
			s := startRedis(t, redisOptions{})
			return at("rediss://"+s.addr(), "--dial-timeout", "0.3")
		}, isRefused("redis_tls_not_spoken")},
		{"42", "TLS client, HTTP server", "net/http", func(t testing.TB) call {
			return at("rediss://" + httpServer(t))
		}, isRefused("redis_tls_not_spoken")},
		{"43", "unknown authority", "", func(t testing.TB) call {
			return at(newTLS(t, local).server.url("", ""))
		}, isRefused("redis_tls_untrusted")},
		{"43a", "unknown authority, not verified", "", func(t testing.TB) call {
			return at(newTLS(t, local).server.url("", ""), "--tls-verify", "none")
		}, isReady("redis_tls_unverified")},
		{"44", "image without roots", "", func(t testing.TB) call {
			c := at(newTLS(t, local).server.url("", ""))
			c.env = append(c.env, "SSL_CERT_FILE=/nonexistent", "SSL_CERT_DIR=/nonexistent")
			return c
		}, isRefused("redis_tls_untrusted")},
		{"45", "certificate for another name", "", func(t testing.TB) call {
			return newTLS(t, other).trusted()
		}, isRefused("redis_tls_name_mismatch")},
		{"45a", "certificate with a common name only", "", func(t testing.TB) call {
			return newTLS(t, probetest.Leaf{CommonName: "127.0.0.1"}).trusted()
		}, isRefused("redis_tls_name_mismatch")},
		{"45b", "certificate for another name, verify=ca", "", func(t testing.TB) call {
			return newTLS(t, other).trusted("--tls-verify", "ca")
		}, isReady()},
		{"46", "expired", "", func(t testing.TB) call {
			leaf := local
			leaf.NotBefore, leaf.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
			return newTLS(t, leaf).trusted()
		}, isRefused("redis_tls_expired")},
		{"47", "not yet valid", "", func(t testing.TB) call {
			leaf := local
			leaf.NotBefore = time.Now().Add(time.Hour)
			return newTLS(t, leaf).trusted()
		}, isRetried("redis_tls_not_yet_valid")},
		{"48", "client certificate wanted, TLS 1.2", "", func(t testing.TB) call {
			return newTLS(t, local, "--tls-auth-clients", "yes", "--tls-protocols", "TLSv1.2").trusted()
		}, isRefused("redis_tls_client_cert_required")},
		{"49", "client certificate wanted, TLS 1.3", "", func(t testing.TB) call {
			return newTLS(t, local, "--tls-auth-clients", "yes", "--tls-protocols", "TLSv1.3").trusted()
		}, isRefused("redis_tls_client_cert_required")},
		{"49a", "client certificate asked for, not wanted", "", func(t testing.TB) call {
			return newTLS(t, local, "--tls-auth-clients", "optional").trusted()
		}, isReady()},
		{"49b", "client certificate wanted, and named in RQ's URL", "", func(t testing.TB) call {
			o, caFile := tlsOptions(t, local, "--tls-auth-clients", "yes")
			certFile, keyFile := writePair(t, t.TempDir(), o.tls.Certificates[0])
			s := startRedis(t, o)
			return under(t, "redis: REDIS_URL, client: rq", redisURL(s.url("", "?ssl_ca_certs="+caFile+"&ssl_certfile="+certFile+"&ssl_keyfile="+keyFile))...)
		}, isReady()},
		{"50", "no TLS version in common", "", func(t testing.TB) call {
			o, caFile := tlsOptions(t, local, "--tls-protocols", "TLSv1.1")
			o.stalled = true // it does not answer us either
			return tlsServer{startRedis(t, o), caFile}.trusted()
		}, isRefused("redis_tls_refused")},
		{"50a", "no TLS version in common", "crypto/tls", func(t testing.TB) call {
			ca, err := probetest.NewCA()
			if err != nil {
				t.Fatal(err)
			}
			config := &tls.Config{Certificates: []tls.Certificate{issue(t, ca, local)}, MaxVersion: tls.VersionTLS11}
			return at("rediss://" + peer(t, func(c net.Conn) { tls.Server(c, config).Handshake() }))
		}, isRefused("redis_tls_refused")},
	}
}

// tlsServer is a Redis that speaks TLS, and the file of who vouches for it.
type tlsServer struct {
	server *redisServer
	caFile string
}

// newTLS starts a server with this certificate by an authority of its own.
func newTLS(t testing.TB, leaf probetest.Leaf, args ...string) tlsServer {
	t.Helper()
	o, caFile := tlsOptions(t, leaf, args...)
	return tlsServer{startRedis(t, o), caFile}
}

// tlsOptions are the options of such a server, and the file of its authority.
func tlsOptions(t testing.TB, leaf probetest.Leaf, args ...string) (o redisOptions, caFile string) {
	t.Helper()
	ca, err := probetest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	server := issue(t, ca, leaf)
	client := issue(t, ca, probetest.Leaf{CommonName: "a client"})
	dir := t.TempDir()
	caFile = filepath.Join(dir, "ca.pem")
	certFile, keyFile := writePair(t, dir, server)
	if err := os.WriteFile(caFile, ca.PEM(), 0o644); err != nil {
		t.Fatal(err)
	}
	files := []string{
		"--tls-cert-file", certFile, "--tls-key-file", keyFile, "--tls-ca-cert-file", caFile, "--tls-auth-clients", "no",
	}
	return redisOptions{
		args: append(files, args...),
		tls:  &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{client}},
	}, caFile
}

// trusted is a call that trusts the server's authority.
func (s tlsServer) trusted(flags ...string) call {
	c := at(s.server.url("", ""), flags...)
	c.env = append(c.env, "STARTGATE_TLS_CA_FILE="+s.caFile)
	return c
}

func issue(t testing.TB, ca *probetest.CA, leaf probetest.Leaf) tls.Certificate {
	t.Helper()
	cert, err := ca.Issue(leaf)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// writePair writes a certificate and its key as files.
func writePair(t testing.TB, dir string, c tls.Certificate) (certFile, keyFile string) {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: c.Certificate[0]},
		keyFile:  {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}
