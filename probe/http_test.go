package probe_test

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe"
)

func httpAt(host, port string, u envcheck.URLParts, o probe.HTTPOptions) *probe.HTTP {
	u.Scheme, u.Host, u.Port = "http", host, port
	o.DialTimeout, o.ReplyTimeout = soon, soon
	return probe.NewHTTP(sealed(u), o)
}

func TestHTTPAnswers(t *testing.T) {
	const unexpected = envcheck.HTTPStatusUnexpected
	for answer, want := range map[string]envcheck.Code{
		"HTTP/1.1 200 OK\r\n":                          envcheck.Ready,
		"HTTP/1.1 204\n":                               envcheck.Ready,
		"HTTP/1.0 299 \r\n":                            envcheck.Ready,
		"HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 200\r\n":   envcheck.Ready,
		"HTTP/1.1 300 Choose\r\n":                      envcheck.HTTPRedirected,
		"HTTP/1.1 308 There\r\n":                       envcheck.HTTPRedirected,
		"HTTP/1.1 400 Bad\r\n":                         unexpected,
		"HTTP/1.1 401 Who\r\n":                         envcheck.HTTPForbidden,
		"HTTP/1.1 403 You\r\n":                         envcheck.HTTPForbidden,
		"HTTP/1.1 404 What\r\n":                        envcheck.HTTPNotFound,
		"HTTP/1.1 418 Tea\r\n":                         unexpected,
		"HTTP/1.1 429 Slow\r\n":                        envcheck.HTTPUnavailable,
		"HTTP/1.1 502 Gate\r\n":                        envcheck.HTTPUnavailable,
		"HTTP/2 200\r\n":                               envcheck.HTTPNotHTTP,
		"HTTP/1.1 20 Short\r\n":                        envcheck.HTTPNotHTTP,
		"HTTP/1.1  200 OK\r\n":                         envcheck.HTTPNotHTTP,
		"HTTP/1.1 -20 OK\r\n":                          envcheck.HTTPNotHTTP,
		"HTTP/1.1 099 OK\r\n":                          envcheck.HTTPNotHTTP,
		"HTTP/1.1 200OK\r\n":                           envcheck.HTTPNotHTTP,
		"\x15\x03\x01\x00\x02\x02\x28":                 envcheck.HTTPNotHTTP, // an alert of TLS
		"HTTP/1.1 200 " + strings.Repeat("O", 100<<10): envcheck.HTTPNotHTTP,
		"HTTP/1.1 100 Go on\r\n" + strings.Repeat("X: y\r\n", 20<<10): envcheck.HTTPNotHTTP,
		"HTTP/1.": envcheck.HTTPReplyTimeout,
	} {
		t.Run(answer[:min(len(answer), 40)], func(t *testing.T) {
			host, port := peer(t, says(answer))
			o := once(t, httpAt(host, port, envcheck.URLParts{}, probe.HTTPOptions{}))
			if o.Code != want || !o.Connected {
				t.Errorf("got %s, want %s", o.Code, want)
			}
		})
	}
}

func TestHTTPRequest(t *testing.T) {
	for name, c := range map[string]struct {
		parts   envcheck.URLParts
		options probe.HTTPOptions
		first   string
		headers []string
	}{
		"nothing said": {first: "GET / HTTP/1.1"},
		"the URL's":    {parts: envcheck.URLParts{Path: "/a/b", Query: "c=d"}, first: "GET /a/b?c=d HTTP/1.1"},
		"the contract's": {parts: envcheck.URLParts{Path: "/a", Query: "c"}, options: probe.HTTPOptions{Path: "/health"},
			first: "GET /health HTTP/1.1"},
		"credentials": {parts: envcheck.URLParts{User: "u", Password: "p"}, first: "GET / HTTP/1.1", headers: []string{"Authorization: Basic dTpw"}},
		"a header": {options: probe.HTTPOptions{HeaderName: "X-Key", Header: envcheck.Seal("v")},
			first: "GET / HTTP/1.1", headers: []string{"X-Key: v"}},
		"a header over credentials": {parts: envcheck.URLParts{User: "u"}, first: "GET / HTTP/1.1",
			options: probe.HTTPOptions{HeaderName: "authorization", Header: envcheck.Seal("Bearer v")}, headers: []string{"authorization: Bearer v"}},
	} {
		t.Run(name, func(t *testing.T) {
			sent := make(chan string, 1)
			host, port := peer(t, func(c net.Conn) {
				b := make([]byte, 4096)
				n, _ := c.Read(b)
				sent <- string(b[:n])
				io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			})
			once(t, httpAt(host, port, c.parts, c.options))
			want := strings.Join(append([]string{c.first, "Host: " + host + ":" + port, "User-Agent: startgate", "Accept: */*", "Connection: close"},
				c.headers...), "\r\n") + "\r\n\r\n"
			if got := <-sent; got != want {
				t.Errorf("sent\n%q\nwant\n%q", got, want)
			}
		})
	}
}

// Python's servers take a line of one word for HTTP/0.9, and answer with a page
// alone. That one is slow is no reason to take it for something else.
func TestHTTPOfASlowPython(t *testing.T) {
	host, port := peer(t, func(c net.Conn) {
		first := make([]byte, 4)
		if c.Read(first); string(first) == "PING" {
			io.WriteString(c, "<!DOCTYPE HTML>\n<html lang=\"en\">")
			return
		}
		io.Copy(io.Discard, c)
	})
	if o := once(t, httpAt(host, port, envcheck.URLParts{}, probe.HTTPOptions{})); o.Code != envcheck.HTTPReplyTimeout || o.Verdict != probe.Retry {
		t.Errorf("got %s, verdict %d", o.Code, o.Verdict)
	}
}
