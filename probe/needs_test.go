package probe

import (
	"slices"
	"testing"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

// What families and waits need of a server beside its being ready.
func TestNeeds(t *testing.T) {
	evicts := probetest.Behaviour{Info: map[string]string{"maxmemory_policy": "allkeys-lru"}}
	hidden := probetest.Behaviour{Info: map[string]string{"maxmemory_policy": ""}}
	unsaved := probetest.Behaviour{Info: map[string]string{"rdb_last_bgsave_status": "err"}}
	noScripts := probetest.Behaviour{Replies: map[string]probetest.Reply{"EVAL": probetest.Error("NOPERM x")}}
	many := probetest.Behaviour{Mode: probetest.Cluster, Replies: map[string]probetest.Reply{
		"CLUSTER": probetest.Raw("$34\r\ncluster_state:ok\r\ncluster_size:2\r\n\r\n"),
	}}
	failing := probetest.Behaviour{Mode: probetest.Cluster, Replies: map[string]probetest.Reply{
		"CLUSTER": probetest.Raw("$20\r\ncluster_state:fail\r\n\r\n"),
	}}
	partial := probetest.Behaviour{Mode: probetest.Cluster, Replies: map[string]probetest.Reply{
		"CLUSTER": probetest.Raw("$41\r\ncluster_state:ok\r\ncluster_slots_ok:8192\r\n\r\n"),
	}}
	noHello := probetest.Behaviour{Replies: map[string]probetest.Reply{"HELLO": probetest.Unknown()}}
	noEviction := []envcheck.Check{{NoEviction: true}}
	for _, c := range []struct {
		name      string
		behaviour probetest.Behaviour
		options   func(o *RedisOptions)
		want      envcheck.Code
		warnings  []envcheck.Code
	}{
		{"evicts, generic", evicts, func(*RedisOptions) {}, envcheck.Ready, nil},
		{"evicts, BullMQ", evicts, func(o *RedisOptions) { o.Client = envcheck.BullMQ }, envcheck.Ready, []envcheck.Code{envcheck.RedisEvictionPolicy}},
		{"evicts, preferred", evicts, func(o *RedisOptions) { o.Prefer = noEviction }, envcheck.Ready, []envcheck.Code{envcheck.RedisEvictionPolicy}},
		{"evicts, required", evicts, func(o *RedisOptions) { o.Checks = noEviction }, envcheck.RedisEvictionPolicy, nil},
		{"does not evict, required", probetest.Behaviour{}, func(o *RedisOptions) { o.Checks = noEviction }, envcheck.Ready, nil},
		{"hides its policy, required", hidden, func(o *RedisOptions) { o.Checks = noEviction }, envcheck.Ready, nil},
		{"cannot save", unsaved, func(*RedisOptions) {}, envcheck.Ready, []envcheck.Code{envcheck.RedisPersistenceWarning}},
		{"cannot save, preferred", unsaved, func(o *RedisOptions) { o.Prefer = []envcheck.Check{{Persistence: true}} }, envcheck.Ready, []envcheck.Code{envcheck.RedisPersistenceWarning}},
		{"cannot save, required", unsaved, func(o *RedisOptions) { o.Checks = []envcheck.Check{{Persistence: true}} }, envcheck.RedisPersistenceFailing, nil},
		{"version, required", probetest.Behaviour{Version: "6.0.16"}, func(o *RedisOptions) { o.Checks = []envcheck.Check{{Version: "6.2"}} }, envcheck.RedisVersionTooOld, nil},
		{"version, preferred", probetest.Behaviour{Version: "6.0.16"}, func(o *RedisOptions) { o.Prefer = []envcheck.Check{{Version: "6.2"}} }, envcheck.Ready, []envcheck.Code{envcheck.RedisVersionTooOld}},
		{"version of Sidekiq", probetest.Behaviour{Version: "6.0.16"}, func(o *RedisOptions) { o.Client = envcheck.Sidekiq }, envcheck.RedisVersionTooOld, nil},
		{"version of BullMQ", probetest.Behaviour{Version: "6.0.16"}, func(o *RedisOptions) { o.Client = envcheck.BullMQ }, envcheck.Ready, []envcheck.Code{envcheck.RedisVersionTooOld}},
		{"no HELLO, RQ", noHello, func(o *RedisOptions) { o.Client = envcheck.RQ }, envcheck.Ready, []envcheck.Code{envcheck.RedisVersionTooOld}},
		{"no HELLO, Sidekiq", noHello, func(o *RedisOptions) { o.Client = envcheck.Sidekiq }, envcheck.RedisVersionTooOld, nil},
		{"no HELLO, Celery", noHello, func(o *RedisOptions) { o.Client = envcheck.Celery }, envcheck.Ready, nil},
		{"a version that is none", probetest.Behaviour{Version: "df-1.2"}, func(o *RedisOptions) { o.Checks = []envcheck.Check{{Version: "6.2"}} }, envcheck.Ready, nil},
		{"scripts, RQ", noScripts, func(o *RedisOptions) { o.Client = envcheck.RQ }, envcheck.Ready, nil},
		{"scripts, asynq", noScripts, func(o *RedisOptions) { o.Client = envcheck.Asynq }, envcheck.RedisScriptsForbidden, nil},
		{"scripts, asynq, ping", noScripts, func(o *RedisOptions) { o.Client, o.Require = envcheck.Asynq, envcheck.RequirePing }, envcheck.Ready, nil},
		{"has no LPUSHX", probetest.Behaviour{Replies: map[string]probetest.Reply{"LPUSHX": probetest.Unknown()}}, func(*RedisOptions) {}, envcheck.Ready, []envcheck.Code{envcheck.RedisWriteUnverified}},
		{"full", probetest.Behaviour{OOM: true}, func(o *RedisOptions) { o.OOM = envcheck.AsWarn }, envcheck.Ready, []envcheck.Code{envcheck.RedisOutOfMemory}},
		{"full, Sidekiq", probetest.Behaviour{OOM: true}, func(o *RedisOptions) { o.Client = envcheck.Sidekiq }, envcheck.Ready, []envcheck.Code{envcheck.RedisOutOfMemory}},
		{"full, Celery", probetest.Behaviour{OOM: true}, func(o *RedisOptions) { o.Client = envcheck.Celery }, envcheck.RedisOutOfMemory, nil},
		{"full, retried", probetest.Behaviour{OOM: true}, func(o *RedisOptions) { o.OOM = envcheck.Retry }, envcheck.RedisOutOfMemory, nil},

		{"cluster of one node", probetest.Behaviour{Mode: probetest.Cluster}, func(*RedisOptions) {}, envcheck.Ready, nil},
		{"cluster, RQ", probetest.Behaviour{Mode: probetest.Cluster}, func(o *RedisOptions) { o.Client = envcheck.RQ }, envcheck.RedisClusterMode, nil},
		{"cluster of two, key is here", many, func(*RedisOptions) {}, envcheck.RedisClusterRedirect, nil},
		{"cluster of two, as such", many, func(o *RedisOptions) { o.Topology = cluster }, envcheck.Ready, nil},
		{"cluster that fails", failing, func(o *RedisOptions) { o.Topology = cluster }, envcheck.RedisClusterDown, nil},
		{"cluster that lacks slots", partial, func(o *RedisOptions) { o.Topology = cluster }, envcheck.RedisClusterDown, nil},
		{"no cluster", probetest.Behaviour{}, func(o *RedisOptions) { o.Topology = cluster }, envcheck.RedisNotACluster, nil},

		{"reachable, password missing", probetest.Behaviour{Password: "p"}, func(o *RedisOptions) { o.Require = envcheck.RequireReachable }, envcheck.Ready, nil},
		{"reachable, loading", probetest.Behaviour{Loading: &probetest.Loading{}}, func(o *RedisOptions) { o.Require = envcheck.RequireReachable }, envcheck.Ready, nil},
		{"reachable, sentinel", probetest.Behaviour{Mode: probetest.Sentinel}, func(o *RedisOptions) { o.Require = envcheck.RequireReachable }, envcheck.RedisIsSentinel, nil},
		{"reachable, not Redis", probetest.Behaviour{Banner: probetest.HTTPBanner, Accept: probetest.AcceptSilent}, func(o *RedisOptions) { o.Require = envcheck.RequireReachable }, envcheck.RedisNotRedis, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := options()
			c.options(&o)
			got := newRedis(t, probetest.New(t, c.behaviour).URL(), o).Probe(t.Context())
			if got.Code != c.want || got.Verdict != verdict(c.want) || !slices.Equal(got.Warnings, c.warnings) {
				t.Errorf("%s %v, want %s %v", got.Code, got.Warnings, c.want, c.warnings)
			}
		})
	}
}

