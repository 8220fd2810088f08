package main

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

// Answers of a name server, as response codes.
const (
	answers  = 0
	servFail = 2
	nxDomain = 3
	refuses  = 5
	silent   = -1
)

// TestNameServers has the canary for the host's name. GODEBUG asks the Go
// runtime to print what it looks up, which the gate must keep it from.
func TestNameServers(t *testing.T) {
	needsMounts(t)
	if conn, err := net.ListenPacket("udp", "127.100.0.0:53"); err != nil {
		lacking(t, "the right to use port 53")
	} else {
		conn.Close()
	}
	t.Parallel()
	ca, err := probetest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	trusted := "STARTGATE_TLS_CA_FILE=" + caFile(t, ca)
	config, err := ca.ServerConfig("redis.example", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	plain := probetest.New(t, probetest.Behaviour{}).Addr()
	secure := probetest.New(t, probetest.Behaviour{TLS: config}).Addr()

	var jobs []func()
	for _, n := range []struct {
		name   string
		server int
		code   envcheck.Code
		exit   int
		scheme string
		peer   string
	}{
		{"a name server that knows nothing", nxDomain, envcheck.RedisDNSNotFound, 75, "redis", plain},
		{"a name server that fails", servFail, envcheck.RedisDNSFailed, 75, "redis", plain},
		{"a name server that refuses", refuses, envcheck.RedisDNSFailed, 75, "rediss", plain},
		{"a name server that is silent", silent, envcheck.RedisDNSTimeout, 75, "redis", plain},
		{"a name server that answers", answers, envcheck.RedisAuthNotConfigured, 0, "redis", plain},
		{"a certificate for another name", answers, envcheck.RedisTLSNameMismatch, 69, "rediss", secure},
	} {
		for _, args := range [][]string{{"probe"}, {"wait", "--timeout=0", "--format=json"}} {
			jobs = append(jobs, func() {
				canary := newCanary()
				_, port, _ := net.SplitHostPort(n.peer)
				p := process{
					label: n.name + ", " + args[0], canary: canary, exit: n.exit, args: args,
					env: []string{
						"REDIS_URL=" + n.scheme + "://:" + canary + "@" + canary + ".example:" + port + "/0",
						"GODEBUG=netdns=2", trusted, "STARTGATE_DIAL_TIMEOUT=2",
					},
					mounts: []mount{{nameServer(t, n.server), resolvConf}},
				}
				p.want(t, p.evaluate(t), string(n.code))
			})
		}
	}
	together(jobs)
}

// nameServer starts a name server for the length of the test, and returns the
// resolv.conf that leads to it.
func nameServer(t *testing.T, code int) string {
	t.Helper()
	// Resolvers know one port only. There is room for it on other addresses of
	// the loopback network.
	var host [3]byte
	rand.Read(host[:])
	address := fmt.Sprintf("127.%d.%d.%d", 100+host[0]%100, host[1], 1+host[2]%250)
	conn, err := net.ListenPacket("udp", address+":53")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go serveNames(conn, code)

	path := emptyFile(t)
	text := "nameserver " + address + "\noptions timeout:1 attempts:1\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// serveNames answers every question in the same way, with 127.0.0.1 where
// there is an answer.
func serveNames(conn net.PacketConn, code int) {
	query := make([]byte, 512)
	for {
		n, from, err := conn.ReadFrom(query)
		if err != nil {
			return
		}
		if n < 12 || code == silent {
			continue
		}
		// The question ends after its name, which a zero byte ends, and type
		// and class. What follows, EDNS, needs no answer.
		end := 12
		for end < n && query[end] != 0 {
			end += int(query[end]) + 1
		}
		end += 1 + 4
		if end > n {
			continue
		}
		reply := append([]byte{}, query[:end]...)
		reply[2] |= 0x80                    // a response
		reply[3] = 0x80 | byte(code)        // recursion is available
		copy(reply[6:], make([]byte, 12-6)) // no records
		if typeA := byte(1); code == answers && query[end-3] == typeA {
			reply[7] = 1
			reply = append(reply, 0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1)
		}
		conn.WriteTo(reply, from)
	}
}

// TestConnectTimeout meets a server whose queue of connections is full, for
// which the kernel drops what asks for one more.
func TestConnectTimeout(t *testing.T) {
	t.Parallel()
	meet(t, []condition{{
		name: "its queue is full", code: envcheck.RedisConnectTimeout, exit: 75, env: hasty, server: knowing(probetest.Behaviour{}),
		url: func(c, _ string) string { return withPassword(c, fullQueue(t)) },
	}})
}

// fullQueue returns the address of a socket that takes no more connections.
func fullQueue(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	// A queue of length 0 has room for one.
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return address
}
