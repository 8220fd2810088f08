package integration

import "testing"

// nameRows are host names, as a name server of the test answers for them. The
// gate has it in a resolv.conf of its own mount namespace.
func nameRows() []row {
	lookUp := func(host string) func(t testing.TB) call {
		return func(t testing.TB) call {
			c := at("redis://" + host + ":16379") // which is longer than a fraction of a second
			c.through = startNameServer(t).through(t)
			return c
		}
	}
	return []row{
		{"51", "no such name", "name server", lookUp("nxdomain.test"), isRetried("redis_dns_not_found")},
		{"51a", "name without address", "name server", lookUp("nodata.test"), isRetried("redis_dns_not_found")},
		{"52", "SERVFAIL", "name server", lookUp("servfail.test"), isRetried("redis_dns_failed")},
		{"52a", "REFUSED", "name server", lookUp("refused.test"), isRetried("redis_dns_failed")},
		{"53", "name server silent", "name server", lookUp("silent.test"), isRetried("redis_dns_timeout")},
		{"54", "malformed host name", "nobody", func(t testing.TB) call {
			return at("redis://re_dis..x")
		}, isInvalid("host_invalid")},
	}
}
