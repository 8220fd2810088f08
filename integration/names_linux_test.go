package integration

import (
	"net"
	"os"
	"testing"
	"time"
)

// A name that does not exist yet is asked for again until it does.
func TestNameAppears(t *testing.T) {
	t.Parallel()
	names := startNameServer(t)
	s := startRedis(t, redisOptions{})
	p := start(t, through(names.through(t), command(redisURL("redis://appears.test:"+s.port), loadedWorker(s)...)))
	p.await("redis_dns_not_found", 1)
	names.present.Store(true)
	checkLoaded(t, p)
}

// A name server that does not answer keeps the gate no longer than its budget:
// a look-up cannot be cancelled, and by itself takes ten seconds.
func TestDeadNameServerSpendsTheBudget(t *testing.T) {
	t.Parallel()
	names := startNameServer(t)
	p := start(t, through(names.through(t), command(redisURL("redis://silent.test"), "wait", "--timeout", "2"))).wait()
	if p.code != 75 || p.last().Code != "redis_dns_timeout" || p.took() < 1900*time.Millisecond || p.took() > 6*time.Second {
		t.Errorf("exit %d after %s, code %s", p.code, p.took(), p.last().Code)
	}
}

// Of two name servers the first may be down for as long as it likes: other
// resolvers find the name as well.
func TestSilentFirstNameServer(t *testing.T) {
	t.Parallel()
	names := startNameServer(t)
	names.present.Store(true)
	const first = "127.53.255.1" // never one of startNameServer's
	silent, err := net.ListenPacket("udp", first+":53")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	conf, err := os.ReadFile(names.conf)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(names.conf, append([]byte("nameserver "+first+"\n"), conf...), 0o644); err != nil {
		t.Fatal(err)
	}
	s := startRedis(t, redisOptions{})
	p := start(t, through(names.through(t), command(redisURL("redis://appears.test:"+s.port), "wait", "--timeout", "20"))).wait()
	if p.code != 0 {
		t.Errorf("exit %d after %s, code %s", p.code, p.took(), p.last().Code)
	}
}
