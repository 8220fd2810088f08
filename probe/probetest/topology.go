package probetest

import (
	"net"
	"strconv"
	"strings"
)

// replicationID stands where Redis has 40 random hex digits.
const replicationID = "0123456789abcdef0123456789abcdef01234567"

func role(_ *conn, b *Behaviour, _ []string) string {
	switch {
	case b.mode() == Sentinel:
		names := make([]string, 0, len(b.Masters))
		for _, name := range sortedKeys(b.Masters) {
			names = append(names, bulk(name))
		}
		return array(bulk("sentinel"), array(names...))
	case b.MasterDown:
		return array(bulk("slave"), bulk("127.0.0.1"), integer(6379), bulk("connect"), integer(-1))
	case b.replica():
		return array(bulk("slave"), bulk("127.0.0.1"), integer(6379), bulk("connected"), integer(0))
	}
	return array(bulk("master"), integer(0), array())
}

// cluster knows INFO and SLOTS of a cluster that is this one node.
func cluster(c *conn, b *Behaviour, args []string) string {
	if b.mode() != Cluster {
		return errorLine(textNoCluster)
	}
	switch strings.ToUpper(args[1]) {
	case "INFO":
		return c.verbatim(strings.Join([]string{
			"cluster_state:ok", "cluster_slots_assigned:16384", "cluster_slots_ok:16384",
			"cluster_slots_pfail:0", "cluster_slots_fail:0", "cluster_known_nodes:1", "cluster_size:1",
			"cluster_current_epoch:1", "cluster_my_epoch:1", "",
		}, "\r\n"))
	case "SLOTS":
		host, port := splitAddr(c.srv.addr)
		return array(array(integer(0), integer(16383), array(bulk(host), integer(port), bulk(replicationID), array())))
	}
	return unknownSubcommand(args)
}

// sentinel knows what a client asks in order to find a master.
func sentinel(c *conn, b *Behaviour, args []string) string {
	switch sub := strings.ToUpper(args[1]); sub {
	case "GET-MASTER-ADDR-BY-NAME", "SENTINELS", "REPLICAS", "SLAVES":
		if len(args) != 3 {
			return wrongArity("sentinel|" + sub)
		}
		addr, known := b.Masters[args[2]]
		switch {
		case sub != "GET-MASTER-ADDR-BY-NAME" && !known:
			return errorLine("ERR No such master with that name")
		case sub != "GET-MASTER-ADDR-BY-NAME":
			return array()
		case !known:
			return c.nullArray()
		}
		host, port := splitAddr(addr)
		return array(bulk(host), bulk(strconv.Itoa(port)))
	}
	return unknownSubcommand(args)
}

// subscribe confirms; nothing is ever published.
func subscribe(c *conn, _ *Behaviour, args []string) string {
	var text string
	for i, channel := range args[1:] {
		a := array(bulk("subscribe"), bulk(channel), integer(i+1))
		if c.proto == 3 {
			a = ">" + a[1:]
		}
		text += a
	}
	return text
}

// splitAddr returns the parts of host:port, and port 0 of anything else.
func splitAddr(addr string) (host string, port int) {
	host, p, err := net.SplitHostPort(addr)
	if err != nil {
		return addr, 0
	}
	port, _ = strconv.Atoi(p)
	return host, port
}
