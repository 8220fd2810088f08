package probe

import (
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

// prober returns what probes the address that parts say.
func prober(t *testing.T, p envcheck.RedisParts, o RedisOptions) Prober {
	t.Helper()
	r := NewRedis(envcheck.Seal(p), o)
	t.Cleanup(r.Close)
	return r
}

// deaf is an address at which nothing listens, or will.
func deaf(t *testing.T) string {
	t.Helper()
	s := probetest.New(t, probetest.Behaviour{})
	s.Down()
	return s.Addr()
}

func TestSentinel(t *testing.T) {
	master := probetest.New(t, probetest.Behaviour{})
	replica := probetest.New(t, probetest.Behaviour{Replica: true})
	knows := probetest.New(t, probetest.Behaviour{Mode: probetest.Sentinel, Masters: map[string]string{"m": master.Addr(), "old": replica.Addr(), "dead": deaf(t)}})
	other := probetest.New(t, probetest.Behaviour{Mode: probetest.Sentinel})
	guarded := probetest.New(t, probetest.Behaviour{Mode: probetest.Sentinel, Password: "p", Masters: map[string]string{"m": master.Addr()}})
	http := probetest.New(t, probetest.Behaviour{Banner: probetest.HTTPBanner, Accept: probetest.AcceptSilent})
	silent := probetest.New(t, probetest.Behaviour{Accept: probetest.AcceptSilent})
	for _, c := range []struct {
		name      string
		sentinels []string
		master    string
		password  string
		want      envcheck.Code
	}{
		{"one knows it", []string{knows.Addr()}, "m", "", envcheck.Ready},
		{"the second knows it", []string{other.Addr(), knows.Addr()}, "m", "", envcheck.Ready},
		{"the first is down", []string{deaf(t), knows.Addr()}, "m", "", envcheck.Ready},
		{"the first is silent", []string{silent.Addr(), knows.Addr()}, "m", "", envcheck.Ready},
		{"the first is none, the second may come", []string{master.Addr(), deaf(t)}, "m", "", envcheck.RedisSentinelUnreachable},
		{"none knows it", []string{other.Addr(), knows.Addr()}, "n", "", envcheck.RedisSentinelNoMaster},
		{"the one that is up does not know it", []string{deaf(t), other.Addr()}, "m", "", envcheck.RedisSentinelNoMaster},
		{"all are down", []string{deaf(t), deaf(t)}, "m", "", envcheck.RedisSentinelUnreachable},
		{"silent", []string{silent.Addr()}, "m", "", envcheck.RedisSentinelUnreachable},
		{"a Redis", []string{master.Addr()}, "m", "", envcheck.RedisNotASentinel},
		{"not Redis at all", []string{http.Addr()}, "m", "", envcheck.RedisNotRedis},
		{"with a password", []string{guarded.Addr()}, "m", "p", envcheck.Ready},
		{"without the password", []string{guarded.Addr()}, "m", "", envcheck.RedisAuthRequired},
		{"with another password", []string{guarded.Addr()}, "m", "q", envcheck.RedisAuthRejected},
		{"a master that is a replica by now", []string{knows.Addr()}, "old", "", envcheck.RedisReadOnly},
		{"a master that is dead", []string{knows.Addr()}, "dead", "", envcheck.RedisRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := envcheck.RedisParts{Sentinels: c.sentinels, Master: c.master, SentinelPassword: c.password}
			for _, require := range []envcheck.Require{envcheck.RequireWrite, envcheck.RequirePing} {
				o := options()
				o.Require = require
				if got := prober(t, p, o).Probe(t.Context()); got.Code != c.want || got.Verdict != verdict(c.want) {
					t.Errorf("%s: %s, want %s", require, got.Code, c.want)
				}
			}
		})
	}
}

// After a failover the Sentinels are asked again.
func TestSentinelFailover(t *testing.T) {
	first, second := probetest.New(t, probetest.Behaviour{}), probetest.New(t, probetest.Behaviour{})
	first.Set(probetest.Behaviour{Loading: &probetest.Loading{}})
	s := probetest.New(t, probetest.Behaviour{Mode: probetest.Sentinel, Masters: map[string]string{"m": first.Addr()}})
	r := prober(t, envcheck.RedisParts{Sentinels: []string{s.Addr()}, Master: "m"}, options())
	for _, step := range []struct {
		change func()
		want   envcheck.Code
	}{
		{func() {}, envcheck.RedisLoading},
		{func() {
			s.Set(probetest.Behaviour{Mode: probetest.Sentinel, Masters: map[string]string{"m": second.Addr()}})
			first.Set(probetest.Behaviour{Replica: true})
		}, envcheck.RedisReadOnly},
		{func() {}, envcheck.Ready},
	} {
		step.change()
		if got := r.Probe(t.Context()); got.Code != step.want {
			t.Errorf("%s, want %s", got.Code, step.want)
		}
	}
}

