package probe

import (
	"context"
	"strings"

	"github.com/startgate/startgate/envcheck"
)

// askNode probes the node of a cluster that the write test's key belongs to,
// which the text of a MOVED names, as the worker's client will. A node that
// redirects in its turn shows that slots are on the move.
func (r *server) askNode(ctx context.Context, moved string) Outcome {
	fields := strings.Fields(moved)
	if r.moved || len(fields) != 3 {
		return Outcome{Code: envcheck.RedisClusterDown}
	}
	colon := strings.LastIndexByte(fields[2], ':')
	if colon < 0 {
		return Outcome{Code: envcheck.RedisClusterDown}
	}
	// Redis puts no brackets around an IPv6 address.
	host, port := strings.Trim(fields[2][:colon], "[]"), fields[2][colon+1:]
	p := r.parts.Reveal()
	if host != "" { // the host that was asked
		p.Host = host
	}
	p.Port, p.Socket = port, ""
	if r.node == nil || r.node.dialer.host != p.Host || r.node.dialer.port != p.Port {
		if r.node != nil {
			r.node.Close()
		}
		r.node = newServer(envcheck.Seal(p), r.options)
		r.node.key, r.node.moved = r.key, true
	}
	return r.node.Probe(ctx)
}
