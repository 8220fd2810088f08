package integration

import (
	"bytes"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// lastPort is the port that freePort has given away last. It lies below those
// that the kernel takes for outgoing connections, so that nobody else finds a
// port of ours between its release and its use.
var lastPort atomic.Int32

func init() { lastPort.Store(20000 + rand.Int32N(8000)) }

// freePort returns a port that is free now and is not given away again.
func freePort(t testing.TB) string {
	t.Helper()
	for range 1000 {
		port := strconv.Itoa(int(lastPort.Add(1)))
		if l, err := net.Listen("tcp", ":"+port); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no free port")
	return ""
}

// clusterPort returns a free port for a node of a cluster, which also takes the
// port that is 10,000 higher. That one is freePort's, since it has to lie below
// those for outgoing connections, too.
func clusterPort(t testing.TB) string {
	t.Helper()
	for range 1000 {
		bus, _ := strconv.Atoi(freePort(t))
		port := strconv.Itoa(bus - 10000)
		if l, err := net.Listen("tcp", ":"+port); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no free port")
	return ""
}

// ownAddress returns an IPv4 address of this machine that is none of
// loopback's. What is sent there does not leave the machine.
func ownAddress(t testing.TB) string {
	t.Helper()
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() && !ip.IP.IsLinkLocalUnicast() {
			return ip.IP.String()
		}
	}
	need(t, "an address beside loopback", false)
	return ""
}

// lockedBuffer takes the output of a process that is read while it runs.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
