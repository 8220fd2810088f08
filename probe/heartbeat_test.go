package probe_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe"
	"github.com/startgate/startgate/probe/probetest"
)

// Heartbeats are as old as the server's clock has it. The worker writes its own
// time, so that of all clocks only these two must agree; this machine's is days
// away from both.
func TestBeatGoesByTheServersClock(t *testing.T) {
	const server = 1_700_000_000 // 2023-11-14T22:13:20Z
	at := func(age int) time.Time { return time.Unix(int64(server-age), 0).UTC() }
	bulk := func(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }
	list := func(s string) probetest.Reply { return probetest.Raw("*1\r\n" + bulk(s)) }
	families := map[envcheck.Client]func(age int) map[string]probetest.Reply{
		envcheck.RQ: func(age int) map[string]probetest.Reply {
			return map[string]probetest.Reply{"SMEMBERS": list("rq:worker:x"), "HMGET": probetest.Raw(
				"*4\r\n" + bulk("here") + bulk("7") + bulk(at(age).Format("2006-01-02T15:04:05.000000Z")) + "$-1\r\n")}
		},
		envcheck.Sidekiq: func(age int) map[string]probetest.Reply {
			return map[string]probetest.Reply{"SMEMBERS": list("here:7:0a1b"), "HGET": probetest.Raw(bulk(fmt.Sprintf("%d.25", server-age)))}
		},
		envcheck.Asynq: func(age int) map[string]probetest.Reply { // has the time at which it ends
			return map[string]probetest.Reply{"ZRANGE": list("asynq:servers:{here:7:0a1b}"), "ZSCORE": probetest.Raw(bulk(fmt.Sprint(server - age)))}
		},
	}
	for _, c := range []struct {
		family envcheck.Client
		age    int // in seconds
		maxAge time.Duration
		want   envcheck.Code
	}{
		{envcheck.RQ, 470, 0, ""},
		{envcheck.RQ, 490, 0, envcheck.HealthHeartbeatStale},
		{envcheck.RQ, 40, 30 * time.Second, envcheck.HealthHeartbeatStale},
		{envcheck.RQ, -600, 0, ""}, // a worker whose clock is ahead
		{envcheck.Sidekiq, 50, 0, ""},
		{envcheck.Sidekiq, 70, 0, envcheck.HealthHeartbeatStale},
		{envcheck.Sidekiq, 70, 80 * time.Second, ""},
		{envcheck.Asynq, -9, 0, ""},
		{envcheck.Asynq, 1, 0, envcheck.HealthHeartbeatStale},
	} {
		replies := families[c.family](c.age)
		replies["TIME"] = probetest.Raw("*2\r\n" + bulk(fmt.Sprint(server)) + bulk("0"))
		u, _ := envcheck.ParseRedisURL(envcheck.Generic, probetest.New(t, probetest.Behaviour{Replies: replies}).URL())
		for _, h := range []struct {
			what string
			beat probe.Heartbeat
			want envcheck.Code
		}{
			{"this worker", probe.Heartbeat{Host: "here", Here: func(pid int) bool { return pid == 7 }}, c.want},
			{"a worker of another number", probe.Heartbeat{Host: "here", Here: func(pid int) bool { return pid == 8 }}, envcheck.HealthHeartbeatMissing},
			{"a worker of another host", probe.Heartbeat{Host: "her", Here: func(int) bool { return true }}, envcheck.HealthHeartbeatMissing},
		} {
			h.beat.Family, h.beat.MaxAge = c.family, c.maxAge
			if got := probe.Beat(t.Context(), u, probe.RedisOptions{DialTimeout: time.Second, ReplyTimeout: 5 * time.Second}, h.beat); got != h.want {
				t.Errorf("%s, %d s old, at most %s, of %s: got %q, want %q", c.family, c.age, c.maxAge, h.what, got, h.want)
			}
		}
	}
}

// A worker that has run for less than its heartbeat is old was not there when
// it was written: it is that of one before it, of the same host and number.
func TestBeatOfAnEarlierWorker(t *testing.T) {
	member := "here:7:0a1b"
	s := probetest.New(t, probetest.Behaviour{Replies: map[string]probetest.Reply{
		"TIME": probetest.Raw("*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n"), "HGET": probetest.Raw("$10\r\n1699999980\r\n"),
		"SMEMBERS": probetest.Raw(fmt.Sprintf("*1\r\n$%d\r\n%s\r\n", len(member), member)),
	}})
	u, _ := envcheck.ParseRedisURL(envcheck.Generic, s.URL())
	for runs, want := range map[time.Duration]envcheck.Code{0: "", time.Hour: "", 5 * time.Second: envcheck.HealthHeartbeatStale} {
		got := probe.Beat(t.Context(), u, probe.RedisOptions{DialTimeout: time.Second, ReplyTimeout: 5 * time.Second},
			probe.Heartbeat{Family: envcheck.Sidekiq, Host: "here", Here: func(int) bool { return true }, Runs: runs})
		if got != want {
			t.Errorf("of a worker that runs for %s: got %q, want %q", runs, got, want)
		}
	}
}
