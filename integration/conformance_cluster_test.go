package integration

import (
	"fmt"
	"strconv"
	"testing"
)

// allSlots is how many a cluster has. They are given out one by one: a command
// for ranges came with Redis 7.0.
const allSlots = 16384

// clusterRows are nodes of a cluster, as a client of single servers and one of
// clusters sees them.
func clusterRows() []row {
	follow := func(t testing.TB, s *redisServer) call {
		return under(t, "redis: REDIS_URL, topology: cluster", s.env()...)
	}
	return []row{
		{"22", "cluster, database 1", "", func(t testing.TB) call {
			return at(startNode(t).url("", "/1"))
		}, isRefused("redis_db_on_cluster")},
		{"23", "cluster without slots", "", func(t testing.TB) call {
			return at(startNode(t).url("", ""))
		}, isRetried("redis_cluster_down")},
		{"23a", "cluster with half of the slots", "", func(t testing.TB) call {
			return at(startCluster(t, allSlots/2).url("", ""))
		}, isRetried("redis_cluster_down")},
		{"23b", "same, topology: cluster", "", func(t testing.TB) call {
			return follow(t, startCluster(t, allSlots/2))
		}, isRetried("redis_cluster_down")},
		{"24", "cluster, every key on the other node", "", func(t testing.TB) call {
			return at(startCluster(t, 0, allSlots).url("", ""))
		}, isRefused("redis_cluster_redirect")},
		{"24a", "same, topology: cluster", "", func(t testing.TB) call {
			return follow(t, startCluster(t, 0, allSlots))
		}, isReady()},
		{"24b", "cluster, half of the keys on the other node", "", func(t testing.TB) call {
			s := startCluster(t, allSlots/2, allSlots/2)
			c := at(s.url("", ""))
			c.after = func() { neverReady(t, s) }
			return c
		}, isRefused("redis_cluster_redirect")},
		{"24c", "same, topology: cluster", "", func(t testing.TB) call {
			return follow(t, startCluster(t, allSlots/2, allSlots/2))
		}, isReady()},
		{"24d", "cluster of one node", "", func(t testing.TB) call {
			return at(startCluster(t, allSlots).url("", ""))
		}, isReady()},
		{"24e", "topology: cluster, is none", "", func(t testing.TB) call {
			return follow(t, startRedis(t, redisOptions{}))
		}, isRefused("redis_not_a_cluster")},
		{"24f", "cluster of one node, client: rq", "", func(t testing.TB) call {
			return under(t, "redis: REDIS_URL, client: rq", startCluster(t, allSlots).env()...)
		}, isRefused("redis_cluster_mode")},
	}
}

// startNode starts a node of a cluster that has no other and no slots.
func startNode(t testing.TB) *redisServer {
	t.Helper()
	return startRedis(t, redisOptions{port: clusterPort(t), args: []string{"--cluster-enabled", "yes"}})
}

// startCluster starts a cluster of nodes that have so many slots each, and
// returns the first node when all know of each other.
func startCluster(t testing.TB, slots ...int) *redisServer {
	t.Helper()
	var nodes []*redisServer
	given, owners := 0, 0
	for _, n := range slots {
		s := startNode(t)
		nodes = append(nodes, s)
		if n > 0 {
			add := []string{"CLUSTER", "ADDSLOTS"}
			for slot := range n {
				add = append(add, strconv.Itoa(given+slot))
			}
			s.do(add...)
			given += n
			owners++
		}
		if s != nodes[0] {
			nodes[0].do("CLUSTER", "MEET", "127.0.0.1", s.port)
		}
	}
	state := "fail"
	if given == allSlots {
		state = "ok"
	}
	for _, s := range nodes {
		eventually(t, "the cluster is complete", func() error {
			info := s.do("CLUSTER", "INFO")
			if infoField(info, "cluster_state") != state || infoField(info, "cluster_size") != strconv.Itoa(owners) {
				return errNotYet
			}
			return nil
		})
	}
	return nodes[0]
}

// neverReady asks often: the key of the write test is another one each time,
// and belongs to this node every other time.
func neverReady(t testing.TB, s *redisServer) {
	for range 20 {
		if p := run(t, s.env(), "probe"); p.code != 69 || !contains(p.stdout+p.stderr, "redis_cluster_redirect") {
			t.Errorf("exit %d: %s", p.code, fmt.Sprint(p.stdout, p.stderr))
		}
	}
}
