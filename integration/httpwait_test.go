package integration

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/startgate/startgate/probe/probetest"
)

// TestHTTPConformance shows each condition of an HTTP server to the gate.
func TestHTTPConformance(t *testing.T) {
	t.Logf("\n%s", show(t, append(httpRows(), httpTLSRows()...), nil).table(nil))
}

func httpAt(t testing.TB, url, fields string, env ...string) call {
	return byContract(t, "http", "http_url", url, fields, env...)
}

// serve is the URL of a server with this handler.
func serve(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

// answering is a handler that answers with a status.
func answering(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

// only is a handler that answers 204 to requests that ok, and 418 to others.
func only(ok func(r *http.Request) bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if ok(r) {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.WriteHeader(http.StatusTeapot)
	}
}

// httpRows are what can be between a worker and an HTTP server.
func httpRows() []row {
	const server = "net/http"
	status := func(status int, fields string) func(t testing.TB) call {
		return func(t testing.TB) call { return httpAt(t, serve(t, answering(status)), fields) }
	}
	request := func(tail, fields string, ok func(r *http.Request) bool, env ...string) func(t testing.TB) call {
		return func(t testing.TB) call { return httpAt(t, serve(t, only(ok))+tail, fields, env...) }
	}
	raw := func(text string) func(t testing.TB) call {
		return func(t testing.TB) call { return httpAt(t, "http://"+peer(t, afterFirstBytes(text)), "") }
	}
	return []row{
		{"1", "200", server, status(200, ""), isReady()},
		{"1a", "299", server, status(299, ""), isReady()},
		{"1b", "404, and it is the one", server, status(404, ", status: 404"), isReady()},
		{"1c", "401, and it is one of two", server, status(401, ", status: [200, 401]"), isReady()},
		{"1d", "200, and it is none of two", server, status(200, ", status: [204, 401]"), isRetried("http_status_unexpected")},
		{"2", "503", server, status(503, ""), isRetried("http_unavailable")},
		{"2a", "500", server, status(500, ""), isRetried("http_unavailable")},
		{"2b", "429", server, status(429, ""), isRetried("http_unavailable")},
		{"3", "404", server, status(404, ""), isRetried("http_not_found")},
		{"4", "401", server, status(401, ""), isRefused("http_forbidden")},
		{"4a", "403", server, status(403, ""), isRefused("http_forbidden")},
		{"5", "redirect", server, func(t testing.TB) call {
			return httpAt(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/" {
					t.Error("the redirect is followed")
				}
				http.Redirect(w, r, "/there", http.StatusFound)
			}), "")
		}, isRetried("http_redirected")},
		{"6", "400", server, status(400, ""), isRetried("http_status_unexpected")},
		{"10", "GET of the path", server, request("/of/the/url?x=1", ", path: /healthz", func(r *http.Request) bool {
			return r.Method == "GET" && r.RequestURI == "/healthz" && r.Host != "" && r.Close
		}), isReady()},
		{"10a", "GET of the URL's own path", server, request("/of/the/url?x=1#part", "", func(r *http.Request) bool {
			return r.RequestURI == "/of/the/url?x=1"
		}), isReady()},
		{"10b", "GET without any path", server, request("?x=1", "", func(r *http.Request) bool {
			return r.RequestURI == "/?x=1"
		}), isReady()},
		{"10c", "a path that is not ASCII", server, request("/é", "", func(r *http.Request) bool {
			return r.RequestURI == "/%C3%A9"
		}), isReady()},
		{"11", "header from a key", server, request("", ", header: {name: X-Api-Key, key: TOKEN}", func(r *http.Request) bool {
			return r.Header.Get("X-Api-Key") == "top: secret"
		}, "TOKEN=top: secret"), isReady()},
		{"11a", "header from a key that is unset", server, request("", ", header: {name: X-Api-Key, key: TOKEN}", func(r *http.Request) bool {
			return r.Header["X-Api-Key"] == nil
		}), isReady()},
		{"11b", "credentials in the URL", server, func(t testing.TB) call {
			url := serve(t, only(func(r *http.Request) bool {
				user, password, _ := r.BasicAuth()
				return user == "shopclerk" && password == "p@ss:word"
			}))
			return httpAt(t, strings.Replace(url, "://", "://shopclerk:p%40ss%3Aword@", 1), "")
		}, isReady()},
		{"12", "a proxy in the environment", server, func(t testing.TB) call {
			return httpAt(t, serve(t, answering(200)), "", "HTTP_PROXY=http://127.0.0.1:1", "http_proxy=http://127.0.0.1:1", "ALL_PROXY=http://127.0.0.1:1")
		}, isReady()},
		{"13", "an interim answer first", "listener", raw("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"), isReady()},
		{"13a", "HTTP/1.0", "listener", raw("HTTP/1.0 200 OK\r\n\r\n"), isReady()},
		{"13b", "no reason phrase", "listener", raw("HTTP/1.1 200\r\n\r\n"), isReady()},
		{"14", "a body without end", server, func(t testing.TB) call {
			return httpAt(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
				for {
					if _, err := w.Write(make([]byte, 64<<10)); err != nil {
						return
					}
				}
			}), "")
		}, isReady()},
		{"20", "nothing listens", "-", func(t testing.TB) call {
			return httpAt(t, "http://127.0.0.1:"+freePort(t), "")
		}, isRetried("http_refused")},
		{"21", "silent peer", "listener", func(t testing.TB) call {
			return httpAt(t, "http://"+peer(t, silent), "")
		}, isRetried("http_reply_timeout")},
		{"22", "closes at once", "listener", func(t testing.TB) call {
			return httpAt(t, "http://"+peer(t, closing), "")
		}, isRetried("http_closed")},
		{"22a", "resets", "listener", func(t testing.TB) call {
			return httpAt(t, "http://"+peer(t, resetting), "")
		}, isRetried("http_closed")},
		{"23", "Redis", "redis-server", func(t testing.TB) call {
			return httpAt(t, "http://"+startRedis(t, redisOptions{}).addr(), "")
		}, isRefused("http_not_http")},
		{"23a", "SSH server", "listener", func(t testing.TB) call {
			return httpAt(t, "http://"+peer(t, banner(probetest.SSHBanner)), "")
		}, isRefused("http_not_http")},
		{"23b", "SMTP server", "listener", func(t testing.TB) call {
			return httpAt(t, "http://"+peer(t, banner(probetest.SMTPBanner)), "")
		}, isRefused("http_not_http")},
		{"24", "http:// to a port with TLS", "crypto/tls", func(t testing.TB) call {
			s := httptest.NewUnstartedServer(answering(200))
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			s.StartTLS()
			t.Cleanup(s.Close)
			return httpAt(t, strings.Replace(s.URL, "https", "http", 1), "")
		}, isRetried("http_status_unexpected")}, // Go's server says 400 in the clear
	}
}

