package probe

import (
	"bufio"
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

var (
	goodReplies = []string{
		"+PONG\r\n", "-ERR x\r\n", ":0\r\n", "$-1\r\n", "$0\r\n\r\n", "$5\r\na\r\nb\r\r\n", "*-1\r\n", "*0\r\n",
		"*2\r\n$1\r\na\r\n*1\r\n:1\r\n+OK\r\n", "%1\r\n+a\r\n:1\r\n:2\r\n", "_\r\n#t\r\n,1.5\r\n=5\r\ntxt:a\r\n~1\r\n:1\r\n",
		"*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
	}
	badReplies = map[string]string{
		"HTTP":                   "HTTP/1.1 400 Bad Request\r\n",
		"no type":                "\r\n",
		"a huge array":           "*100000000\r\n",
		"a huge map":             "%200000000\r\n",
		"a huge bulk":            "$100000000000\r\n",
		"a bulk above the bound": "$65537\r\n",
		"too deep":               "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
		"no number":              "*x\r\n",
		"an endless number":      "$" + strings.Repeat("0", 30),
		"an endless line":        "+" + strings.Repeat("x", maxBulk+1),
		"negative":               "$-2\r\n",
		"alien in an array":      "*2\r\n:1\r\nX",
	}
)

func TestGuardAcceptsRESP(t *testing.T) {
	for _, reply := range goodReplies {
		for size := 1; size <= len(reply); size++ {
			var g guard
			for rest := []byte(reply); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				if !g.accept(rest[:min(size, len(rest))]) {
					t.Fatalf("%q in pieces of %d is refused", reply, size)
				}
			}
			if g.depth != 0 || g.kind != 0 || g.skip != 0 {
				t.Errorf("%q in pieces of %d does not end where it ends", reply, size)
			}
		}
	}
}

func TestGuardRefusesTheRest(t *testing.T) {
	for name, reply := range badReplies {
		var g guard
		if g.accept([]byte(reply)) {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestGuardBoundsOneReply(t *testing.T) {
	var g guard
	line := []byte("+" + strings.Repeat("x", maxBulk-1) + "\r\n")
	accepted := 0
	for g.accept(line) {
		if accepted += len(line); accepted > maxReply {
			t.Fatal("more than the bound is accepted")
		}
	}
	g = guard{}
	for range 100 {
		g.wrote()
		if !g.accept(line) {
			t.Fatal("replies to many writes are counted together")
		}
	}
}

func FuzzGuard(f *testing.F) {
	for _, r := range goodReplies {
		f.Add([]byte(r), 3)
	}
	for _, r := range badReplies {
		f.Add([]byte(r), 3)
	}
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		var whole, pieces guard
		want := whole.accept(b)
		got := true
		for r := bufio.NewReaderSize(bytes.NewReader(b), 16); got; {
			piece := make([]byte, max(1, size%16))
			n, err := r.Read(piece)
			if err != nil {
				break
			}
			got = pieces.accept(piece[:n])
		}
		if got != want {
			t.Fatalf("accepted whole: %v, in pieces: %v", want, got)
		}
	})
}

// go-redis allocates what a header announces: 2.6 GB for the first of these.
func TestHostilePeerIsBounded(t *testing.T) {
	for name, reply := range map[string]probetest.Reply{
		"array":   probetest.Raw("*100000000\r\n"),
		"map":     probetest.Raw("%200000000\r\n"),
		"bulk":    probetest.Raw("$100000000000\r\n"),
		"nested":  probetest.Nested(1 << 20),
		"endless": probetest.Endless("+"),
		"100 MB":  probetest.Bulk("# Persistence\r\nloading:0\r\n", 100<<20),
	} {
		for _, command := range []string{"HELLO", "PING", "INFO PERSISTENCE"} {
			t.Run(name+" for "+command, func(t *testing.T) {
				s := probetest.New(t, probetest.Behaviour{Replies: map[string]probetest.Reply{command: reply}})
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				start := time.Now()
				patient := options()
				patient.ReplyTimeout = 10 * time.Second
				o := newRedis(t, s.URL(), patient).Probe(t.Context())
				took := time.Since(start)
				runtime.ReadMemStats(&after)
				if o.Code != envcheck.RedisNotRedis {
					t.Errorf("code %s, want %s", o.Code, envcheck.RedisNotRedis)
				}
				if kept := after.TotalAlloc - before.TotalAlloc; kept > 16<<20 {
					t.Errorf("%d bytes allocated", kept)
				}
				if took > 5*time.Second {
					t.Errorf("took %s", took)
				}
			})
		}
	}
}
