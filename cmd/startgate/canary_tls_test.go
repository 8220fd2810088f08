package main

import (
	"crypto/tls"
	"os"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

// TestTLSConditions has certificates with the canary in their names: what a
// peer presents is as secret as what it is asked with.
func TestTLSConditions(t *testing.T) {
	needsExec(t)
	t.Parallel()
	ca, err := probetest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	trusted := []string{"STARTGATE_TLS_CA_FILE=" + caFile(t, ca)}
	serve := func(leaf func(c string) probetest.Leaf) func(string) probetest.Behaviour {
		return func(c string) probetest.Behaviour {
			certificate, err := ca.Issue(leaf(c))
			if err != nil {
				t.Error(err)
			}
			return probetest.Behaviour{Password: c, Users: map[string]string{c: c}, TLS: &tls.Config{Certificates: []tls.Certificate{certificate}}}
		}
	}
	good := serve(func(c string) probetest.Leaf {
		return probetest.Leaf{Names: []string{"127.0.0.1", c + ".example"}, CommonName: c}
	})
	day := 24 * time.Hour
	meet(t, []condition{
		{name: "TLS, ready", code: envcheck.Ready, server: good, url: overTLS, env: trusted},
		{name: "TLS, silent", code: envcheck.RedisTLSTimeout, exit: 75, url: overTLS, env: hasty,
			server: knowing(probetest.Behaviour{Accept: probetest.AcceptSilent})},
		{name: "TLS, closes", code: envcheck.RedisTLSClosed, exit: 75, url: overTLS,
			server: knowing(probetest.Behaviour{Accept: probetest.AcceptClose})},
		{name: "TLS, wanted", code: envcheck.RedisTLSRequired, exit: 69, server: good, env: trusted},
		{name: "TLS, not spoken", code: envcheck.RedisTLSNotSpoken, exit: 69, url: overTLS, env: hasty,
			server: knowing(probetest.Behaviour{})},
		{name: "TLS, not spoken by another server", code: envcheck.RedisTLSNotSpoken, exit: 69, url: overTLS,
			server: func(c string) probetest.Behaviour { return probetest.Behaviour{Banner: "HTTP/1.1 400 " + c + "\r\n"} }},
		{name: "TLS, untrusted", code: envcheck.RedisTLSUntrusted, exit: 69, server: good, url: overTLS},
		{name: "TLS, another name", code: envcheck.RedisTLSNameMismatch, exit: 69, url: overTLS, env: trusted,
			server: serve(func(c string) probetest.Leaf {
				return probetest.Leaf{Names: []string{c + ".example"}, CommonName: "127.0.0.1"}
			})},
		{name: "TLS, expired", code: envcheck.RedisTLSExpired, exit: 69, url: overTLS, env: trusted,
			server: serve(func(c string) probetest.Leaf {
				return probetest.Leaf{Names: []string{"127.0.0.1"}, CommonName: c, NotBefore: time.Now().Add(-2 * day), NotAfter: time.Now().Add(-day)}
			})},
		{name: "TLS, not yet valid", code: envcheck.RedisTLSNotYetValid, exit: 75, url: overTLS, env: trusted,
			server: serve(func(c string) probetest.Leaf {
				return probetest.Leaf{Names: []string{"127.0.0.1"}, CommonName: c, NotBefore: time.Now().Add(day), NotAfter: time.Now().Add(2 * day)}
			})},
		{name: "TLS, too old", code: envcheck.RedisTLSRefused, exit: 69, url: overTLS, env: trusted,
			server: func(c string) probetest.Behaviour {
				b := good(c)
				b.TLS.MinVersion, b.TLS.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
				return b
			}},
		{name: "TLS, wants a certificate of ours", code: envcheck.RedisTLSClientCert, exit: 69, url: overTLS, env: trusted,
			server: func(c string) probetest.Behaviour {
				b := good(c)
				b.TLS.ClientAuth, b.TLS.ClientCAs = tls.RequireAndVerifyClientCert, ca.Pool()
				return b
			}},
		{name: "TLS, not verified", code: envcheck.RedisTLSUnverified, server: good,
			url: func(c, address string) string { return overTLS(c, address) + "&ssl_cert_reqs=none" }},
		{name: "TLS, authority alone verified", code: envcheck.Ready, server: good, url: overTLS,
			env: append([]string{"STARTGATE_TLS_VERIFY=ca"}, trusted...)},
	})
}

func overTLS(c, address string) string {
	return "rediss://" + c + ":" + c + "@" + address + "/0?x=" + c
}

// caFile writes the file of trusted authorities.
func caFile(t *testing.T, ca *probetest.CA) string {
	t.Helper()
	path := t.TempDir() + "/ca.pem"
	if err := os.WriteFile(path, ca.PEM(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
