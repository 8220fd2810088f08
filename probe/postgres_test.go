package probe_test

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe"
)

func postgresAt(host, port string, mode envcheck.SSLMode) *probe.Postgres {
	return probe.NewPostgres(sealed(envcheck.URLParts{
		Scheme: "postgres", Host: host, Port: port, User: "u", Password: "never-sent", Database: "d", SSLMode: mode,
	}), probe.PostgresOptions{DialTimeout: soon, ReplyTimeout: soon})
}

// says is a peer that answers the first bytes with a text.
func says(text string) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := c.Read(make([]byte, 4096)); err == nil {
			c.Write([]byte(text))
		}
	}
}

// errorReply is an error of this SQLSTATE, as a server of today writes it.
func errorReply(state string) string {
	return message('E', "SFATAL\x00VFATAL\x00C"+state+"\x00Mtext\x00\x00")
}

func TestPostgresAnswers(t *testing.T) {
	const ok, scram = "\x00\x00\x00\x00", "\x00\x00\x00\x0aSCRAM-SHA-256\x00\x00"
	let := message('R', ok)
	for name, c := range map[string]struct {
		answer  string
		code    envcheck.Code
		verdict probe.Verdict
	}{
		"SASL":                          {message('R', scram), envcheck.Ready, probe.Ready},
		"MD5":                           {message('R', "\x00\x00\x00\x05salt"), envcheck.Ready, probe.Ready},
		"GSS":                           {message('R', "\x00\x00\x00\x07"), envcheck.Ready, probe.Ready},
		"SSPI":                          {message('R', "\x00\x00\x00\x09"), envcheck.Ready, probe.Ready},
		"let in":                        {let + message('S', "a\x00b\x00") + message('K', "12345678") + message('Z', "I"), envcheck.Ready, probe.Ready},
		"let in, with a notice":         {let + message('N', "SNOTICE\x00\x00") + message('Z', "I"), envcheck.Ready, probe.Ready},
		"let in, no database":           {let + errorReply("3D000"), envcheck.PostgresNoDatabase, probe.Refuse},
		"let in, no connection":         {let + errorReply("53300"), envcheck.PostgresMaxConnections, probe.Retry},
		"starting":                      {errorReply("57P03"), envcheck.PostgresStarting, probe.Retry},
		"stopping":                      {errorReply("57P01"), envcheck.PostgresStarting, probe.Retry},
		"no line in pg_hba.conf":        {errorReply("28000"), envcheck.PostgresNotPermitted, probe.Refuse},
		"another error":                 {errorReply("08P01"), envcheck.PostgresErrorReply, probe.Retry},
		"an error without a state":      {message('E', "SFATAL\x00\x00"), envcheck.PostgresNotPostgres, probe.Refuse},
		"an error that does not end":    {message('E', "SFATAL\x00C57P03"), envcheck.PostgresNotPostgres, probe.Refuse},
		"an unknown request":            {message('R', "\x00\x00\x01\x00"), envcheck.PostgresNotPostgres, probe.Refuse},
		"a request that is too short":   {message('R', "\x00"), envcheck.PostgresNotPostgres, probe.Refuse},
		"a row, unasked":                {message('D', "\xff\xff"), envcheck.PostgresNotPostgres, probe.Refuse},
		"a row, once let in":            {let + message('D', "\xff\xff"), envcheck.PostgresNotPostgres, probe.Refuse},
		"a giant message":               {"R\x7f\xff\xff\xff", envcheck.PostgresNotPostgres, probe.Refuse},
		"a length below none":           {"R\xff\xff\xff\xff", envcheck.PostgresNotPostgres, probe.Refuse},
		"a length of nothing":           {"R\x00\x00\x00\x00", envcheck.PostgresNotPostgres, probe.Refuse},
		"a great length and no more":    {"E\x00\x00\xff\xff", envcheck.PostgresReplyTimeout, probe.Retry},
		"parameters without end":        {let + strings.Repeat(message('S', "a\x00b\x00"), 1000), envcheck.PostgresNotPostgres, probe.Refuse},
		"let in, and then nothing":      {let, envcheck.PostgresReplyTimeout, probe.Retry},
		"half a head":                   {"R\x00\x00", envcheck.PostgresReplyTimeout, probe.Retry},
		"the start of another protocol": {"HTTP/1.1 400 Bad Request\r\n\r\n", envcheck.PostgresNotPostgres, probe.Refuse},
		"a line that begins with E":     {"ERROR\r\n", envcheck.PostgresNotPostgres, probe.Refuse},
	} {
		t.Run(name, func(t *testing.T) {
			answer := says(c.answer)
			host, port := peer(t, func(conn net.Conn) {
				if c.code == envcheck.PostgresReplyTimeout { // a second look is not answered
					first := make([]byte, 4)
					if n, _ := conn.Read(first); n == 0 || string(first) == "PING" {
						return
					}
				}
				answer(conn)
			})
			o := once(t, postgresAt(host, port, envcheck.SSLDisable))
			if o.Code != c.code || o.Verdict != c.verdict || !o.Connected {
				t.Errorf("got %s, verdict %d", o.Code, o.Verdict)
			}
			if want := (probe.Facts{Address: "loopback", TLS: "no", Password: "set", Port: "other"}); o.Facts != want {
				t.Errorf("facts %v", o.Facts)
			}
		})
	}
}

