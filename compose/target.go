package compose

import (
	"slices"
	"strings"

	"github.com/startgate/startgate/envcheck"
)

// target is a Redis that a variable of a service names. Its parts may hold
// marks of what is not known, see [marked].
type target struct {
	variable *envVar
	parts    envcheck.RedisParts
	host     string // as it can be compared with the names of services
	reason   envcheck.Reason
}

// redisKeys are variables that hold Redis URLs for one client or another.
var redisKeys = []string{
	"BULLMQ_REDIS_URL", "RQ_REDIS_URL", "CELERY_BROKER_URL", "CELERY_RESULT_BACKEND", "REDIS_URL", "ASYNQ_REDIS_URL",
	"CACHE_REDIS_URL", "SESSION_REDIS_URL", "SIDEKIQ_REDIS_URL", "RESQUE_REDIS_URL",
}

// isRedisKey reports whether a variable is one for Redis URLs: by the
// contract, else by its name.
func (v *service) isRedisKey(name string) bool {
	if v.contract != nil {
		for _, k := range v.contract.Keys {
			if string(k.Key) == name {
				return k.Type == envcheck.TypeRedis
			}
		}
	}
	return slices.Contains(redisKeys, name)
}

// targets are the Redis servers that the service's variables name, by the
// names of the variables. What no client can read is not among them.
func (v *service) targets() []target {
	var found []target
	for _, t := range v.redisURLs() {
		if t.reason == "" {
			found = append(found, t)
		}
	}
	return found
}

// redisURLs are all values that are meant for Redis URLs. A value of another
// broker's scheme is none, and neither is one that is not known at all.
func (v *service) redisURLs() []target {
	var found []target
	for _, name := range v.variableNames() {
		e := v.variables[name]
		if !v.isRedisKey(name) || e.effective == "" || strings.HasPrefix(e.effective, markStart) {
			continue
		}
		if scheme, _, ok := strings.Cut(e.effective, "://"); ok && !slices.Contains(redisSchemes, strings.ToLower(scheme)) {
			continue
		}
		u, reason := envcheck.ParseRedisURL(v.client, e.effective)
		if reason != "" && marked(e.effective) {
			continue // a mark is no port and no database
		}
		t := target{variable: e, reason: reason}
		if reason == "" {
			t.parts = u.Reveal()
			t.host = strings.ToLower(t.parts.Host)
		}
		found = append(found, t)
	}
	return found
}

// redisSchemes are those of the families' clients.
var redisSchemes = []string{"redis", "rediss", "unix", "redis+socket", "sentinel", "valkey", "valkeys"}