// httpTLSRows are what can be between the two about TLS.
func httpTLSRows() []row {
	const server = "net/http"
	local := probetest.Leaf{Names: []string{"127.0.0.1"}}
	other := probetest.Leaf{Names: []string{"other.example"}}
	expired, early := local, local
	expired.NotBefore, expired.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	early.NotBefore = time.Now().Add(time.Hour)
	with := func(leaf probetest.Leaf, fields string, change func(c *tls.Config), env ...string) func(t testing.TB) call {
		return func(t testing.TB) call {
			url, ca := serveTLS(t, leaf, change)
			return httpAt(t, url, fields, append(env, "CA="+ca)...)
		}
	}
	const trusted = ", tls: {ca: CA}"
	return []row{
		{"40", "TLS", server, with(local, trusted, nil), isReady()},
		{"40a", "by the gate's own file", server, func(t testing.TB) call {
			url, ca := serveTLS(t, local, nil)
			return httpAt(t, url, "", "STARTGATE_TLS_CA_FILE="+ca)
		}, isReady()},
		{"40b", "by the contract's name", server, with(other, ", tls: {ca: CA, server_name: NAME}", nil, "NAME=other.example"), isReady()},
		{"40c", "any name", server, with(other, ", tls: {ca: CA, verify: ca}", nil), isReady()},
		{"40d", "not verified", server, with(other, ", tls: {verify: none}", nil), isReady("http_tls_unverified")},
		{"41", "unknown authority", server, with(local, "", nil), isRefused("http_tls_untrusted")},
		{"42", "another name", server, with(other, trusted, nil), isRefused("http_tls_name_mismatch")},
		{"43", "expired", server, with(expired, trusted, nil), isRefused("http_tls_expired")},
		{"44", "not yet valid", server, with(early, trusted, nil), isRetried("http_tls_not_yet_valid")},
		{"45", "client certificate wanted, TLS 1.2", server, with(local, trusted, func(c *tls.Config) {
			c.ClientAuth, c.MaxVersion = tls.RequireAnyClientCert, tls.VersionTLS12
		}), isRefused("http_tls_refused")},
		{"45a", "client certificate wanted, TLS 1.3", server, with(local, trusted, func(c *tls.Config) {
			c.ClientAuth = tls.RequireAnyClientCert
		}), isRefused("http_tls_refused")},
		{"46", "no TLS version in common", server, with(local, trusted, func(c *tls.Config) {
			c.MinVersion, c.MaxVersion = tls.VersionTLS11, tls.VersionTLS11
		}), isRefused("http_tls_refused")},
		{"47", "TLS not spoken", server, func(t testing.TB) call {
			return httpAt(t, strings.Replace(serve(t, answering(200)), "http", "https", 1), "")
		}, isRefused("http_tls_not_spoken")},
		{"48", "silent peer", "listener", func(t testing.TB) call {
			return httpAt(t, "https://"+peer(t, silent), "")
		}, isRetried("http_reply_timeout")},
		{"49", "closes at once", "listener", func(t testing.TB) call {
			return httpAt(t, "https://"+peer(t, closing), "")
		}, isRetried("http_closed")},
	}
}

