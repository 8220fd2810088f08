package probe

import (
	"context"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// kind is a kind of wait beside Redis.
type kind uint8

const (
	ofPostgres kind = iota
	ofHTTP
	ofTCP
	kinds
)

// faults are the names that each kind has for what keeps a connection from
// coming about. The dialer speaks of Redis. What needs the same cure has one
// name here; a connection to a bare port can have few faults.
var faults = [...]struct {
	fault envcheck.Code
	names [kinds]envcheck.Code
}{
	{envcheck.RedisRefused, [kinds]envcheck.Code{envcheck.PostgresRefused, envcheck.HTTPRefused, envcheck.TCPRefused}},
	{envcheck.RedisUnreachable, [kinds]envcheck.Code{envcheck.PostgresUnreachable, envcheck.HTTPUnreachable, envcheck.TCPUnreachable}},
	{envcheck.RedisHostInvalid, [kinds]envcheck.Code{envcheck.PostgresUnreachable, envcheck.HTTPUnreachable, envcheck.TCPUnreachable}},
	{envcheck.RedisConnectTimeout, [kinds]envcheck.Code{envcheck.PostgresConnectTimeout, envcheck.HTTPConnectTimeout, envcheck.TCPConnectTimeout}},
	{envcheck.RedisDNSNotFound, [kinds]envcheck.Code{envcheck.PostgresDNSNotFound, envcheck.HTTPDNSNotFound, envcheck.TCPDNSNotFound}},
	{envcheck.RedisDNSFailed, [kinds]envcheck.Code{envcheck.PostgresDNSFailed, envcheck.HTTPDNSFailed, envcheck.TCPDNSFailed}},
	{envcheck.RedisDNSTimeout, [kinds]envcheck.Code{envcheck.PostgresDNSFailed, envcheck.HTTPDNSFailed, envcheck.TCPDNSFailed}},
	{envcheck.RedisClosed, [kinds]envcheck.Code{envcheck.PostgresClosed, envcheck.HTTPClosed, envcheck.TCPRefused}},
	{envcheck.RedisReplyTimeout, [kinds]envcheck.Code{envcheck.PostgresReplyTimeout, envcheck.HTTPReplyTimeout}},
	{envcheck.RedisTLSClosed, [kinds]envcheck.Code{envcheck.PostgresClosed, envcheck.HTTPClosed}},
	{envcheck.RedisTLSTimeout, [kinds]envcheck.Code{envcheck.PostgresReplyTimeout, envcheck.HTTPReplyTimeout}},
	{envcheck.RedisTLSNotSpoken, [kinds]envcheck.Code{envcheck.PostgresNotPostgres, envcheck.HTTPTLSNotSpoken}},
	{envcheck.RedisTLSUntrusted, [kinds]envcheck.Code{envcheck.PostgresTLSUntrusted, envcheck.HTTPTLSUntrusted}},
	{envcheck.RedisTLSNameMismatch, [kinds]envcheck.Code{envcheck.PostgresTLSNameMismatch, envcheck.HTTPTLSNameMismatch}},
	{envcheck.RedisTLSExpired, [kinds]envcheck.Code{envcheck.PostgresTLSExpired, envcheck.HTTPTLSExpired}},
	{envcheck.RedisTLSNotYetValid, [kinds]envcheck.Code{envcheck.PostgresTLSNotYetValid, envcheck.HTTPTLSNotYetValid}},
	{envcheck.RedisTLSClientCert, [kinds]envcheck.Code{envcheck.PostgresTLSRefused, envcheck.HTTPTLSRefused}},
	{envcheck.RedisTLSRefused, [kinds]envcheck.Code{envcheck.PostgresTLSRefused, envcheck.HTTPTLSRefused}},
}

// name is what the kind calls a fault of the dialer.
func (k kind) name(fault envcheck.Code) envcheck.Code {
	for _, f := range faults {
		if f.fault == fault && f.names[k] != "" {
			return f.names[k]
		}
	}
	return envcheck.InternalError
}

// readFault is a fault of an exchange, as the dialer calls it.
func readFault(err error) envcheck.Code {
	switch {
	case alerted(err):
		return envcheck.RedisTLSRefused
	case timedOut(err):
		return envcheck.RedisReplyTimeout
	}
	return envcheck.RedisClosed
}

// judged makes an attempt and works out what its code means.
func judged(ctx context.Context, attempt func(context.Context) Outcome) (o Outcome) {
	defer caught(&o)
	o = attempt(ctx)
	o.Verdict = verdict(o.Code)
	o.Cut = o.Verdict == Retry && expired(ctx)
	return o
}

// within is the time at which an exchange that starts now has to be over.
func within(ctx context.Context, limit time.Duration) time.Time {
	end := time.Now().Add(limit)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(end) {
		return deadline
	}
	return end
}

// facts are the closed facts about the address of u.
func facts(d *dialer, u envcheck.URLParts, secure bool) Facts {
	return d.facts(secure, u.Password != "", u.Port == u.DefaultPort())
}
