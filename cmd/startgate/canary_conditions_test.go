package main

import (
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

// A condition is a state in which a Redis, or what answers in its stead, can
// be found.
type condition struct {
	name   string
	code   envcheck.Code // that one attempt must end with; "" is any
	exit   int           // of one attempt
	server func(c string) probetest.Behaviour
	url    func(c, address string) string // nil is withPassword
	env    []string
	down   bool
	// contract, when it is not "", applies: CANARY in it is replaced.
	contract string
}

func withPassword(c, address string) string {
	return "redis://" + c + ":" + c + "@" + address + "/0?x=" + c
}

func onlyPassword(c, address string) string { return "redis://:" + c + "@" + address + "/0#" + c }

// hasty keeps a peer that never answers from holding the suite up. The others
// get the time that a busy machine may need.
var hasty = []string{"STARTGATE_DIAL_TIMEOUT=0.4", "STARTGATE_REPLY_TIMEOUT=0.4"}

// knowing is a server that knows the canary as user and as password.
func knowing(b probetest.Behaviour) func(string) probetest.Behaviour {
	return func(c string) probetest.Behaviour {
		b := b
		b.Password, b.Users = c, map[string]string{c: c}
		return b
	}
}

// conditions of a server that speaks plain TCP. canary_tls_test.go has the
// others, canary_dns_linux_test.go those before there is a server at all.
var conditions = [...]condition{
	{name: "ready", code: envcheck.Ready, server: knowing(probetest.Behaviour{})},
	{name: "nothing listens", code: envcheck.RedisRefused, exit: 75, server: knowing(probetest.Behaviour{}), down: true},
	{name: "no way there", code: envcheck.RedisUnreachable, exit: 75, server: knowing(probetest.Behaviour{}),
		// The kernel refuses to connect to a broadcast address, and sends nothing.
		url: func(c, _ string) string { return "redis://" + c + ":" + c + "@255.255.255.255:6379/0" }},
	{name: "loading", code: envcheck.RedisLoading, exit: 75, server: knowing(probetest.Behaviour{Loading: &probetest.Loading{Percent: 61, ETA: 3 * time.Second}})},
	{name: "silent", code: envcheck.RedisReplyTimeout, exit: 75, env: hasty, server: knowing(probetest.Behaviour{Accept: probetest.AcceptSilent})},
	{name: "read-only", code: envcheck.RedisReadOnly, exit: 75, server: knowing(probetest.Behaviour{Replica: true})},
	{name: "wants a password", code: envcheck.RedisAuthRequired, exit: 69, server: knowing(probetest.Behaviour{}),
		url: func(c, address string) string { return "redis://" + address + "/0?x=" + c }},
	{name: "wants another password", code: envcheck.RedisAuthRejected, exit: 69,
		server: func(c string) probetest.Behaviour { return probetest.Behaviour{Password: "another"} }},
	{name: "wants no password", code: envcheck.RedisAuthNotConfigured, url: onlyPassword,
		server: func(string) probetest.Behaviour { return probetest.Behaviour{} }},
	{name: "lacks the database", code: envcheck.RedisDBInvalid, exit: 69, server: knowing(probetest.Behaviour{}),
		url: func(c, address string) string { return "redis://:" + c + "@" + address + "/99999" }},
	{name: "in protected mode", code: envcheck.RedisProtectedMode, exit: 69,
		server: knowing(probetest.Behaviour{Banner: probetest.ProtectedModeBanner, Accept: probetest.AcceptClose})},
	{name: "full of clients", code: envcheck.RedisMaxClients, exit: 75,
		server: knowing(probetest.Behaviour{Banner: probetest.MaxClientsBanner, Accept: probetest.AcceptClose})},
	{name: "busy", code: envcheck.RedisBusy, exit: 75, server: knowing(probetest.Behaviour{Busy: true})},
	{name: "cannot save", code: envcheck.RedisPersistenceFailing, exit: 75, server: knowing(probetest.Behaviour{Misconf: true})},
	{name: "out of memory", code: envcheck.RedisOutOfMemory, exit: 75, server: knowing(probetest.Behaviour{OOM: true})},
	{name: "short of replicas", code: envcheck.RedisNotEnoughReplicas, exit: 75, server: knowing(probetest.Behaviour{NoReplicas: true})},
	{name: "holds writes back", code: envcheck.RedisWritePaused, exit: 75, env: hasty, server: knowing(probetest.Behaviour{WritePause: true})},
	{name: "closes", code: envcheck.RedisClosed, exit: 75, server: knowing(probetest.Behaviour{Accept: probetest.AcceptClose})},
	{name: "answers with an error", code: envcheck.RedisErrorReply, exit: 75, server: replying("PING", "ERR not allowed: ")},
	{name: "a replica without its master", code: envcheck.RedisMasterDown, exit: 75, server: knowing(probetest.Behaviour{MasterDown: true})},
	{name: "a sentinel", code: envcheck.RedisIsSentinel, exit: 69, server: knowing(probetest.Behaviour{Mode: probetest.Sentinel})},
	{name: "an HTTP server", code: envcheck.RedisNotRedis, exit: 69,
		server: func(c string) probetest.Behaviour {
			return probetest.Behaviour{Banner: probetest.HTTPBanner + c, Accept: probetest.AcceptClose}
		}},

	{name: "may not select", code: envcheck.RedisNotPermitted, exit: 69, server: denying("SELECT"), url: onDatabase},
	{name: "may not run INFO", code: envcheck.RedisInfoUnavailable, server: denying("INFO")},
	{name: "may not write", code: envcheck.RedisWriteUnverified, server: denying("LPUSHX")},
	{name: "may do nothing", code: envcheck.RedisUnverified, server: denying("PING", "INFO", "LPUSHX")},

	{name: "a database of a cluster", code: envcheck.RedisDBOnCluster, exit: 69, server: knowing(probetest.Behaviour{Mode: probetest.Cluster}), url: onDatabase},
	{name: "a cluster that is down", code: envcheck.RedisClusterDown, exit: 75, server: replying("LPUSHX", "CLUSTERDOWN ")},
	{name: "a cluster's wrong node", code: envcheck.RedisClusterRedirect, exit: 69, server: replying("LPUSHX", "MOVED 7 ")},
}

func onDatabase(c, address string) string {
	return "redis://" + c + ":" + c + "@" + address + "/3?x=" + c
}

// replying is a server whose answer to one command is an error with the canary
// in it.
func replying(command, text string) func(string) probetest.Behaviour {
	return func(c string) probetest.Behaviour {
		return probetest.Behaviour{
			Password: c, Users: map[string]string{c: c},
			Replies: map[string]probetest.Reply{command: probetest.Error(text + c)},
		}
	}
}

// denying is a server that forbids the user the commands, by name.
func denying(commands ...string) func(string) probetest.Behaviour {
	return func(c string) probetest.Behaviour {
		b := probetest.Behaviour{Password: c, Users: map[string]string{c: c}, Replies: map[string]probetest.Reply{}}
		for _, command := range commands {
			b.Replies[command] = probetest.Error("NOPERM User " + c + " has no permissions to run the command")
		}
		return b
	}
}
