package probetest_test

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/startgate/startgate/probe/probetest"
)

func TestLoadingIsReadyWhenSet(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{Loading: &probetest.Loading{Percent: 61, ETA: 3900 * time.Millisecond, Total: 1000}})
	c := dial(t, s)
	info := c.ask("INFO", "persistence")
	check(t, "loading", field(info, "loading"), "1")
	check(t, "async_loading", field(info, "async_loading"), "0")
	check(t, "percentage", field(info, "loading_loaded_perc"), "61.00")
	check(t, "bytes", field(info, "loading_loaded_bytes"), "610")
	check(t, "total", field(info, "loading_total_bytes"), "1000")
	check(t, "eta", field(info, "loading_eta_seconds"), "3")
	check(t, "PING", c.ask("PING"), loading)

	s.Set(probetest.Behaviour{})
	check(t, "PING", c.ask("PING"), "+PONG\r\n")
	info = c.ask("INFO", "persistence")
	check(t, "loading", field(info, "loading"), "0")
	check(t, "percentage", field(info, "loading_loaded_perc"), "absent")
}

func TestLoadingFollowsTheClock(t *testing.T) {
	now := time.Now()
	s := probetest.New(t, probetest.Behaviour{Loading: &probetest.Loading{Start: now.Add(-time.Hour), End: now.Add(3 * time.Hour)}})
	c := dial(t, s)
	info := c.ask("INFO")
	check(t, "percentage", field(info, "loading_loaded_perc")[:3], "25.")
	check(t, "eta", field(info, "loading_eta_seconds")[:3], "107")
	check(t, "PING", c.ask("PING"), loading)
	s.Set(probetest.Behaviour{Loading: probetest.LoadFor(0)})
	check(t, "PING at the end", c.ask("PING"), "+PONG\r\n")
	check(t, "loading at the end", field(c.ask("INFO"), "loading"), "0")
}

func TestAsyncLoadingServesOldData(t *testing.T) {
	c := dial(t, probetest.New(t, probetest.Behaviour{Loading: &probetest.Loading{Async: true}}))
	info := c.ask("INFO")
	check(t, "loading", field(info, "loading"), "0")
	check(t, "async_loading", field(info, "async_loading"), "1")
	check(t, "PING", c.ask("PING"), "+PONG\r\n")
	check(t, "write", c.ask("LPUSHX", "k", "v"), readOnly)
}

func TestInfoShowsTheState(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{})
	c := dial(t, s)
	dial(t, s).ask("PING")
	for _, tt := range []struct {
		behaviour   probetest.Behaviour
		field, want string
	}{
		{probetest.Behaviour{}, "connected_clients", "2"},
		{probetest.Behaviour{}, "maxclients", "10000"},
		{probetest.Behaviour{}, "aof_enabled", "0"},
		{probetest.Behaviour{}, "maxmemory_policy", "noeviction"},
		{probetest.Behaviour{}, "role", "master"},
		{probetest.Behaviour{}, "master_link_status", "absent"},
		{probetest.Behaviour{Replica: true}, "role", "slave"},
		{probetest.Behaviour{Replica: true}, "master_link_status", "up"},
		{probetest.Behaviour{MasterDown: true}, "master_link_status", "down"},
		{probetest.Behaviour{Misconf: true}, "rdb_last_bgsave_status", "err"},
		{probetest.Behaviour{OOM: true}, "maxmemory", "1"},
		{probetest.Behaviour{NoReplicas: true}, "min_slaves_good_slaves", "0"},
		{probetest.Behaviour{Version: "6.0.16"}, "redis_version", "6.0.16"},
		{probetest.Behaviour{Mode: probetest.Cluster}, "redis_mode", "cluster"},
		{probetest.Behaviour{Mode: probetest.Cluster}, "cluster_enabled", "1"},
		{probetest.Behaviour{Info: map[string]string{"connected_clients": "1000"}}, "connected_clients", "1000"},
		{probetest.Behaviour{Info: map[string]string{"valkey_version": "8.0.1"}}, "valkey_version", "8.0.1"},
	} {
		s.Set(tt.behaviour)
		check(t, tt.field, field(c.ask("INFO"), tt.field), tt.want)
	}
	s.Set(probetest.Behaviour{Info: map[string]string{"redis_version": "1", "own": "2"}})
	check(t, "field of another section", field(c.ask("INFO", "Clients"), "redis_version"), "absent")
	check(t, "field of no section", field(c.ask("INFO", "Clients"), "own"), "2")
}

