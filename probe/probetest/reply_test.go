package probetest_test

import (
	"bytes"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/startgate/startgate/probe/probetest"
)

func scripted(t *testing.T, replies map[string]probetest.Reply) *probetest.Server {
	t.Helper()
	return probetest.New(t, probetest.Behaviour{Replies: replies})
}

func TestRepliesReplaceAnswers(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{
		Password: "pw", // Replies come before every check
		Replies: map[string]probetest.Reply{
			"PING":             probetest.Error("LOADING Valkey is loading the dataset in memory"),
			"INFO":             probetest.Raw("$0\r\n\r\n"),
			"INFO PERSISTENCE": probetest.Error("NOPERM no permissions"),
			"*":                probetest.Unknown(),
		},
	})
	c := dial(t, s)
	check(t, "command", c.ask("ping"), "-LOADING Valkey is loading the dataset in memory\r\n")
	check(t, "command and argument", c.ask("info", "persistence", "clients"), "-NOPERM no permissions\r\n")
	check(t, "other argument", c.ask("info", "clients"), "$0\r\n\r\n")
	check(t, "everything else", c.ask("HELLO", "2"), "-ERR unknown command 'HELLO', with args beginning with: '2' \r\n")
}

// silentAfter asserts what a server has sent when it has fallen silent: all
// that the client can read once the server has seen more commands and is gone.
func silentAfter(t *testing.T, s *probetest.Server, sent, want string) {
	t.Helper()
	c := dial(t, s)
	c.send(sent + request("ECHO", "unheard"))
	wait(t, s, probetest.Commands("ECHO", 1))
	s.Down()
	got, _ := c.rest()
	check(t, "sent", got, want)
}

func TestNeverStaysSilent(t *testing.T) {
	s := scripted(t, map[string]probetest.Reply{"LPUSHX": probetest.Never()})
	silentAfter(t, s, request("PING")+request("LPUSHX", "k", "v"), "+PONG\r\n")
}

func TestHalfIsAllThereIs(t *testing.T) {
	for _, half := range []string{"+PO", "$100\r\nab", "*100000000\r\n", "%200000000\r\n", "$100000000000\r\n"} {
		s := scripted(t, map[string]probetest.Reply{"HELLO": probetest.Half(half)})
		silentAfter(t, s, request("HELLO", "2"), half)
	}
}

func TestWritePauseHoldsTheConnection(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{WritePause: true})
	silentAfter(t, s, request("PING")+request("LPUSHX", "k", "v")+request("PING"), "+PONG\r\n")
}

func TestHangUpAndAbort(t *testing.T) {
	s := scripted(t, map[string]probetest.Reply{
		"HELLO": probetest.HangUp("-ERR bye\r\n"),
		"PING":  probetest.Abort(),
	})
	c := dial(t, s)
	c.send(request("HELLO", "2"))
	got, err := c.rest()
	if got != "-ERR bye\r\n" || err != nil {
		t.Errorf("HangUp: got %q, %v", got, err)
	}
	c = dial(t, s)
	c.send(request("PING"))
	if got, err := c.rest(); got != "" || err == nil {
		t.Errorf("Abort: got %q, %v; want a reset", got, err)
	}
}

func TestEchoRepeatsEverything(t *testing.T) {
	s := scripted(t, map[string]probetest.Reply{"*": probetest.Echo(probetest.TerminalEscapes)})
	secret := strings.Repeat("s3cret\n", 40)
	got := dial(t, s).ask("HELLO", "2", "AUTH", "default", secret)
	want := probetest.TerminalEscapes + strings.Repeat("s3cret ", 40) + "' \r\n"
	if !strings.HasPrefix(got, "-ERR unknown command '") || !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want the end %q", got, want)
	}
}

