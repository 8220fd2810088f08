package probe

import (
	"context"
	"time"

	"github.com/startgate/startgate/envcheck"
)

const (
	// lastProbe is how long before the end of the budget the last attempt
	// starts.
	lastProbe = 100 * time.Millisecond
	// IdleMax is the longest pause over which a connection is kept, unless the
	// server is loading: a fleet's idle connections cost the server memory and
	// count as clients, and by that count a fleet knows its size.
	IdleMax = 2 * time.Second
)

// Limits bound a wait.
type Limits struct {
	// Budget is the time from the first attempt to the end of the wait. 0 is
	// one attempt.
	Budget time.Duration
	// RefuseAfter is how long a refusal must last before it is final.
	RefuseAfter time.Duration
	// IntervalMin and IntervalMax bound the pause between two attempts, before
	// a jitter of 50 % either way. 0 is 25 ms and 1 s.
	IntervalMin, IntervalMax time.Duration
}

// Wait repeats p's attempts until one is ready, a refusal is final or the
// budget is spent, and returns the outcome that decided. A spent budget returns
// the last outcome that says something about the peer: with the verdict Retry,
// or with Refuse where a refusal lasted to the end. Every outcome before that
// one is given to observe, when that is not nil. When ctx is cancelled Wait
// returns the outcome it has as soon as the attempt under way has ended.
//
// ctx and the budget are the only clock: p retries nothing by itself.
func Wait(ctx context.Context, p Prober, l Limits, observe func(Outcome)) Outcome {
	var (
		last         Outcome
		refusedSince time.Time
		pace         = newPace(l)
		end          = time.Now().Add(l.Budget)
	)
	if l.Budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end)
		defer cancel()
	}
	for {
		began := time.Now()
		o := p.Probe(ctx)
		now := time.Now()
		if o.Cut && last.Code != "" {
			o = last
		}
		last = o

		switch o.Verdict {
		case Ready:
			return o
		case Refuse:
			if refusedSince.IsZero() {
				refusedSince = began
			}
			if now.Sub(refusedSince) >= l.RefuseAfter {
				return o
			}
		case Retry:
			refusedSince = time.Time{}
		}
		if l.Budget == 0 || ctx.Err() != nil || end.Sub(began) <= lastProbe {
			return o
		}

		if observe != nil {
			observe(o)
		}
		pause := min(pace.next(o), end.Sub(now)-lastProbe)
		if pause > IdleMax && o.Code != envcheck.RedisLoading {
			p.Close()
		}
		if !sleep(ctx, pause) {
			return o
		}
	}
}

// sleep pauses for d and reports whether ctx still holds.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// verdict says what a condition means: waiting cures all but those listed here.
func verdict(c envcheck.Code) Verdict {
	switch c {
	case envcheck.Ready:
		return Ready
	case envcheck.RedisAuthRequired, envcheck.RedisAuthRejected, envcheck.RedisAuthNotConfigured, envcheck.RedisNotPermitted,
		envcheck.RedisDBInvalid, envcheck.RedisDBOnCluster, envcheck.RedisClusterRedirect,
		envcheck.RedisProtectedMode, envcheck.RedisIsSentinel, envcheck.RedisNotRedis,
		envcheck.RedisHostInvalid, envcheck.RedisTLSRequired, envcheck.RedisTLSNotSpoken,
		envcheck.RedisTLSUntrusted, envcheck.RedisTLSNameMismatch, envcheck.RedisTLSExpired,
		envcheck.RedisTLSClientCert, envcheck.RedisTLSRefused, envcheck.InternalError,
		envcheck.RedisSocketDenied, envcheck.RedisAddressInvalid, envcheck.RedisNotASentinel,
		envcheck.RedisNotACluster, envcheck.RedisClusterMode, envcheck.RedisVersionTooOld,
		envcheck.RedisEvictionPolicy, envcheck.RedisScriptsForbidden:
		return Refuse
	case envcheck.PostgresNotPostgres, envcheck.PostgresNoDatabase, envcheck.PostgresNotPermitted,
		envcheck.PostgresTLSNotOffered, envcheck.PostgresTLSUntrusted, envcheck.PostgresTLSNameMismatch,
		envcheck.PostgresTLSExpired, envcheck.PostgresTLSRefused:
		return Refuse
	case envcheck.HTTPNotHTTP, envcheck.HTTPForbidden, envcheck.HTTPTLSNotSpoken, envcheck.HTTPTLSUntrusted,
		envcheck.HTTPTLSNameMismatch, envcheck.HTTPTLSExpired, envcheck.HTTPTLSRefused:
		return Refuse
	}
	return Retry
}