// PgBouncer is silent while its server starts, and answers a line with an error.
func TestPostgresBehindASilentPooler(t *testing.T) {
	host, port := peer(t, func(conn net.Conn) {
		first := make([]byte, 4)
		if conn.Read(first); string(first) == "PING" {
			says(errorReply("08P01"))(conn)
			return
		}
		io.Copy(io.Discard, conn)
	})
	if o := once(t, postgresAt(host, port, envcheck.SSLDisable)); o.Code != envcheck.PostgresReplyTimeout || o.Verdict != probe.Retry {
		t.Errorf("got %s, verdict %d", o.Code, o.Verdict)
	}
}

func TestPostgresWithoutAUserIsNotJudgedByIt(t *testing.T) {
	host, port := peer(t, says(errorReply("28000")))
	p := probe.NewPostgres(sealed(envcheck.URLParts{Scheme: "postgres", Host: host, Port: port, SSLMode: envcheck.SSLDisable}),
		probe.PostgresOptions{DialTimeout: soon, ReplyTimeout: soon})
	if o := once(t, p); o.Code != envcheck.Ready {
		t.Errorf("got %s", o.Code)
	}
}

// All that is sent is the user's name and the database's.
func TestPostgresSendsNoPassword(t *testing.T) {
	sent := make(chan []byte, 1)
	host, port := peer(t, func(c net.Conn) {
		b := make([]byte, 4096)
		n, _ := c.Read(b)
		c.Write([]byte(message('R', "\x00\x00\x00\x03"))) // in the clear, please
		c.SetReadDeadline(time.Now().Add(5 * time.Second))
		more, _ := c.Read(b[n:])
		sent <- b[:n+more]
	})
	if o := once(t, postgresAt(host, port, envcheck.SSLDisable)); o.Code != envcheck.Ready {
		t.Errorf("got %s", o.Code)
	}
	got := <-sent
	for _, part := range []string{"user\x00u\x00", "database\x00d\x00"} {
		if !bytes.Contains(got, []byte(part)) {
			t.Errorf("%q was not sent", part)
		}
	}
	if bytes.Contains(got, []byte("never")) {
		t.Error("the password was sent")
	}
}

// What a server answers to a request for TLS, in each mode.
func TestPostgresAnswersToARequestForTLS(t *testing.T) {
	then := func(answer string) func(net.Conn) {
		return func(c net.Conn) {
			says(answer)(c)
			says(message('R', "\x00\x00\x00\x05salt"))(c)
		}
	}
	for name, c := range map[string]struct {
		serve func(net.Conn)
		mode  envcheck.SSLMode
		code  envcheck.Code
	}{
		"no, preferred":             {then("N"), envcheck.SSLPrefer, envcheck.Ready},
		"no, required":              {then("N"), envcheck.SSLRequire, envcheck.PostgresTLSNotOffered},
		"an error":                  {then(errorReply("57P03")), envcheck.SSLPrefer, envcheck.PostgresStarting},
		"something else":            {then("x"), envcheck.SSLRequire, envcheck.PostgresNotPostgres},
		"yes and no TLS, required":  {then("S"), envcheck.SSLRequire, envcheck.PostgresNotPostgres},
		"closes":                    {func(c net.Conn) { c.Close() }, envcheck.SSLRequire, envcheck.PostgresClosed},
		"silence":                   {func(net.Conn) {}, envcheck.SSLRequire, envcheck.PostgresReplyTimeout},
		"plain is refused, allowed": {says(errorReply("28000")), envcheck.SSLAllow, envcheck.PostgresNotPermitted},
	} {
		t.Run(name, func(t *testing.T) {
			host, port := peer(t, c.serve)
			if o := once(t, postgresAt(host, port, c.mode)); o.Code != c.code {
				t.Errorf("got %s, want %s", o.Code, c.code)
			}
		})
	}
}

// A peer that sends a byte now and then has no more time than any other.
func TestPostgresSlowBytes(t *testing.T) {
	host, port := peer(t, func(c net.Conn) {
		for _, b := range []byte(message('R', "\x00\x00\x00\x0a"+strings.Repeat("x", 1000))) {
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	p := postgresAt(host, port, envcheck.SSLDisable)
	if o := once(t, p); o.Code != envcheck.PostgresNotPostgres && o.Code != envcheck.PostgresReplyTimeout {
		t.Errorf("got %s", o.Code)
	}
}
