package probe

import (
	"net"
	"sync/atomic"
	"testing"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

// A service can be anywhere else after a restart, and at several addresses. All
// of 127.0.0.0/8 is this machine on Linux alone.
func TestNamesAreLookedUpAnew(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{})
	_, port, _ := net.SplitHostPort(s.Addr())
	var addresses atomic.Value
	addresses.Store([][4]byte{{127, 0, 0, 7}})
	nameServer(t, 0, func() [][4]byte { return addresses.Load().([][4]byte) })
	r := newRedis(t, "redis://broker.example.:"+port, options())
	for _, step := range []struct {
		addresses [][4]byte
		want      envcheck.Code
	}{
		{[][4]byte{{127, 0, 0, 7}}, envcheck.RedisRefused},
		{[][4]byte{{127, 0, 0, 1}}, envcheck.Ready},
		{[][4]byte{{127, 0, 0, 7}}, envcheck.Ready}, // the connection is kept
		{nil, envcheck.RedisDNSNotFound},
		{[][4]byte{{127, 0, 0, 7}, {127, 0, 0, 8}, {127, 0, 0, 1}}, envcheck.Ready},
	} {
		if step.addresses == nil || len(step.addresses) > 1 {
			r.Close()
		}
		addresses.Store(step.addresses)
		if got := r.Probe(t.Context()); got.Code != step.want {
			t.Errorf("at %v: %s, want %s", step.addresses, got.Code, step.want)
		}
	}
}
