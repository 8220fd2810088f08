package integration

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A nameServer answers by the first label of the name that it is asked for.
type nameServer struct {
	conf    string        // a resolv.conf that names it
	asked   chan struct{} // closed with the first question
	once    sync.Once
	present atomic.Bool // whether appears.test is known
}

// DNS response codes.
const (
	rcodeOK       = 0
	rcodeFailure  = 2
	rcodeNotFound = 3
	rcodeRefused  = 5
)

var lastNameServer atomic.Int32

// startNameServer starts one on a loopback address of its own, since
// resolv.conf has no port.
func startNameServer(t testing.TB) *nameServer {
	t.Helper()
	needRoot(t)
	n := lastNameServer.Add(1)
	ip := fmt.Sprintf("127.53.%d.%d", n/250, n%250+1)
	conn, err := net.ListenPacket("udp", ip+":53")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := &nameServer{conf: filepath.Join(t.TempDir(), "resolv.conf"), asked: make(chan struct{})}
	if err := os.WriteFile(s.conf, []byte("nameserver "+ip+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	go s.serve(conn)
	return s
}

// through returns a command that execs its arguments where the system's name
// server is s.
func (s *nameServer) through(t testing.TB) []string {
	t.Helper()
	needProgram(t, "unshare")
	script := `mount --bind "$0" /etc/resolv.conf && exec "$@"`
	return []string{"unshare", "--mount", "sh", "-c", script, s.conf}
}

func (s *nameServer) serve(conn net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		s.once.Do(func() { close(s.asked) })
		if reply := s.answer(buf[:n]); reply != nil {
			conn.WriteTo(reply, from)
		}
	}
}

// answer returns the answer to query, nil for none.
func (s *nameServer) answer(query []byte) []byte {
	const header = 12
	labels, end := []string(nil), header
	for end < len(query) && query[end] != 0 {
		next := end + 1 + int(query[end])
		if next >= len(query) {
			return nil
		}
		labels = append(labels, string(query[end+1:next]))
		end = next
	}
	end += 5 // the root label, type and class
	if len(labels) == 0 || end > len(query) {
		return nil
	}
	isA := binary.BigEndian.Uint16(query[end-4:]) == 1
	switch strings.ToLower(labels[0]) {
	case "nxdomain":
		return dnsReply(query[:end], rcodeNotFound, nil)
	case "nodata":
		return dnsReply(query[:end], rcodeOK, nil)
	case "servfail":
		return dnsReply(query[:end], rcodeFailure, nil)
	case "refused":
		return dnsReply(query[:end], rcodeRefused, nil)
	case "appears":
		switch {
		case !s.present.Load():
			return dnsReply(query[:end], rcodeNotFound, nil)
		case isA:
			return dnsReply(query[:end], rcodeOK, net.IPv4(127, 0, 0, 1).To4())
		}
		return dnsReply(query[:end], rcodeOK, nil)
	}
	return nil
}

// dnsReply answers the question that header and question hold.
func dnsReply(question []byte, rcode byte, address net.IP) []byte {
	reply := append([]byte(nil), question...)
	reply[2] |= 0x80        // a response
	reply[3] = 0x80 | rcode // recursion is available
	clear(reply[6:12])      // no records but the question
	if address == nil {
		return reply
	}
	reply[7] = 1 // one answer: the question's name, type A, class IN, no time to live
	reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, byte(len(address)))
	return append(reply, address...)
}
