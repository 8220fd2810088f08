package main

import (
	"testing"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

// needs are conditions of what a wait of a contract asks for beside readiness.
var needs = [...]condition{
	{name: "evicts", code: envcheck.RedisEvictionPolicy, exit: 69, contract: waitFor("require: [noeviction]"),
		server: knowing(probetest.Behaviour{Info: map[string]string{"maxmemory_policy": "allkeys-lru"}})},
	{name: "is old", code: envcheck.RedisVersionTooOld, exit: 69, contract: waitFor("client: sidekiq"), server: knowing(probetest.Behaviour{Version: "6.0.16"})},
	{name: "is older than preferred", code: envcheck.RedisVersionTooOld, contract: waitFor("prefer: [version>=9.0]"), server: knowing(probetest.Behaviour{})},
	{name: "cannot save, by choice", code: envcheck.RedisPersistenceWarning, contract: waitFor("prefer: [persistence]"),
		server: knowing(probetest.Behaviour{Info: map[string]string{"rdb_last_bgsave_status": "err"}})},
	{name: "forbids scripts", code: envcheck.RedisScriptsForbidden, exit: 69, contract: waitFor("client: asynq"), server: denying("EVAL")},
	{name: "is out of memory, which is no matter", code: envcheck.RedisOutOfMemory, contract: waitFor("oom: warn"), server: knowing(probetest.Behaviour{OOM: true})},
	{name: "is a cluster", code: envcheck.RedisClusterMode, exit: 69, contract: waitFor("client: sidekiq"), server: knowing(probetest.Behaviour{Mode: probetest.Cluster})},
	{name: "is no cluster", code: envcheck.RedisNotACluster, exit: 69, contract: waitFor("topology: cluster"), server: knowing(probetest.Behaviour{})},
	{name: "moves the key to nowhere", code: envcheck.RedisClusterDown, exit: 75, contract: waitFor("topology: cluster"),
		server: func(c string) probetest.Behaviour {
			return probetest.Behaviour{
				Mode: probetest.Cluster, Users: map[string]string{c: c}, Password: c,
				Replies: map[string]probetest.Reply{"LPUSHX": probetest.Error("MOVED 1 " + c)},
			}
		}},
	{name: "knows no master", code: envcheck.RedisSentinelNoMaster, exit: 75, contract: sentinels, url: alone,
		server: func(string) probetest.Behaviour { return probetest.Behaviour{Mode: probetest.Sentinel} }},
	{name: "no sentinel", code: envcheck.RedisSentinelUnreachable, exit: 75, contract: sentinels, server: knowing(probetest.Behaviour{}), down: true, url: alone},
	{name: "a sentinel that is none", code: envcheck.RedisNotASentinel, exit: 69, contract: sentinels, url: alone,
		server: func(string) probetest.Behaviour { return probetest.Behaviour{} }},
	{name: "a sentinel that says more", exit: anyExit, contract: sentinels, url: alone,
		server: func(c string) probetest.Behaviour {
			return probetest.Behaviour{Mode: probetest.Sentinel, Replies: map[string]probetest.Reply{"SENTINEL": probetest.Raw("*2\r\n+" + c + "\r\n+" + c + "\r\n")}}
		}},
}

// waitFor is a contract with a wait that says so of its Redis.
func waitFor(says string) string {
	return "contract: 1\nname: needs\nkeys: {REDIS_URL: {type: redis_url}}\nwaits: [{redis: REDIS_URL, key_prefix: CANARY, " + says + "}]\n"
}

const sentinels = "contract: 1\nname: sentinels\nkeys: {REDIS_URL: {type: list}}\nwaits: [{redis: {sentinels: REDIS_URL, master: CANARY}}]\n"

func alone(_, address string) string { return address }

func TestNeeds(t *testing.T) {
	needsExec(t)
	t.Parallel()
	meet(t, needs[:])
}
