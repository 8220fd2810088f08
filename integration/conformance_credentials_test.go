package integration

import (
	"strings"
	"testing"
)

// credentialRows are credentials and databases that fit, and do not.
func credentialRows() []row {
	password := redisOptions{args: []string{"--requirepass", "right-password"}}
	return []row{
		{"1", "healthy", "", func(t testing.TB) call {
			return at(startRedis(t, redisOptions{}).url("", ""))
		}, isReady()},
		{"1a", "healthy, right password", "", func(t testing.TB) call {
			return at(startRedis(t, password).url(":right-password@", ""))
		}, isReady()},
		{"1b", "healthy, user and database", "", func(t testing.TB) call {
			s := startRedis(t, redisOptions{})
			s.do("ACL", "SETUSER", "worker", "on", ">user-password", "~*", "+@all")
			return at(s.url("worker:user-password@", "/3"))
		}, isReady()},
		{"12", "password missing", "", func(t testing.TB) call {
			return at(startRedis(t, password).url("", ""))
		}, isRefused("redis_auth_required")},
		{"13", "wrong password", "", func(t testing.TB) call {
			s := startRedis(t, password)
			c := at(s.url(":wrong-password@", ""))
			c.after = func() { checkOneFailedTry(t, s) }
			return c
		}, isRefused("redis_auth_rejected")},
		{"13a", "unknown user", "", func(t testing.TB) call {
			return at(startRedis(t, password).url("nobody:wrong-password@", ""))
		}, isRefused("redis_auth_rejected")},
		{"13b", "disabled user", "", func(t testing.TB) call {
			s := startRedis(t, redisOptions{})
			s.do("ACL", "SETUSER", "worker", "off", ">user-password", "~*", "+@all")
			return at(s.url("worker:user-password@", ""))
		}, isRefused("redis_auth_rejected")},
		{"14", "password given, server has none", "", func(t testing.TB) call {
			return at(startRedis(t, redisOptions{}).url(":some-password@", ""))
		}, isReady("redis_auth_not_configured")},
		// redis-py before 8 is refused there, and with it Celery; RQ may have a later one.
		{"14a", "same, client: rq", "", func(t testing.TB) call {
			return under(t, "redis: REDIS_URL, client: rq", redisURL(startRedis(t, redisOptions{}).url(":some-password@", ""))...)
		}, isReady("redis_auth_not_configured")},
		{"14b", "same, client: celery", "", func(t testing.TB) call {
			return under(t, "redis: REDIS_URL, client: celery", redisURL(startRedis(t, redisOptions{}).url(":some-password@", ""))...)
		}, isRefused("redis_auth_not_configured")},
		{"15", "user given, server has no ACL", "", func(t testing.TB) call {
			return at(startRedis(t, redisOptions{}).url("bobby:some-password@", ""))
		}, isRefused("redis_auth_rejected")},
		{"20", "database out of range", "", func(t testing.TB) call {
			return at(startRedis(t, redisOptions{args: []string{"--databases", "4"}}).url("", "/9"))
		}, isRefused("redis_db_invalid")},
		{"20a", "last database", "", func(t testing.TB) call {
			return at(startRedis(t, redisOptions{args: []string{"--databases", "4"}}).url("", "/3"))
		}, isReady()},
		{"21", "database -1", "", func(t testing.TB) call {
			return at(startRedis(t, redisOptions{}).url("", "/-1"))
		}, isInvalid("db_invalid")},
	}
}

// checkOneFailedTry checks that a wrong password costs one try only: the
// server's log of those is what fail2ban and its like count.
func checkOneFailedTry(t testing.TB, s *redisServer) {
	c, err := s.dial()
	if err != nil {
		t.Error(err)
		return
	}
	defer c.close()
	c.ask("AUTH", "right-password")
	reply, err := c.ask("ACL", "LOG")
	fields := strings.Split(reply, "\n")
	if err != nil || len(fields) < 2 || fields[0] != "count" || fields[1] != "1" || strings.Count(reply, "\ncount\n") > 0 {
		t.Errorf("ACL LOG has %q, %v; want one entry with count 1", fields, err)
	}
}
