package probe

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/startgate/startgate/envcheck"
)

// answer is what came back for one write.
type answer struct {
	auth, database, ping *redis.StatusCmd // auth and database: nil when not asked
	hello                *redis.Cmd       // nil when not asked
	persistence, clients *redis.StringCmd
	write                *redis.IntCmd // nil when not required
	err                  error         // of the whole exchange
}

// ask makes one write and one read. PING comes before the write test, since
// go-redis takes READONLY in the first reply for a bad connection, and the
// write test comes last, since it is the one that a paused server holds back.
func (s *session) ask(ctx context.Context, p envcheck.RedisParts, o RedisOptions) (a answer) {
	pipe := s.client.Pipeline()
	if s.fresh && p.Password != "" {
		if p.User != "" {
			a.auth = pipe.AuthACL(ctx, p.User, p.Password)
		} else {
			a.auth = pipe.Auth(ctx, p.Password)
		}
	}
	if s.fresh && p.DB != 0 {
		a.database = pipe.Select(ctx, p.DB)
	}
	a.ping = pipe.Ping(ctx)
	if s.fresh {
		a.hello = pipe.Do(ctx, "hello", "2")
	}
	a.persistence = pipe.Info(ctx, "persistence") // several sections at once: from 7.0
	a.clients = pipe.Info(ctx, "clients")
	if o.Require == envcheck.RequireWrite {
		a.write = pipe.LPushX(ctx, testKey(o.KeyPrefix), "x")
	}
	_, a.err = pipe.Exec(ctx)
	s.fresh = a.greetingFault() != "" // it has to be said again
	return a
}

// testKey is a key that never exists, so that LPUSHX meets all that stands in
// the way of a write and changes nothing.
func testKey(prefix string) string {
	return prefix + ":startup-gate:" + strconv.FormatUint(rand.Uint64(), 36) + strconv.FormatUint(rand.Uint64(), 36)
}

// broken reports whether the connection is of no more use.
func (a *answer) broken() bool {
	var reply redis.Error
	return a.err != nil && !errors.As(a.err, &reply)
}

// judge says what the answer means. The exchange's own error comes first: when
// the handshake fails, every single command still looks good.
func (a *answer) judge(s *session) Outcome {
	if a.broken() {
		return Outcome{Code: a.brokenCode(s.wire)}
	}
	if code := cmp.Or(unasked(s.wire.first), a.greetingFault()); code != "" {
		return Outcome{Code: code}
	}
	if errorCode(a.auth) == envcheck.RedisAuthNotConfigured {
		s.warnings = append(s.warnings, envcheck.RedisAuthNotConfigured)
	}
	o := Outcome{Clients: infoClients(a.clients.Val())}
	if o.Code = a.serverFault(); o.Code == envcheck.RedisLoading {
		o.Loading = infoProgress(a.persistence.Val())
	}
	if o.Code == "" {
		o.Code, o.Warnings = envcheck.Ready, slices.Concat(s.warnings, a.unpermitted())
	}
	return o
}

// greetingFault is what keeps the connection from being of use at all: who we
// are, which database, and whether it is a Redis.
func (a *answer) greetingFault() envcheck.Code {
	if code := errorCode(a.auth); code != "" && code != envcheck.RedisAuthNotConfigured {
		return code
	}
	if a.sentinel() {
		return envcheck.RedisIsSentinel
	}
	return errorCode(a.database)
}

// serverFault is what keeps the server from being ready, in the order in which
// it matters: a loading replica is loading before it is read-only. A command
// that this user may not run makes no statement.
func (a *answer) serverFault() envcheck.Code {
	ping, write := errorCode(a.ping), errorCode(a.write)
	switch {
	case ping != "" && ping != envcheck.RedisNotPermitted:
		return ping
	case ping == "" && a.ping.Val() != "PONG":
		return envcheck.RedisNotRedis
	case infoLoading(a.persistence.Val()):
		return envcheck.RedisLoading
	case write == envcheck.RedisNotPermitted, a.write != nil && writable(a.write):
		return ""
	}
	return write
}

// unpermitted warns of what could not be found out about a ready server.
func (a *answer) unpermitted() (warnings []envcheck.Code) {
	info, write := a.persistence.Err() != nil, errorCode(a.write) == envcheck.RedisNotPermitted
	if info && (write || a.write == nil) && a.ping.Err() != nil {
		return []envcheck.Code{envcheck.RedisUnverified}
	}
	if info {
		warnings = append(warnings, envcheck.RedisInfoUnavailable)
	}
	if write {
		warnings = append(warnings, envcheck.RedisWriteUnverified)
	}
	return warnings
}

// brokenCode classifies an exchange that the connection did not survive.
func (a *answer) brokenCode(w *wire) envcheck.Code {
	switch code := unasked(w.first); {
	case w.alien, strings.HasPrefix(a.err.Error(), "redis: "):
		return envcheck.RedisNotRedis // go-redis's own words quote the peer
	case code != "":
		return code
	case timedOut(a.err) && a.write != nil && a.ping.Val() == "PONG" && a.clients.Val() != "":
		return envcheck.RedisWritePaused
	case timedOut(a.err):
		return envcheck.RedisReplyTimeout
	}
	return envcheck.RedisClosed
}

// sentinel reports whether HELLO names the server's mode so. A server without
// HELLO, or with none for this user, makes no statement.
func (a *answer) sentinel() bool {
	if a.hello == nil {
		return false
	}
	fields, _ := a.hello.Slice()
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i] == "mode" {
			return fields[i+1] == "sentinel"
		}
	}
	return false
}

// writable reports whether the write test met nothing in its way. A key of
// another type means that the server would have written.
func writable(write *redis.IntCmd) bool {
	return write.Err() == nil || strings.HasPrefix(write.Err().Error(), "WRONGTYPE ")
}

// errorCode classifies the error reply to a command, "" for none. The command
// may be one that was not asked.
func errorCode[C interface {
	comparable
	Err() error
}](cmd C) envcheck.Code {
	var none C
	if cmd == none || cmd.Err() == nil {
		return ""
	}
	return replyFault(cmd.Err().Error())
}
