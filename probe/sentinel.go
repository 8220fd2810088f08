package probe

import (
	"cmp"
	"context"
	"errors"
	"net"

	"github.com/redis/go-redis/v9"

	"github.com/startgate/startgate/envcheck"
)

// sentinel probes the master that Redis Sentinels name. They are asked again
// whenever there is no connection to a master that answers as one.
type sentinel struct {
	options RedisOptions
	parts   envcheck.RedisURL
	dialers []*dialer
	master  *server // nil when it is not known
}

func newSentinel(p envcheck.RedisParts, o RedisOptions) *sentinel {
	s := &sentinel{options: o, parts: envcheck.Seal(p)}
	for _, address := range p.Sentinels {
		one := p
		one.Host, one.Port, _ = net.SplitHostPort(address)
		s.dialers = append(s.dialers, newDialer(one, o))
	}
	return s
}

// Close drops the connection to the master; none to a Sentinel is kept.
func (s *sentinel) Close() {
	if s.master != nil {
		s.master.Close()
	}
}

// Probe makes one attempt.
func (s *sentinel) Probe(ctx context.Context) (o Outcome) {
	defer caught(&o)
	if s.master == nil || s.master.session == nil {
		if code := s.find(ctx); code != "" {
			return Outcome{
				Verdict: verdict(code), Code: code, Cut: verdict(code) == Retry && expired(ctx),
				Facts: factsOf(s.parts.Reveal(), s.dialers[0]),
			}
		}
	}
	o = s.master.Probe(ctx)
	if o.Verdict == Ready && s.master.session.greeting.role == "replica" {
		o = Outcome{Code: envcheck.RedisReadOnly, Facts: o.Facts, Connected: true}
	}
	if o.Code == envcheck.RedisReadOnly {
		s.master.Close() // there may be another master now
	}
	return o
}

// find asks all Sentinels at once for the master, and believes the first that
// names one: another may be silent. While none does, the best reason is told.
func (s *sentinel) find(ctx context.Context) envcheck.Code {
	type found struct {
		address []string
		code    envcheck.Code
	}
	answers := make(chan found, len(s.dialers)) // so that the late ones end
	for _, d := range s.dialers {
		go func() {
			var f found
			f.address, f.code = s.ask(ctx, d)
			answers <- f
		}()
	}
	var reason envcheck.Code
	for range s.dialers {
		f := <-answers
		if f.code == "" {
			s.setMaster(f.address)
			return ""
		}
		if reason == "" || sentinelRank(f.code) > sentinelRank(reason) {
			reason = f.code
		}
	}
	return reason
}

// sentinelRank orders why there is no master: what waiting may cure comes
// first, and of that what a Sentinel says.
func sentinelRank(c envcheck.Code) int {
	switch {
	case c == envcheck.RedisSentinelNoMaster:
		return 2
	case verdict(c) == Retry:
		return 1
	}
	return 0
}

func (s *sentinel) setMaster(address []string) {
	p := s.parts.Reveal()
	p.Sentinels, p.Host, p.Port = nil, address[0], address[1]
	if s.master != nil && s.master.dialer.host == p.Host && s.master.dialer.port == p.Port {
		return
	}
	if s.master != nil {
		s.master.Close()
	}
	s.master = newServer(envcheck.Seal(p), s.options)
}

// ask asks one Sentinel for the master's host and port.
func (s *sentinel) ask(ctx context.Context, d *dialer) (address []string, code envcheck.Code) {
	defer func() {
		if recover() != nil {
			code = envcheck.InternalError
		}
	}()
	conn, asked, code := d.dial(ctx)
	if code != "" {
		if verdict(code) == Refuse {
			return nil, code
		}
		return nil, envcheck.RedisSentinelUnreachable
	}
	session := newSession(conn, s.options)
	defer session.close()
	p := s.parts.Reveal()
	pipe := session.client.Pipeline()
	auth := authenticate(ctx, pipe, s.options.Client, p.SentinelUser, p.SentinelPassword)
	master := redis.NewStringSliceCmd(ctx, "sentinel", "get-master-addr-by-name", p.Master)
	_ = pipe.Process(ctx, master)
	_, err := pipe.Exec(ctx)
	if a := (answer{err: err}); a.broken() {
		if code := certificateFault(a.brokenCode(session.wire), asked); verdict(code) == Refuse {
			return nil, code
		}
		return nil, envcheck.RedisSentinelUnreachable
	}
	err = master.Err()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, envcheck.RedisSentinelNoMaster
	case err != nil && unknownCommand(err):
		return nil, envcheck.RedisNotASentinel
	case err != nil:
		return nil, cmp.Or(errorCode(auth), replyFault(err.Error()))
	case len(master.Val()) != 2:
		return nil, envcheck.RedisNotASentinel
	}
	return master.Val(), ""
}
