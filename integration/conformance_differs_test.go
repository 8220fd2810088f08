package integration

import (
	"slices"
	"strings"
)

// A difference is where a server is not as its row says.
type difference struct {
	rows   string  // their numbers
	server string  // how the name begins of those that it is about
	want   verdict // none when the row cannot be shown there
	reason string
}

var differences = []difference{
	{"7", "redis 6.", verdict{}, "a replica that loads beside its old data came with 7.0"},
	{"34", "redis 6.0", verdict{}, "CLIENT PAUSE WRITE came with 6.2"},
	{"10", "redis 6.", isRetried("redis_read_only"), "PING says PONG before 7.0, and READONLY comes before MASTERDOWN"},
	{"68c", "redis 6.", isRefused("redis_version_too_old"), "it is too old"},
	{"68c", "redis 7.", isRefused("redis_version_too_old"), "it is too old"},
	{"69", "redis 6.0", isRefused("redis_version_too_old"), "Sidekiq wants 6.2"},
	{"69a", "redis 6.0", isReady("redis_eviction_policy", "redis_version_too_old"), "BullMQ would like 6.2"},
}

// on returns the row as it is on a server, or why it cannot be shown there.
func (r row) on(server program) (_ row, reason string) {
	for _, d := range differences {
		if !slices.Contains(strings.Fields(d.rows), r.number) || !strings.HasPrefix(server.name, d.server) {
			continue
		}
		if d.want.code == "" {
			return r, d.reason
		}
		r.want = d.want
	}
	return r, ""
}

// notShown are rows of the table that the gate is not shown anywhere.
var notShown = []struct{ number, name, reason string }{
	{"67", "pool misuse", "a fault of a gate, see TestRedisStartsAfterTheGate"},
}
