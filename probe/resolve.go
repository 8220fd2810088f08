package probe

import (
	"context"
	"net"
	"time"
)

// resolver looks names up as the default one does, but leaves a name server
// that is silent early enough to ask the next: Go gives each five seconds,
// which is more than a whole attempt has, and every attempt begins at the first
// server again. end is the attempt's. Where the system's own resolver is asked,
// nothing changes.
func resolver(end time.Time) *net.Resolver {
	dial := net.DefaultResolver.Dial
	if dial == nil {
		dial = (&net.Dialer{Resolver: new(net.Resolver)}).DialContext // to an address: there is no name to look up
	}
	return &net.Resolver{
		PreferGo:     net.DefaultResolver.PreferGo,
		StrictErrors: net.DefaultResolver.StrictErrors,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if u, ok := conn.(*net.UDPConn); ok && err == nil {
				return impatient{u, end}, nil
			}
			return conn, err
		},
	}
}

// impatient is a connection to a name server. It stays a [net.PacketConn], by
// which the resolver tells UDP from TCP.
type impatient struct {
	*net.UDPConn
	end time.Time
}

// leastShare is what a name server has at least: what an attempt's end cuts off
// says nothing of the server.
const leastShare = 500 * time.Millisecond

// SetDeadline leaves two thirds of what is left of the attempt: to the servers
// after this one, to the other names of a search list, and to connecting.
func (c impatient) SetDeadline(t time.Time) error {
	if share := time.Now().Add(max(leastShare, time.Until(c.end)/3)); share.Before(t) {
		t = share
	}
	return c.UDPConn.SetDeadline(t)
}