func TestClusterFollowsTheKey(t *testing.T) {
	owner := probetest.New(t, probetest.Behaviour{Mode: probetest.Cluster, Password: "p"})
	moved := func(to string) probetest.Behaviour {
		return probetest.Behaviour{Mode: probetest.Cluster, Password: "p", Replies: map[string]probetest.Reply{
			"LPUSHX": probetest.Error("MOVED 7 " + to),
		}}
	}
	_, port, _ := strings.Cut(owner.Addr(), ":")
	for _, c := range []struct {
		name, to string
		want     envcheck.Code
	}{
		{"to its owner", owner.Addr(), envcheck.Ready},
		{"to a port of the same host", ":" + port, envcheck.Ready},
		{"to a node that is down", deaf(t), envcheck.RedisRefused},
		{"to a node that moves it on", probetest.New(t, moved(owner.Addr())).Addr(), envcheck.RedisClusterDown},
		{"to no address", "x", envcheck.RedisClusterDown},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options()
			o.Topology = cluster
			s := probetest.New(t, moved(c.to))
			r := newRedis(t, at(s, "redis", ":p@", ""), o)
			for range 2 {
				if got := r.Probe(t.Context()); got.Code != c.want || got.Verdict != verdict(c.want) {
					t.Errorf("%s, want %s", got.Code, c.want)
				}
			}
		})
	}
}

// Redis writes an IPv6 address without brackets.
func TestClusterFollowsToIPv6(t *testing.T) {
	for _, to := range []string{"::1:1", "[::1]:1"} {
		o := options()
		o.Topology = cluster
		s := probetest.New(t, probetest.Behaviour{Mode: probetest.Cluster, Replies: map[string]probetest.Reply{"LPUSHX": probetest.Error("MOVED 7 " + to)}})
		r := newRedis(t, at(s, "redis", "", ""), o)
		if got := r.Probe(t.Context()); got.Verdict == Ready {
			t.Errorf("%s", got.Code)
		}
		if r.node == nil || r.node.dialer.host != "::1" || r.node.dialer.port != "1" {
			t.Errorf("%s is not asked", to)
		}
	}
}

// A redirection belongs to the write test's key. A PING has none.
func TestARedirectedPingNamesNoNode(t *testing.T) {
	o := options()
	o.Topology = cluster
	s := probetest.New(t, probetest.Behaviour{Mode: probetest.Cluster, Replies: map[string]probetest.Reply{"PING": probetest.Error("MOVED 7 127.0.0.1:1")}})
	r := newRedis(t, at(s, "redis", "", ""), o)
	if got := r.Probe(t.Context()); got.Code != envcheck.RedisClusterRedirect || r.node != nil {
		t.Errorf("%s", got.Code)
	}
}

// What a server said once another was ready is no answer to the next attempt.
func TestAnyOfForgetsWhatCameLate(t *testing.T) {
	first, second := probetest.New(t, probetest.Behaviour{}), probetest.New(t, probetest.Behaviour{})
	var p, other envcheck.RedisParts
	p.Host, p.Port, _ = net.SplitHostPort(first.Addr())
	other.Host, other.Port, _ = net.SplitHostPort(second.Addr())
	p.Others = []envcheck.RedisParts{other}
	a := prober(t, p, options()).(*anyOf)
	if got := a.Probe(t.Context()); got.Code != envcheck.Ready {
		t.Fatal(got.Code)
	}
	for len(a.outcomes) == 0 {
		runtime.Gosched()
	}
	first.Set(probetest.Behaviour{Loading: &probetest.Loading{}})
	second.Set(probetest.Behaviour{Loading: &probetest.Loading{}})
	if got := a.Probe(t.Context()); got.Code != envcheck.RedisLoading {
		t.Errorf("%s", got.Code)
	}
}

func TestAnyOf(t *testing.T) {
	ready, loading := probetest.New(t, probetest.Behaviour{}), probetest.New(t, probetest.Behaviour{Loading: &probetest.Loading{}})
	locked, silent := probetest.New(t, probetest.Behaviour{Password: "p"}), probetest.New(t, probetest.Behaviour{Accept: probetest.AcceptSilent})
	for _, c := range []struct {
		name    string
		servers []string
		want    envcheck.Code
	}{
		{"one is silent", []string{silent.Addr(), ready.Addr()}, envcheck.Ready},
		{"all ready", []string{ready.Addr(), ready.Addr()}, envcheck.Ready},
		{"the last is ready", []string{locked.Addr(), loading.Addr(), ready.Addr()}, envcheck.Ready},
		{"one may become ready", []string{locked.Addr(), loading.Addr()}, envcheck.RedisLoading},
		{"none can", []string{locked.Addr(), locked.Addr()}, envcheck.RedisAuthRequired},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p envcheck.RedisParts
			for i, address := range c.servers {
				var one envcheck.RedisParts
				one.Host, one.Port, _ = net.SplitHostPort(address)
				if i == 0 {
					p = one
				} else {
					p.Others = append(p.Others, one)
				}
			}
			a := prober(t, p, options())
			for range 2 {
				start := time.Now()
				if got := a.Probe(t.Context()); got.Code != c.want || got.Verdict != verdict(c.want) {
					t.Errorf("%s, want %s", got.Code, c.want)
				}
				if took := time.Since(start); c.want == envcheck.Ready && took >= options().ReplyTimeout {
					t.Errorf("took %s: as long as the silent one", took)
				}
			}
		})
	}
}
