package probe_test

import (
	"net"
	"testing"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe"
	"github.com/startgate/startgate/probe/probetest"
)

func TestTCP(t *testing.T) {
	host, port := peer(t, func(net.Conn) {})
	u := envcheck.URLParts{Scheme: "smtp", Host: host, Port: port, Password: "x"}
	if o := once(t, probe.NewTCP(sealed(u), soon)); o.Code != envcheck.Ready || o.Facts != (probe.Facts{Address: "loopback", TLS: "no", Password: "set", Port: "other"}) {
		t.Errorf("got %s, %v", o.Code, o.Facts)
	}
	s := probetest.New(t, probetest.Behaviour{})
	s.Down()
	u.Host, u.Port, _ = net.SplitHostPort(s.Addr())
	if o := once(t, probe.NewTCP(sealed(u), soon)); o.Code != envcheck.TCPRefused || o.Verdict != probe.Retry || o.Connected {
		t.Errorf("got %s", o.Code)
	}
}