// serveTLS is the URL of a server with this certificate, and the file of who
// vouches for it.
func serveTLS(t testing.TB, leaf probetest.Leaf, change func(c *tls.Config)) (url, ca string) {
	t.Helper()
	authority, err := probetest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(answering(200))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are to fail
	s.TLS = &tls.Config{Certificates: []tls.Certificate{issue(t, authority, leaf)}}
	if change != nil {
		change(s.TLS)
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	ca = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, authority.PEM(), 0o644); err != nil {
		t.Fatal(err)
	}
	return s.URL, ca
}

// An application comes up behind its server: 503, 404, and then the page.
func TestHTTPComesUp(t *testing.T) {
	t.Parallel()
	var status atomic.Int32
	status.Store(503)
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) })
	p := start(t, command(httpAt(t, url, ", path: /healthz").env, "run", "--", workerPath(), "exit", "17"))
	p.await("http_unavailable", 1)
	status.Store(404)
	p.await("http_not_found", 1)
	status.Store(200)
	p.await("ready", 1)
	if p.wait(); p.code != 17 {
		t.Errorf("exit %d, want the worker's\n%s", p.code, p.stderr)
	}
}

// Whatever a peer sends, an attempt is over in time.
func TestHTTPHostilePeers(t *testing.T) {
	t.Parallel()
	forever := func(text string) func(net.Conn) {
		return func(c net.Conn) {
			for {
				if _, err := io.WriteString(c, text); err != nil {
					return
				}
			}
		}
	}
	slow := func(c net.Conn) {
		for range 200 {
			if _, err := io.WriteString(c, "H"[:1]); err != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	for name, c := range map[string]struct {
		serve func(net.Conn)
		code  string
	}{
		"a line without end":          {forever("HTTP/1.1 200 OK and so on "), "http_not_http"},
		"interim answers without end": {forever("HTTP/1.1 100 Continue\r\nX: y\r\n\r\n"), "http_not_http"},
		"headers without end":         {forever("HTTP/1.1 103 Hints\r\n"), "http_not_http"},
		"bytes now and then":          {slow, "http_not_http"},
		"no status":                   {forever("HTTP/1.1 OK\r\n"), "http_not_http"},
		"a status of no digits":       {forever("HTTP/1.1 2x0 OK\r\n"), "http_not_http"},
		"a status that is too long":   {forever("HTTP/1.1 2000 OK\r\n"), "http_not_http"},
	} {
		p := run(t, httpAt(t, "http://"+peer(t, c.serve), "", "STARTGATE_REPLY_TIMEOUT=0.3").env, "wait", "--timeout", "0")
		if p.last().Code != c.code || p.took() > 10*time.Second {
			t.Errorf("%s: %s after %s, want %s", name, p.last().Code, p.took(), c.code)
		}
	}
}