// A password where there is none is refused by what says AUTH alone.
func TestPasswordThatNobodyWants(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{})
	for client, want := range map[envcheck.Client]envcheck.Code{
		envcheck.Generic: envcheck.Ready, envcheck.RQ: envcheck.Ready, envcheck.Celery: envcheck.RedisAuthNotConfigured,
	} {
		o := options()
		o.Client = client
		got := newRedis(t, at(s, "redis", ":p@", ""), o).Probe(t.Context())
		if got.Code != want || got.Verdict != verdict(want) || want == envcheck.Ready && !slices.Equal(got.Warnings, []envcheck.Code{envcheck.RedisAuthNotConfigured}) {
			t.Errorf("%s: %s %v, want %s", client, got.Code, got.Warnings, want)
		}
	}
}

// A fault that an examination found is looked for again: the operator may have
// cured it, while the connection lasts.
func TestNeedsAreLookedAtAgain(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{Info: map[string]string{"maxmemory_policy": "allkeys-lru"}})
	o := options()
	o.Checks = []envcheck.Check{{NoEviction: true}}
	r := newRedis(t, s.URL(), o)
	if got := r.Probe(t.Context()); got.Code != envcheck.RedisEvictionPolicy {
		t.Fatalf("%s, want %s", got.Code, envcheck.RedisEvictionPolicy)
	}
	s.Set(probetest.Behaviour{})
	if got := r.Probe(t.Context()); got.Code != envcheck.Ready {
		t.Errorf("%s, want ready", got.Code)
	}
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		version, limit string
		want           bool
	}{
		{"7.0.15", "6.2", false}, {"6.0.16", "6.2", true}, {"6.2", "6.2", false}, {"6.2.0", "6.2.1", true},
		{"10.0.0", "9.9", false}, {"5", "6.0", true}, {"6", "6.0", false}, {"", "6.2", false}, {"7.0.15", "", false}, {"6.x", "6.2", false},
	} {
		if got := older(c.version, c.limit); got != c.want {
			t.Errorf("older(%q, %q) = %v", c.version, c.limit, got)
		}
	}
}
