package probe

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

// nameServer answers every question on a loopback port with a response code,
// or not at all when rcode is negative, and makes itself the process's resolver
// until the test ends. addresses are those of every name, nil for none.
func nameServer(t *testing.T, rcode int, addresses func() [][4]byte) {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	old := net.DefaultResolver
	// A look-up that was given up still dials, and must not look for the default then.
	dialer := net.Dialer{Resolver: new(net.Resolver)}
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
	done := make(chan struct{})
	t.Cleanup(func() { pc.Close(); <-done; net.DefaultResolver = old })
	go func() {
		defer close(done)
		buf := make([]byte, 512)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			if rcode >= 0 {
				buf[2] |= 0x84 // an authoritative response
				buf[3] = buf[3]&0xf0 | byte(rcode)
				buf[11] = 0 // no additional record
				reply := buf[:min(n, questionEnd(buf))]
				if isA := reply[len(reply)-3] == 1; isA && addresses != nil {
					for _, a := range addresses() {
						buf[7]++ // answers: the question's name, type A, class IN, no time to live
						reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, a[0], a[1], a[2], a[3])
					}
				}
				pc.WriteTo(reply, from)
			}
		}
	}()
}

// questionEnd is where the first question of a message ends.
func questionEnd(b []byte) int {
	i := 12
	for b[i] != 0 {
		i += int(b[i]) + 1
	}
	return i + 5
}

func TestNameConditions(t *testing.T) {
	for name, c := range map[string]struct {
		rcode int
		want  envcheck.Code
	}{
		"unknown":       {3, envcheck.RedisDNSNotFound},
		"no address":    {0, envcheck.RedisDNSNotFound},
		"server fails":  {2, envcheck.RedisDNSFailed},
		"server denies": {5, envcheck.RedisDNSFailed},
		"server silent": {-1, envcheck.RedisDNSTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			nameServer(t, c.rcode, nil)
			o := options()
			if c.rcode < 0 {
				o.DialTimeout = 300 * time.Millisecond
			}
			got := newRedis(t, "redis://broker.example.", o).Probe(t.Context())
			if got.Code != c.want || got.Verdict != Retry || got.Facts.Address != "unresolved" {
				t.Errorf("code %s verdict %d address %s, want %s", got.Code, got.Verdict, got.Facts.Address, c.want)
			}
		})
	}
}

// Near its end an attempt is cut off, which says nothing. A name server that was
// given a part of what is left would be called silent.
func TestANameServerHasItsTime(t *testing.T) {
	conn, err := net.Dial("udp", "127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := impatient{conn.(*net.UDPConn), time.Now().Add(30 * time.Millisecond)}
	start := time.Now()
	c.SetDeadline(start.Add(time.Minute))
	for err = nil; err == nil || !timedOut(err); { // the port may be refused
		_, err = c.Read(make([]byte, 1))
	}
	if took := time.Since(start); took < leastShare {
		t.Errorf("%s, want %s at least", took, leastShare)
	}
}

// A name server that is silent costs a part of the attempt, and not all of it.
func TestNextNameServerIsAsked(t *testing.T) {
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	s := probetest.New(t, probetest.Behaviour{})
	_, port, _ := net.SplitHostPort(s.Addr())
	nameServer(t, 0, func() [][4]byte { return [][4]byte{{127, 0, 0, 1}} })
	answering := net.DefaultResolver.Dial
	var asked atomic.Int32
	net.DefaultResolver.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if asked.Add(1) > 2 { // for addresses of both families at once
			return answering(ctx, network, address)
		}
		return net.DialUDP("udp", nil, silent.LocalAddr().(*net.UDPAddr))
	}
	if got := newRedis(t, "redis://broker.example.:"+port, options()).Probe(t.Context()); got.Code != envcheck.Ready {
		t.Errorf("code %s, want ready", got.Code)
	}
}
