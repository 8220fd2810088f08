package probe

import (
	"context"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/startgate/startgate/envcheck"
)

// slots are those of every Redis Cluster.
const slots = 16384

// examination is what is asked of a server that is ready, in a second write: a
// server that is not is spared it.
type examination struct {
	greeting    greeting
	persistence string
	memory      *redis.StringCmd // nil, as the others, when not asked
	script      *redis.Cmd
	cluster     *redis.StringCmd
}

// examine judges what the family and the wait want of a server beside its
// being ready, which o says it is. It reports whether the connection broke.
func (s *session) examine(ctx context.Context, options RedisOptions, persistence string, o *Outcome) (broken bool) {
	f := familyOf(options.Client)
	wanted := slices.Concat(f.wants, options.Prefer)
	x := examination{greeting: s.greeting, persistence: persistence}
	pipe := s.client.Pipeline()
	if slices.ContainsFunc(slices.Concat(wanted, options.Checks), func(c envcheck.Check) bool { return c.NoEviction }) {
		x.memory = pipe.Info(ctx, "memory")
	}
	if options.Require == envcheck.RequireWrite {
		if f.scripts {
			x.script = pipe.Do(ctx, "eval", "return 1", "0")
		}
		if s.greeting.mode == cluster {
			x.cluster = pipe.ClusterInfo(ctx)
		}
	}
	if pipe.Len() > 0 {
		_, err := pipe.Exec(ctx)
		if a := (answer{err: err}); a.broken() {
			*o = Outcome{Code: a.brokenCode(s.wire)}
			return true
		}
	}
	if code := x.fault(options); code != "" {
		*o = Outcome{Code: code}
		return false
	}
	for _, c := range wanted {
		if code := x.unmet(c); code != "" && !slices.Contains(o.Warnings, code) {
			o.Warnings = append(o.Warnings, code)
		}
	}
	return false
}

// fault is what keeps the worker from working here after all.
func (x *examination) fault(o RedisOptions) envcheck.Code {
	for _, c := range o.Checks {
		switch code := x.unmet(c); code {
		case "":
		case envcheck.RedisPersistenceWarning:
			return envcheck.RedisPersistenceFailing
		default:
			return code
		}
	}
	if x.script != nil && notAllowed(x.script.Err()) {
		return envcheck.RedisScriptsForbidden
	}
	if x.cluster == nil {
		return ""
	}
	info := x.cluster.Val()
	switch {
	case infoField(info, "cluster_state") == "fail", infoField(info, "cluster_slots_ok") != "" && infoNumber(info, "cluster_slots_ok") < slots:
		// With cluster-require-full-coverage no the state stays ok.
		return envcheck.RedisClusterDown
	case o.Topology != cluster && infoNumber(info, "cluster_size") > 1:
		// The key of the write test happened to belong here.
		return envcheck.RedisClusterRedirect
	}
	return ""
}

// unmet is the code of a check that the server does not pass, "" when it does
// or when nothing can be known of it.
func (x *examination) unmet(c envcheck.Check) envcheck.Code {
	switch {
	case x.greeting.tooOld(c):
		return envcheck.RedisVersionTooOld
	case c.Persistence && infoSavingFails(x.persistence):
		return envcheck.RedisPersistenceWarning
	case c.NoEviction:
		// Providers hide the policy, or say nothing in its place.
		if policy := infoField(x.memory.Val(), "maxmemory_policy"); policy != "" && policy != "noeviction" {
			return envcheck.RedisEvictionPolicy
		}
	}
	return ""
}

// notAllowed reports whether the user, or everybody, is kept from a command.
func notAllowed(err error) bool {
	var reply redis.Error
	if !errors.As(err, &reply) {
		return false
	}
	return replyFault(reply.Error()) == envcheck.RedisNotPermitted || unknownCommand(reply)
}
