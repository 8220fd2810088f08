package probe_test

import (
	"net"
	"testing"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe"
)

func TestTCP(t *testing.T) {
	host, port := peer(t, func(net.Conn) {})
	u := envcheck.URLParts{Scheme: "smtp", Host: host, Port: port, Password: "x"}
	if o := once(t, probe.NewTCP(sealed(u), soon)); o.Code != envcheck.Ready || o.Facts != (probe.Facts{Address: "loopback", TLS: "no", Password: "set", Port: "other"}) {
		t.Errorf("got %s, %v", o.Code, o.Facts)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u.Host, u.Port, _ = net.SplitHostPort(l.Addr().String())
	l.Close()
	if o := once(t, probe.NewTCP(sealed(u), soon)); o.Code != envcheck.TCPRefused || o.Verdict != probe.Retry || o.Connected {
		t.Errorf("got %s", o.Code)
	}
}
