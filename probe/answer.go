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
func (s *session) ask(ctx context.Context, p envcheck.RedisParts, key string, o RedisOptions) (a answer) {
	pipe := s.client.Pipeline()
	if s.fresh {
		a.auth = authenticate(ctx, pipe, o.Client, p.User, p.Password)
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
		a.write = pipe.LPushX(ctx, key, "x")
	}
	_, a.err = pipe.Exec(ctx)
	if a.hello != nil {
		s.greeting = greetingOf(a.hello)
	}
	s.fresh = a.greetingFault(s.greeting, o) != "" // it has to be said again
	return a
}

// authenticate says user and password, and returns nil without a password. A
// user is said only when there is one: Redis before 6.0 knows none. redis-py and
// ioredis say a user without a password too.
func authenticate(ctx context.Context, pipe redis.Pipeliner, worker envcheck.Client, user, password string) *redis.StatusCmd {
	lone := worker == envcheck.RQ || worker == envcheck.Celery || worker == envcheck.BullMQ
	switch {
	case password == "" && (user == "" || !lone):
		return nil
	case user == "":
		return pipe.Auth(ctx, password)
	}
	return pipe.AuthACL(ctx, user, password)
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
func (a *answer) judge(s *session, options RedisOptions) Outcome {
	if a.broken() {
		return Outcome{Code: a.brokenCode(s.wire)}
	}
	if code := cmp.Or(unasked(s.wire.first), a.greetingFault(s.greeting, options)); code != "" {
		return Outcome{Code: code}
	}
	if options.Require == envcheck.RequireReachable {
		return Outcome{Code: envcheck.Ready}
	}
	if errorCode(a.auth) == envcheck.RedisAuthNotConfigured {
		s.warnings = append(s.warnings, envcheck.RedisAuthNotConfigured)
	}
	o := Outcome{Clients: infoNumber(a.clients.Val(), "connected_clients")}
	switch o.Code = a.serverFault(); {
	case o.Code == envcheck.RedisLoading:
		o.Loading = infoProgress(a.persistence.Val())
	case o.Code == envcheck.RedisOutOfMemory && options.oom() == envcheck.AsWarn:
		o.Warnings = append(o.Warnings, o.Code)
		o.Code = ""
	}
	if o.Code == "" {
		o.Code, o.Warnings = envcheck.Ready, slices.Concat(o.Warnings, s.warnings, a.unpermitted())
		if infoSavingFails(a.persistence.Val()) {
			o.Warnings = append(o.Warnings, envcheck.RedisPersistenceWarning)
		}
	}
	return o
}

// greetingFault is what keeps the connection from being of use at all: who we
// are, which database, and whether it is a Redis, of a kind that the family can
// use. Whoever only wants to reach the server cannot have what the first two
// take.
func (a *answer) greetingFault(g greeting, o RedisOptions) envcheck.Code {
	if g.mode == "sentinel" {
		return envcheck.RedisIsSentinel
	}
	if o.Require == envcheck.RequireReachable {
		return ""
	}
	if code := errorCode(a.auth); code != "" && (code != envcheck.RedisAuthNotConfigured || familyOf(o.Client).plainAuth) {
		return code
	}
	return cmp.Or(errorCode(a.database), g.fault(o))
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
	case a.writeDenied(), a.write != nil && writable(a.write):
		return ""
	}
	return write
}

// unpermitted warns of what could not be found out about a ready server.
func (a *answer) unpermitted() (warnings []envcheck.Code) {
	info, write := a.persistence.Err() != nil, a.writeDenied()
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

// writeDenied reports whether the write test itself may not be run: by this
// user, or by anybody where the command has another name.
func (a *answer) writeDenied() bool {
	return a.write != nil && notAllowed(a.write.Err())
}

// brokenCode classifies an exchange that the connection did not survive.
func (a *answer) brokenCode(w *wire) envcheck.Code {
	switch code := unasked(w.first); {
	case w.alien, strings.HasPrefix(a.err.Error(), "redis: "): // go-redis's own words, which quote the peer
		return envcheck.RedisNotRedis
	case says(a.auth, "OK"), says(a.database, "OK"), says(a.ping, "PONG"):
		return envcheck.RedisNotRedis
	case code != "":
		return code
	case len(w.first) == 0 && alerted(a.err): // later, it says nothing of us
		return envcheck.RedisTLSRefused
	case timedOut(a.err) && a.write != nil && a.ping.Val() == "PONG" && a.clients.Val() != "":
		return envcheck.RedisWritePaused
	case timedOut(a.err):
		return envcheck.RedisReplyTimeout
	}
	return envcheck.RedisClosed
}

// says reports whether the answer to cmd is another one than Redis's. POP3
// greets with a line that looks like RESP.
func says(cmd *redis.StatusCmd, other string) bool {
	return cmd != nil && cmd.Val() != "" && cmd.Val() != other
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
