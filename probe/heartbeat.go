package probe

import (
	"cmp"
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/startgate/startgate/envcheck"
)

// A Heartbeat is what a worker's framework says in Redis of each of its
// workers: that it is alive, where, and under which process number.
type Heartbeat struct {
	Family envcheck.Client // RQ, Sidekiq or Asynq
	Host   string          // this machine's name, as the framework sees it
	// Here reports whether a process of that number runs here: workers that
	// fork are not the process that became the worker.
	Here   func(pid int) bool
	MaxAge time.Duration // 0 is the family's
	// Runs is for how long the worker has run: an older heartbeat is that of
	// another one before it, of the same host and number. 0 is not known.
	Runs time.Duration
}

// The ages at which workers count as dead where nothing else is said. RQ
// refreshes at least every 405 s, Sidekiq every 10 s and expires after 60 s.
const (
	rqMaxAge      = 480 * time.Second
	sidekiqMaxAge = 60 * time.Second
)

// maxWorkers bounds the list of a fleet's workers. A longer one is no answer.
const maxWorkers = 10_000

// Beat looks for a fresh heartbeat of any worker of this host at the Redis
// that u names. It returns "" when there is one, HealthHeartbeatMissing or
// HealthHeartbeatStale when not, or why Redis did not say. Time is the
// server's own, since clocks differ.
func Beat(ctx context.Context, u envcheck.RedisURL, o RedisOptions, h Heartbeat) (code envcheck.Code) {
	defer func() {
		if recover() != nil {
			code = envcheck.InternalError
		}
	}()
	p := u.Reveal()
	if len(p.Sentinels) > 0 {
		s := newSentinel(p, o)
		if code = s.find(ctx); code != "" {
			return code
		}
		p = s.master.parts.Reveal()
	}
	conn, _, code := newDialer(p, o).dial(ctx)
	if code != "" {
		return code
	}
	s := newSession(conn, o)
	s.wire.guard.many = maxWorkers
	defer s.close()
	pipe := s.client.Pipeline()
	auth := authenticate(ctx, pipe, o.Client, p.User, p.Password)
	var db *redis.StatusCmd
	if p.DB != 0 {
		db = pipe.Select(ctx, p.DB)
	}
	now := pipe.Time(ctx)
	members := h.members(ctx, pipe)
	_, err := pipe.Exec(ctx)
	if a := (answer{err: err}); a.broken() {
		return a.brokenCode(s.wire)
	}
	for _, code := range [...]envcheck.Code{errorCode(auth), errorCode(db), errorCode(now), errorCode(members)} {
		if code != "" && code != envcheck.RedisAuthNotConfigured {
			return code
		}
	}
	ages, code := h.ages(ctx, s, members.Val(), now.Val())
	if code != "" || len(ages) == 0 {
		return cmp.Or(code, envcheck.HealthHeartbeatMissing)
	}
	for _, age := range ages {
		if age <= h.maxAge() {
			return ""
		}
	}
	return envcheck.HealthHeartbeatStale
}

func (h Heartbeat) maxAge() time.Duration {
	limit := rqMaxAge
	switch {
	case h.Family == envcheck.Asynq:
		return h.MaxAge // its key's score is when it ends
	case h.MaxAge > 0:
		limit = h.MaxAge
	case h.Family == envcheck.Sidekiq:
		limit = sidekiqMaxAge
	}
	if h.Runs > 0 && h.Runs < limit {
		limit = h.Runs + time.Second // heartbeats may have whole seconds
	}
	return limit
}

// members asks for the list of all workers.
func (h Heartbeat) members(ctx context.Context, pipe redis.Pipeliner) *redis.StringSliceCmd {
	switch h.Family {
	case envcheck.Sidekiq:
		return pipe.SMembers(ctx, "processes")
	case envcheck.Asynq:
		return pipe.ZRange(ctx, "asynq:servers", 0, -1)
	}
	return pipe.SMembers(ctx, "rq:workers")
}

// ages are those of the heartbeats of this host's workers; one of the future
// counts as new.
func (h Heartbeat) ages(ctx context.Context, s *session, members []string, now time.Time) (ages []time.Duration, _ envcheck.Code) {
	pipe := s.client.Pipeline()
	var mine []func() (beat time.Time, ok bool)
	for _, member := range members {
		if ask := h.ask(ctx, pipe, member); ask != nil {
			mine = append(mine, ask)
		}
	}
	if len(mine) == 0 {
		return nil, ""
	}
	_, err := pipe.Exec(ctx)
	if a := (answer{err: err}); a.broken() {
		return nil, a.brokenCode(s.wire)
	}
	for _, read := range mine {
		if beat, ok := read(); ok {
			ages = append(ages, now.Sub(beat))
		}
	}
	return ages, ""
}

// ask asks for one worker's heartbeat, and returns what reads the answer; nil
// when its name says that it is another host's.
func (h Heartbeat) ask(ctx context.Context, pipe redis.Pipeliner, member string) func() (time.Time, bool) {
	switch h.Family {
	case envcheck.Sidekiq: // HOST:PID:NONCE
		if !h.here(member, h.Host+":") {
			return nil
		}
		beat := pipe.HGet(ctx, member, "beat")
		return func() (time.Time, bool) {
			seconds, err := strconv.ParseFloat(beat.Val(), 64)
			return time.UnixMilli(int64(math.Min(seconds, 1e11) * 1000)), err == nil
		}
	case envcheck.Asynq: // asynq:servers:{HOST:PID:UUID}
		if !h.here(member, "asynq:servers:{"+h.Host+":") {
			return nil
		}
		score := pipe.ZScore(ctx, "asynq:servers", member)
		return func() (time.Time, bool) {
			return time.Unix(int64(math.Min(score.Val(), 1e11)), 0), score.Err() == nil
		}
	}
	fields := pipe.HMGet(ctx, member, "hostname", "pid", "last_heartbeat", "death")
	return func() (time.Time, bool) {
		var text [4]string
		for i, v := range fields.Val() {
			text[i], _ = v.(string)
		}
		pid, err := strconv.Atoi(text[1])
		if err != nil || text[0] != h.Host || text[3] != "" || !h.Here(pid) {
			return time.Time{}, false
		}
		beat, err := time.Parse("2006-01-02T15:04:05.999999Z", text[2])
		return beat, err == nil
	}
}

// here reports whether member begins with prefix and the number of a process
// that runs here.
func (h Heartbeat) here(member, prefix string) bool {
	rest, ok := strings.CutPrefix(member, prefix)
	number, _, _ := strings.Cut(rest, ":")
	pid, err := strconv.Atoi(number)
	return ok && err == nil && h.Here(pid)
}
