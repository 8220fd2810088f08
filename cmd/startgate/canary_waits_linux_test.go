package main

import (
	"net"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

// TestWaitNameServers has the canary for the name of a host that is no Redis.
func TestWaitNameServers(t *testing.T) {
	needsMounts(t)
	if conn, err := net.ListenPacket("udp", "127.100.0.0:53"); err != nil {
		lacking(t, "the right to use port 53")
	} else {
		conn.Close()
	}
	t.Parallel()
	var jobs []func()
	for _, n := range []struct {
		kind, keyType, scheme string
		server                int
		code                  envcheck.Code
	}{
		{"postgres", "postgres_url", "postgres", nxDomain, envcheck.PostgresDNSNotFound},
		{"postgres", "postgres_url", "postgres", servFail, envcheck.PostgresDNSFailed},
		{"postgres", "postgres_url", "postgres", silent, envcheck.PostgresDNSFailed},
		{"http", "http_url", "http", nxDomain, envcheck.HTTPDNSNotFound},
		{"http", "http_url", "http", refuses, envcheck.HTTPDNSFailed},
		{"tcp", "url", "amqp", nxDomain, envcheck.TCPDNSNotFound},
		{"tcp", "url", "amqp", servFail, envcheck.TCPDNSFailed},
	} {
		jobs = append(jobs, func() {
			canary := newCanary()
			dir := secretDir(t, canary)
			p := process{
				label: n.kind + ", a name server", canary: canary, exit: 75, args: []string{"probe"},
				env: []string{
					"STARTGATE_CONTRACT=" + write(dir, "contract.yaml", "contract: 1\nname: test\nkeys: {TARGET: {type: "+n.keyType+"}}\nwaits: [{"+n.kind+": TARGET}]\n"),
					"TARGET=" + n.scheme + "://" + canary + ":" + canary + "@" + canary + ".example/" + canary,
					"GODEBUG=netdns=2", "STARTGATE_DIAL_TIMEOUT=2",
				},
				mounts: []mount{{nameServer(t, n.server), resolvConf}},
			}
			p.want(t, p.evaluate(t), string(n.code))
		})
	}
	together(jobs)
}

// TestWaitConnectTimeout meets a server whose queue of connections is full.
func TestWaitConnectTimeout(t *testing.T) {
	t.Parallel()
	meetWaits(t, []waitCondition{
		{name: "PostgreSQL, its queue is full", code: envcheck.PostgresConnectTimeout, exit: 75, wait: "postgres: TARGET", keyType: "postgres_url",
			url: func(c, _ string) string { return postgresURL("prefer")(c, fullQueue(t)) }},
		{name: "HTTP, its queue is full", code: envcheck.HTTPConnectTimeout, exit: 75, wait: "http: TARGET", keyType: "http_url",
			url: func(c, _ string) string { return "http://" + c + ":" + c + "@" + fullQueue(t) + "/" + c }},
		{name: "a port, its queue is full", code: envcheck.TCPConnectTimeout, exit: 75, wait: "tcp: TARGET", keyType: "url",
			url: func(c, _ string) string { return "amqp://" + c + ":" + c + "@" + fullQueue(t) + "/" + c }},
	})
}
