package probe_test

import (
	"context"
	"encoding/binary"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe"
)

// peer serves every connection with serve and returns where.
func peer(t testing.TB, serve func(net.Conn)) (host, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			served.Go(func() { serve(c) })
		}
	})
	t.Cleanup(func() { l.Close() })
	host, port, _ = net.SplitHostPort(l.Addr().String())
	return host, port
}

// message is one of PostgreSQL's: a kind, a length and a body.
func message(kind byte, body string) string {
	b := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4))
	return string(b) + body
}

// once makes one attempt and checks that it is over in time and in little
// memory.
func once(t *testing.T, p probe.Prober) probe.Outcome {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	o := p.Probe(ctx)
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("took %s", took)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 2<<20 {
		t.Errorf("took %d bytes", got)
	}
	return o
}

// soon are limits that a peer of this machine meets.
const soon = 600 * time.Millisecond

func sealed(u envcheck.URLParts) envcheck.Sealed[envcheck.URLParts] { return envcheck.Seal(u) }
