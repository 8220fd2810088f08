package integration

import "testing"

// rightsRows are users that may not do all that a probe asks for.
func rightsRows() []row {
	user := func(tail string, rules ...string) func(t testing.TB) call {
		return func(t testing.TB) call {
			s := startRedis(t, redisOptions{})
			s.do(append([]string{"ACL", "SETUSER", "worker", "on", ">user-password"}, rules...)...)
			return at(s.url("worker:user-password@", tail))
		}
	}
	return []row{
		{"16", "user without INFO", "", user("", "~*", "+@all", "-info"), isReady("redis_info_unavailable")},
		{"17", "user without PING", "", user("", "~*", "+@all", "-ping"), isReady()},
		{"17a", "user with no right that a probe needs", "", user("", "~*", "-@all", "+get"), isReady("redis_unverified")},
		{"18", "user without SELECT, database 3", "", user("/3", "~*", "+@all", "-select"), isRefused("redis_not_permitted")},
		{"18a", "user without SELECT, database 0", "", user("", "~*", "+@all", "-select"), isReady()},
		{"19", "key of the write test outside of the user's", "", user("", "~rq:*", "+@all"), isReady("redis_write_unverified")},
		{"19a", "user without LPUSHX", "", user("", "~*", "+@all", "-lpushx"), isReady("redis_write_unverified")},
		{"19b", "key prefix within the user's", "", func(t testing.TB) call {
			c := user("", "~rq:*", "+@all")(t)
			c.flags = []string{"--key-prefix", "rq"}
			return c
		}, isReady()},
	}
}
