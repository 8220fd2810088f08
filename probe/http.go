package probe

import (
	"bufio"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// HTTPOptions say how an HTTP server is asked.
type HTTPOptions struct {
	DialTimeout  time.Duration // look-up, connect and TLS handshake together
	ReplyTimeout time.Duration // of the request and the head of the answer
	Verify       envcheck.TLSVerify
	Roots        *x509.CertPool  // nil: the system's, or the embedded set
	ServerName   envcheck.Secret // that the certificate must have; "" is the host
	Path         string          // to ask for; "" is the URL's own
	Status       []int           // that is ready; none is any from 200 to 299
	HeaderName   string
	Header       envcheck.Secret // nothing is sent while it is ""
}

// HTTP probes one HTTP server by a GET. It implements [Prober].
//
// It reads no more of an answer than the line with the status: redirects are
// not followed, and headers and body are left alone. It speaks HTTP/1.1 by
// itself, since the transport of net/http adds 1.2 MB to the binary and a
// proxy from the environment.
type HTTP struct {
	options HTTPOptions
	parts   envcheck.Sealed[envcheck.URLParts]
	dialer  *dialer
	look    otherLook
}

// NewHTTP returns a prober for the server that u names.
func NewHTTP(u envcheck.Sealed[envcheck.URLParts], o HTTPOptions) *HTTP {
	p := u.Reveal()
	h := &HTTP{options: o, parts: u, dialer: &dialer{host: p.Host, port: p.Port, timeout: o.DialTimeout}}
	if p.Scheme == "https" {
		h.dialer.tls, h.dialer.roots = tlsConfig(cmp.Or(o.ServerName.Reveal(), p.Host), o.Verify, o.Roots)
	}
	return h
}

// Close does nothing: no connection outlives its attempt.
func (*HTTP) Close() {}

// Probe makes one attempt.
func (h *HTTP) Probe(ctx context.Context) Outcome {
	o := judged(ctx, h.attempt)
	o.Facts = facts(h.dialer, h.parts.Reveal(), h.dialer.tls != nil)
	if o.Verdict == Ready && h.dialer.tls != nil && h.options.Verify == envcheck.VerifyNone {
		o.Warnings = append(o.Warnings, envcheck.HTTPTLSUnverified)
	}
	return o
}

func (h *HTTP) attempt(ctx context.Context) Outcome {
	conn, asked, fault := h.dialer.dial(ctx)
	if fault != "" {
		return Outcome{Code: ofHTTP.name(fault)}
	}
	defer conn.Close()
	conn.SetDeadline(within(ctx, h.options.ReplyTimeout))
	if _, err := io.WriteString(conn, h.request()); err != nil {
		return Outcome{Code: ofHTTP.name(certificateFault(readFault(err), asked)), Connected: true}
	}
	code, fault := h.status(conn)
	if fault != "" {
		code = ofHTTP.name(certificateFault(fault, asked))
	}
	// Redis hangs up on the header Host, and says so to nobody. Python's servers
	// take a line of one word for HTTP/0.9, and answer with a page alone.
	if fault != "" && h.dialer.tls == nil && h.look.finds(ctx, h.dialer, "H", "<") {
		code = envcheck.HTTPNotHTTP
	}
	return Outcome{Code: code, Connected: true}
}

// request is the whole request. Its parts hold no blank and no line break: the
// contract's loader and the judge of the environment have seen to that.
func (h *HTTP) request() string {
	u := h.parts.Reveal()
	target := h.options.Path
	if target == "" {
		target = u.Path
		if target == "" {
			target = "/"
		}
		if u.Query != "" {
			target += "?" + u.Query
		}
	}
	host := u.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.Port != u.DefaultPort() {
		host += ":" + u.Port
	}
	var b strings.Builder
	b.WriteString("GET " + ascii(target) + " HTTP/1.1\r\nHost: " + host +
		"\r\nUser-Agent: startgate\r\nAccept: */*\r\nConnection: close\r\n")
	header := h.options.Header.Reveal()
	if header != "" {
		b.WriteString(h.options.HeaderName + ": " + header + "\r\n")
	}
	if u.User+u.Password != "" && (header == "" || !strings.EqualFold(h.options.HeaderName, "authorization")) {
		b.WriteString("Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(u.User+":"+u.Password)) + "\r\n")
	}
	b.WriteString("\r\n")
	return b.String()
}

// ascii is s with what is none percent-encoded.
func ascii(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < 0x80 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

const (
	maxHead     = 64 << 10 // bytes that are read of an answer
	maxHeadLine = 8 << 10
)

// status reads up to the status of the final answer. A fault is as the dialer
// calls it.
func (h *HTTP) status(conn net.Conn) (code, fault envcheck.Code) {
	bounded := &io.LimitedReader{R: conn, N: maxHead}
	r := bufio.NewReaderSize(bounded, maxHeadLine)
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case err != nil && bounded.N == 0, errors.Is(err, bufio.ErrBufferFull), !statusLine(line):
			return envcheck.HTTPNotHTTP, ""
		case err != nil:
			return "", readFault(err)
		}
		status := statusOf(line)
		if status >= 200 {
			return h.judge(status), ""
		}
		if status < 100 {
			return envcheck.HTTPNotHTTP, ""
		}
		// An interim answer, such as 103: the final one follows its headers.
		for len(strings.TrimRight(string(line), "\r\n")) > 0 {
			if line, err = r.ReadSlice('\n'); err != nil {
				break // and the next line is read with the same error
			}
		}
	}
}

// statusLine reports whether b can be the start of an answer of HTTP/1.
func statusLine(b []byte) bool {
	const start = "HTTP/1."
	n := min(len(b), len(start))
	return string(b[:n]) == start[:n]
}

// statusOf reads the status of a line such as "HTTP/1.1 200 OK" (RFC 9112,
// section 4), 0 when it has none.
func statusOf(line []byte) int {
	const digits = len("HTTP/1.1 ")
	text := strings.TrimRight(string(line), "\r\n")
	if len(text) < digits+3 || text[digits-1] != ' ' || len(text) > digits+3 && text[digits+3] != ' ' {
		return 0
	}
	status, _ := strconv.ParseUint(text[digits:digits+3], 10, 16) // 0 for what is no number
	return int(status)
}

// judge says what a final status means. A status that waiting may cure is
// waited for: servers that are starting answer with more than 503.
func (h *HTTP) judge(status int) envcheck.Code {
	switch {
	case slices.Contains(h.options.Status, status), len(h.options.Status) == 0 && status < 300:
		return envcheck.Ready
	case status == 401, status == 403:
		return envcheck.HTTPForbidden
	case status == 404:
		return envcheck.HTTPNotFound
	case status == 429, status >= 500:
		return envcheck.HTTPUnavailable
	case status >= 300 && status < 400:
		return envcheck.HTTPRedirected
	}
	return envcheck.HTTPStatusUnexpected
}