func TestGiantRepliesAreStreamed(t *testing.T) {
	const size = 64 << 20
	s := scripted(t, map[string]probetest.Reply{
		"INFO":  probetest.Bulk("loading:0\r\n", size),
		"HELLO": probetest.Nested(size / 4),
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := dial(t, s)
	c.send(request("INFO") + request("HELLO", "3"))
	const header, nested = "$67108864\r\nloading:0\r\nxxx", "xx\r\n*1\r\n*1\r\n"
	start := make([]byte, len(header))
	io.ReadFull(c.r, start)
	check(t, "start", string(start), header)
	io.CopyN(io.Discard, c.r, size-int64(len("loading:0\r\nxxx"))-2)
	next := make([]byte, len(nested))
	io.ReadFull(c.r, next)
	check(t, "end of the bulk string", string(next), nested)
	io.CopyN(io.Discard, c.r, size-8)
	check(t, "end of the nesting", c.reply(), ":1\r\n")
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("%d bytes were allocated for two replies of %d bytes", got, size)
	}
}

func TestEndlessEndsWithTheClient(t *testing.T) {
	s := scripted(t, map[string]probetest.Reply{"PING": probetest.Endless("+")})
	c := dial(t, s)
	c.send(request("PING"))
	line := make([]byte, 1<<20)
	if _, err := io.ReadFull(c.r, line); err != nil {
		t.Fatal(err)
	}
	if line[0] != '+' || bytes.ContainsAny(line, "\r\n") {
		t.Error("the line has an end")
	}
	c.Close()
	wait(t, s, probetest.Disconnected(1))
}

func TestByteIntervalSlowsAnswers(t *testing.T) {
	const every = 2 * time.Millisecond
	s := probetest.New(t, probetest.Behaviour{ByteInterval: every})
	c := dial(t, s)
	begin := time.Now()
	check(t, "answer", c.ask("PING"), "+PONG\r\n")
	if took, least := time.Since(begin), 7*every; took < least {
		t.Errorf("7 bytes took %v, want at least %v", took, least)
	}
	s.Set(probetest.Behaviour{ByteInterval: time.Hour})
	c.send(request("PING"))
	wait(t, s, probetest.Commands("PING", 2))
	s.Set(probetest.Behaviour{})
	s.Close() // does not wait for an hour
}

func TestWindowHoldsAnswersBack(t *testing.T) {
	const window = 100 * time.Millisecond
	s := probetest.New(t, probetest.Behaviour{Loading: &probetest.Loading{Window: window}})
	c := dial(t, s)
	begin := time.Now()
	c.send(strings.Repeat(request("PING"), 50)) // one write, one window
	for range 50 {
		check(t, "answer", c.reply(), loading)
	}
	if opens := begin.Truncate(window).Add(window); time.Now().Before(opens) {
		t.Error("an answer came outside the window")
	}
	if took := time.Since(begin); took > 20*window {
		t.Errorf("50 commands took %v: a window each", took)
	}
}

func TestUnreadableRequests(t *testing.T) {
	for _, tt := range []struct{ name, sent, want string }{
		{"inline", "PING\r\n", "+PONG\r\n"},
		{"inline, empty lines", "\r\n\nping hi\n", "$2\r\nhi\r\n"},
		{"empty array", "*0\r\n*-1\r\nPING\r\n", "+PONG\r\n"},
		{"not a bulk string", "*1\r\n:4\r\n", "-ERR Protocol error: expected '$', got ':'\r\n"},
		{"huge bulk string", "*1\r\n$999999999999\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
		{"huge array", "*99999999999\r\n", "-ERR Protocol error: invalid multibulk length\r\n"},
		{"endless line", strings.Repeat("x", 64<<10), "-ERR Protocol error: too big inline request\r\n"},
		{"web browser", "GET / HTTP/1.1\r\nHost: x\r\n", "-ERR wrong number of arguments for 'get' command\r\n"},
		{"TLS handshake", "\x16\x03\x01\x00\x05\x01\x00\x00\nPING\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := dial(t, probetest.New(t, probetest.Behaviour{}))
			c.send(tt.sent)
			c.Conn.(*net.TCPConn).CloseWrite()
			got, err := c.rest()
			if err != nil {
				t.Error(err)
			}
			check(t, "answer", got, tt.want)
		})
	}
}
