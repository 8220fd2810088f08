package integration

import (
	"net"
	"testing"
)

// addressRows are URLs that lead to no server.
func addressRows() []row {
	return []row{
		{"2", "connection refused", "nobody", func(t testing.TB) call {
			return at("redis://127.0.0.1:" + freePort(t))
		}, isRetried("redis_refused")},
		{"3", "SYN dropped: full backlog", "listener", func(t testing.TB) call {
			return at("redis://" + fullBacklog(t))
		}, isRetried("redis_connect_timeout")},
		{"55", "server on ::1, URL says 127.0.0.1", "", func(t testing.TB) call {
			needIPv6(t)
			s := startRedis(t, redisOptions{host: "::1"})
			return at("redis://127.0.0.1:" + s.port)
		}, isRetried("redis_refused")},
		{"55a", "server on ::1, URL says [::1]", "", func(t testing.TB) call {
			needIPv6(t)
			return at(startRedis(t, redisOptions{host: "::1"}).url("", ""))
		}, isReady()},
		{"56", "IPv6 address without brackets", "nobody", func(t testing.TB) call {
			return at("redis://::1:6379")
		}, isInvalid("host_invalid")},
	}
}

func needIPv6(t testing.TB) {
	t.Helper()
	l, err := net.Listen("tcp", "[::1]:0")
	need(t, "IPv6 on loopback", err == nil)
	l.Close()
}
