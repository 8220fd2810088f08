package compose

import (
	"regexp"
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
	// loose means that a variable is the port, which is its mark then, or the
	// database, which is -1.
	loose bool
}

// redisKeys are variables that hold Redis URLs for one client or another.
var redisKeys = []string{
	"BULLMQ_REDIS_URL", "RQ_REDIS_URL", "CELERY_BROKER_URL", "CELERY_RESULT_BACKEND", "REDIS_URL", "ASYNQ_REDIS_URL",
	"CACHE_REDIS_URL", "SESSION_REDIS_URL", "SIDEKIQ_REDIS_URL", "RESQUE_REDIS_URL",
}

// isRedisKey reports whether a variable is one for Redis URLs: by the
// contract, else by its name.
func (v *service) isRedisKey(name string) bool {
	if k := v.declared(name); k != nil {
		return k.Type == envcheck.TypeRedis
	}
	return slices.Contains(redisKeys, name)
}

// targets are the Redis servers that the service's variables name, by the
// names of the variables. What no client can read is not among them.
func (v *service) targets() []target { return v.facts.readable.of(v, v.findTargets) }

func (v *service) findTargets() []target {
	var found []target
	for _, t := range v.redisURLs() {
		if t.reason == "" {
			found = append(found, t)
		}
	}
	return found
}

// redisURLs are all values that are meant for Redis URLs.
func (v *service) redisURLs() []target { return v.facts.urls.of(v, v.findRedisURLs) }

func (v *service) findRedisURLs() []target {
	var found []target
	for _, name := range v.variableNames() {
		if t, ok := v.redisURL(v.variables[name]); ok {
			found = append(found, t)
		}
	}
	return found
}

// redisURL takes a variable for one with a Redis URL. A value of another
// broker's scheme is none, and neither is one that is not known at all.
func (v *service) redisURL(e *envVar) (t target, ok bool) {
	if !v.isRedisKey(e.name) || e.effective == "" || strings.HasPrefix(e.effective, markStart) {
		return t, false
	}
	if e.name == "CELERY_RESULT_BACKEND" && !strings.Contains(e.effective, ":") {
		return t, false // django-db, rpc and the like
	}
	if scheme, _, ok := strings.Cut(e.effective, "://"); ok && !slices.Contains(redisSchemes, strings.ToLower(scheme)) {
		return t, false
	}
	u, reason := envcheck.ParseRedisURL(v.client, e.effective)
	if reason != "" && marked(e.effective) {
		return v.looseURL(e)
	}
	t = target{variable: e, reason: reason}
	if reason == "" {
		t.parts = u.Reveal()
		t.host = strings.ToLower(t.parts.Host)
	}
	return t, true
}

// markedPort and markedDB find a mark where a Redis URL has a number.
var (
	markedPort = regexp.MustCompile(`:(` + markStart + `[0-9a-f]{8})(/|\?|$)`)
	markedDB   = regexp.MustCompile(`([^/]/)(` + markStart + `[0-9a-f]{8})(\?|$)`)
)

// looseURL is redisURL for a value in which a mark is a number, which it must
// not be for a parser.
func (v *service) looseURL(e *envVar) (t target, ok bool) {
	port := markedPort.FindStringSubmatch(e.effective)
	db := markedDB.FindStringSubmatch(e.effective)
	plain := markedPort.ReplaceAllString(e.effective, ":1$2")
	u, reason := envcheck.ParseRedisURL(v.client, markedDB.ReplaceAllString(plain, "${1}0$3"))
	if reason != "" {
		return t, false
	}
	t = target{variable: e, parts: u.Reveal(), loose: true}
	t.host = strings.ToLower(t.parts.Host)
	if port != nil {
		t.parts.Port = port[1]
	}
	if db != nil {
		t.parts.DB = -1
	}
	return t, true
}

// redisSchemes are those that the families' clients read.
var redisSchemes = []string{"redis", "rediss", "unix", "redis+socket", "redis-socket", "sentinel", "redis-sentinel"}