func TestCredentialsRotate(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{Password: "old", Users: map[string]string{"bob": "b"}})
	first, second := dial(t, s), dial(t, s)
	check(t, "old password", first.ask("AUTH", "old"), "+OK\r\n")
	check(t, "other user", second.ask("AUTH", "bob", "b"), "+OK\r\n")
	check(t, "password of another user", second.ask("AUTH", "bob", "old"), wrongPass)
	b := s.Behaviour()
	b.Password = "new"
	b.Users["bob"] = "c" // a copy: nothing happens before Set
	check(t, "before Set", second.ask("AUTH", "bob", "b"), "+OK\r\n")
	s.Set(b)
	check(t, "open connection", first.ask("PING"), "+PONG\r\n")
	check(t, "old password", dial(t, s).ask("HELLO", "3", "AUTH", "default", "old"), wrongPass)
	check(t, "new password", dial(t, s).ask("AUTH", "default", "new"), "+OK\r\n")
	check(t, "other user's old password", dial(t, s).ask("AUTH", "bob", "b"), wrongPass)
}

func TestRESP3(t *testing.T) {
	c := dial(t, probetest.New(t, probetest.Behaviour{}))
	hello := c.ask("HELLO", "3")
	if !strings.HasPrefix(hello, "%7\r\n") || !strings.Contains(hello, "proto\r\n:3\r\n") {
		t.Errorf("HELLO: got %q, want a map of 7", hello)
	}
	check(t, "INFO", c.ask("INFO", "cluster"), "=34\r\ntxt:# Cluster\r\ncluster_enabled:0\r\n\r\n")
	check(t, "nothing", c.ask("GET", "k"), "_\r\n")
	c.ask("RESET")
	check(t, "nothing, after RESET", c.ask("GET", "k"), "$-1\r\n")
}

func TestSentinelKnowsItsMasters(t *testing.T) {
	c := dial(t, probetest.New(t, probetest.Behaviour{
		Mode:    probetest.Sentinel,
		Masters: map[string]string{"mymaster": "127.0.0.1:6379"},
	}))
	check(t, "known", c.ask("SENTINEL", "get-master-addr-by-name", "mymaster"), "*2\r\n$9\r\n127.0.0.1\r\n$4\r\n6379\r\n")
	check(t, "unknown", c.ask("SENTINEL", "get-master-addr-by-name", "other"), "*-1\r\n")
	check(t, "other sentinels", c.ask("SENTINEL", "sentinels", "mymaster"), "*0\r\n")
	check(t, "ROLE", c.ask("ROLE"), "*2\r\n$8\r\nsentinel\r\n*1\r\n$8\r\nmymaster\r\n")
}

func TestClusterOwnsAllSlots(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{Mode: probetest.Cluster})
	c := dial(t, s)
	_, port, _ := net.SplitHostPort(s.Addr())
	check(t, "SLOTS", c.ask("CLUSTER", "SLOTS"), "*1\r\n*3\r\n:0\r\n:16383\r\n*4\r\n$9\r\n127.0.0.1\r\n:"+port+"\r\n$40\r\n0123456789abcdef0123456789abcdef01234567\r\n*0\r\n")
	check(t, "INFO", field(c.ask("CLUSTER", "INFO"), "cluster_state"), "ok")
	check(t, "write", c.ask("LPUSHX", "k", "v"), ":0\r\n")
}

func TestOnCommandDecidesTheAnswer(t *testing.T) {
	var s *probetest.Server
	var pings int
	s = probetest.New(t, probetest.Behaviour{
		Loading: &probetest.Loading{},
		OnCommand: func(_ int, c probetest.Command) {
			if c.Name == "PING" {
				pings++
			}
			if pings == 3 {
				s.Set(probetest.Behaviour{})
			}
		},
	})
	c := dial(t, s)
	check(t, "first", c.ask("PING"), loading)
	check(t, "second", c.ask("ping"), loading)
	check(t, "third", c.ask("PING"), "+PONG\r\n")
}

func TestURL(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{})
	check(t, "plain", s.URL(), "redis://"+s.Addr())
	s.Set(probetest.Behaviour{Password: "p/w"})
	check(t, "password", s.URL(), "redis://:p%2Fw@"+s.Addr())
	config, err := newCA(t).ServerConfig("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	s.Set(probetest.Behaviour{TLS: config})
	check(t, "TLS", s.URL(), "rediss://"+s.Addr())
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "redis.sock")
	s, err := probetest.Listen("unix", path, probetest.Behaviour{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	check(t, "URL", s.URL(), "unix://"+path)
	for range 2 {
		c, err := net.Dial("unix", path)
		check(t, "PING", newClient(t, c, err).ask("PING"), "+PONG\r\n")
		s.Down()
		if _, err := net.Dial("unix", path); err == nil {
			t.Error("down: connected")
		}
		if err := s.Up(); err != nil {
			t.Fatal(err)
		}
	}
}
