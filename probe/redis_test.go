package probe

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

func options() RedisOptions {
	return RedisOptions{
		DialTimeout: 2 * time.Second, ReplyTimeout: time.Second,
		Verify: envcheck.VerifyFull, Require: envcheck.RequireWrite, KeyPrefix: "test",
	}
}

func newRedis(t *testing.T, url string, o RedisOptions) *server {
	t.Helper()
	u, reason := envcheck.ParseRedisURL(envcheck.Generic, url)
	if reason != "" {
		t.Fatalf("ParseRedisURL: %s", reason)
	}
	r := NewRedis(u, o).(*server)
	t.Cleanup(r.Close)
	return r
}

// at returns a URL for s with what comes before and after the address.
func at(s *probetest.Server, scheme, credentials, tail string) string {
	return scheme + "://" + credentials + s.Addr() + tail
}

func TestRedisConditions(t *testing.T) {
	for _, c := range []struct {
		name        string
		behaviour   probetest.Behaviour
		credentials string
		tail        string
		want        envcheck.Code
		verdict     Verdict
	}{
		{"healthy", probetest.Behaviour{}, "", "", envcheck.Ready, Ready},
		{"healthy, user, password, database", probetest.Behaviour{Users: map[string]string{"u": "p"}}, "u:p@", "/3", envcheck.Ready, Ready},
		{"valkey 8", probetest.Behaviour{Version: "7.2.4"}, "", "", envcheck.Ready, Ready},
		{"before HELLO", probetest.Behaviour{Password: "p", Replies: map[string]probetest.Reply{"HELLO": probetest.Unknown()}}, ":p@", "", envcheck.Ready, Ready},
		{"loading", probetest.Behaviour{Loading: &probetest.Loading{Percent: 61}}, "", "", envcheck.RedisLoading, Retry},
		{"loading in the background", probetest.Behaviour{Loading: &probetest.Loading{Async: true}}, "", "", envcheck.RedisLoading, Retry},
		{"KeyDB says PONG while loading", probetest.Behaviour{Loading: &probetest.Loading{}, Replies: map[string]probetest.Reply{
			"PING": probetest.Raw("+PONG\r\n"), "LPUSHX": probetest.Raw(":0\r\n"),
		}}, "", "", envcheck.RedisLoading, Retry},
		{"loading:0 in async_loading:0", probetest.Behaviour{Info: map[string]string{"loading": "1", "async_loading": "0"}}, "", "", envcheck.RedisLoading, Retry},
		{"password missing", probetest.Behaviour{Password: "p"}, "", "", envcheck.RedisAuthRequired, Refuse},
		{"password wrong", probetest.Behaviour{Password: "p"}, ":q@", "", envcheck.RedisAuthRejected, Refuse},
		{"password wrong while loading", probetest.Behaviour{Password: "p", Loading: &probetest.Loading{}}, ":q@", "", envcheck.RedisAuthRejected, Refuse},
		{"password missing while loading", probetest.Behaviour{Password: "p", Loading: &probetest.Loading{}}, "", "", envcheck.RedisAuthRequired, Refuse},
		{"password wrong before 6.0", probetest.Behaviour{Replies: map[string]probetest.Reply{"AUTH": probetest.Error("ERR invalid password")}}, ":q@", "", envcheck.RedisAuthRejected, Refuse},
		{"user unknown", probetest.Behaviour{Password: "p"}, "bob:p@", "", envcheck.RedisAuthRejected, Refuse},
		{"user, server without one", probetest.Behaviour{}, "bob:p@", "", envcheck.RedisAuthRejected, Refuse},
		{"database out of range", probetest.Behaviour{Databases: 4}, "", "/9", envcheck.RedisDBInvalid, Refuse},
		{"database out of range while loading", probetest.Behaviour{Databases: 4, Loading: &probetest.Loading{}}, "", "/9", envcheck.RedisDBInvalid, Refuse},
		{"protected mode", probetest.Behaviour{Banner: probetest.ProtectedModeBanner, Accept: probetest.AcceptClose}, "", "", envcheck.RedisProtectedMode, Refuse},
		{"too many clients", probetest.Behaviour{Banner: probetest.MaxClientsBanner, Accept: probetest.AcceptClose}, "", "", envcheck.RedisMaxClients, Retry},
		{"replica", probetest.Behaviour{Replica: true}, "", "", envcheck.RedisReadOnly, Retry},
		{"script", probetest.Behaviour{Busy: true}, "", "", envcheck.RedisBusy, Retry},
		{"snapshots fail", probetest.Behaviour{Misconf: true}, "", "", envcheck.RedisPersistenceFailing, Retry},
		{"out of memory", probetest.Behaviour{OOM: true}, "", "", envcheck.RedisOutOfMemory, Retry},
		{"too few replicas", probetest.Behaviour{NoReplicas: true}, "", "", envcheck.RedisNotEnoughReplicas, Retry},
		{"writes paused", probetest.Behaviour{WritePause: true}, "", "", envcheck.RedisWritePaused, Retry},
		{"sentinel", probetest.Behaviour{Mode: probetest.Sentinel}, "", "", envcheck.RedisIsSentinel, Refuse},
		{"silent", probetest.Behaviour{Accept: probetest.AcceptSilent}, "", "", envcheck.RedisReplyTimeout, Retry},
		{"closes", probetest.Behaviour{Accept: probetest.AcceptClose}, "", "", envcheck.RedisClosed, Retry},
		{"resets", probetest.Behaviour{Accept: probetest.AcceptReset}, "", "", envcheck.RedisClosed, Retry},
		{"half a reply", probetest.Behaviour{Replies: map[string]probetest.Reply{"INFO": probetest.Half("$100\r\nloading:0")}}, "", "", envcheck.RedisReplyTimeout, Retry},
		{"slow bytes", probetest.Behaviour{ByteInterval: 100 * time.Millisecond}, "", "", envcheck.RedisReplyTimeout, Retry},
		{"HTTP", probetest.Behaviour{Banner: probetest.HTTPBanner, Accept: probetest.AcceptSilent}, "", "", envcheck.RedisNotRedis, Refuse},
		{"SSH", probetest.Behaviour{Banner: probetest.SSHBanner, Accept: probetest.AcceptSilent}, "", "", envcheck.RedisNotRedis, Refuse},
		{"SMTP", probetest.Behaviour{Banner: probetest.SMTPBanner, Accept: probetest.AcceptSilent}, "", "", envcheck.RedisNotRedis, Refuse},
		{"AMQP, without a line end", probetest.Behaviour{Banner: probetest.AMQPBanner, Accept: probetest.AcceptSilent}, "", "", envcheck.RedisNotRedis, Refuse},
		{"POP3, which looks like RESP", probetest.Behaviour{Banner: "+OK ready\r\n", Accept: probetest.AcceptSilent}, "", "", envcheck.RedisNotRedis, Refuse},
		{"PING with another answer", probetest.Behaviour{Replies: map[string]probetest.Reply{"PING": probetest.Raw("+HELLO\r\n")}}, "", "", envcheck.RedisNotRedis, Refuse},
		{"unknown error", probetest.Behaviour{Replies: map[string]probetest.Reply{"*": probetest.Error("ERR max daily request limit exceeded")}}, "", "", envcheck.RedisErrorReply, Retry},
		{"BUSYKEY is not BUSY", probetest.Behaviour{Replies: map[string]probetest.Reply{"PING": probetest.Error("BUSYKEY x")}}, "", "", envcheck.RedisErrorReply, Retry},
		{"replica without its master", probetest.Behaviour{MasterDown: true}, "", "", envcheck.RedisMasterDown, Retry},
		{"cluster without slots", probetest.Behaviour{Replies: map[string]probetest.Reply{"LPUSHX": probetest.Error("CLUSTERDOWN Hash slot not served")}}, "", "", envcheck.RedisClusterDown, Retry},
		{"key on another node", probetest.Behaviour{Replies: map[string]probetest.Reply{"LPUSHX": probetest.Error("MOVED 1 h:1")}}, "", "", envcheck.RedisClusterRedirect, Refuse},
		{"database on a cluster", probetest.Behaviour{Mode: probetest.Cluster}, "", "/1", envcheck.RedisDBOnCluster, Refuse},
		{"wrong type is writable", probetest.Behaviour{Replies: map[string]probetest.Reply{"LPUSHX": probetest.Error("WRONGTYPE Operation against a key")}}, "", "", envcheck.Ready, Ready},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := probetest.New(t, c.behaviour)
			o := newRedis(t, at(s, "redis", c.credentials, c.tail), options()).Probe(t.Context())
			if o.Code != c.want || o.Verdict != c.verdict {
				t.Errorf("code %s verdict %d, want %s %d", o.Code, o.Verdict, c.want, c.verdict)
			}
		})
	}
}

// What is said first on a connection is said again when it was refused.
func TestGreetingIsRepeatedUntilItIsTaken(t *testing.T) {
	for name, c := range map[string]struct {
		refuse, take probetest.Behaviour
		credentials  string
		tail         string
		want         envcheck.Code
	}{
		"password set later": {probetest.Behaviour{Password: "old"}, probetest.Behaviour{Password: "new"}, ":new@", "", envcheck.RedisAuthRejected},
		"database":           {probetest.Behaviour{Databases: 2}, probetest.Behaviour{}, "", "/9", envcheck.RedisDBInvalid},
		"no right to SELECT": {probetest.Behaviour{Replies: map[string]probetest.Reply{"SELECT": probetest.Error("NOPERM x")}}, probetest.Behaviour{}, "", "/9", envcheck.RedisNotPermitted},
		"sentinel":           {probetest.Behaviour{Mode: probetest.Sentinel}, probetest.Behaviour{}, "", "", envcheck.RedisIsSentinel},
		"sentinel, database": {probetest.Behaviour{Mode: probetest.Sentinel}, probetest.Behaviour{}, "", "/2", envcheck.RedisIsSentinel},
	} {
		t.Run(name, func(t *testing.T) {
			s := probetest.New(t, c.refuse)
			r := newRedis(t, at(s, "redis", c.credentials, c.tail), options())
			for range 3 {
				if o := r.Probe(t.Context()); o.Code != c.want || o.Verdict != Refuse {
					t.Fatalf("code %s verdict %d, want %s each time", o.Code, o.Verdict, c.want)
				}
			}
			s.Set(c.take)
			if o := r.Probe(t.Context()); o.Code != envcheck.Ready {
				t.Errorf("code %s, want ready", o.Code)
			}
		})
	}
}

func TestUserWithFewRights(t *testing.T) {
	noperm := probetest.Error("NOPERM this user has no permissions to run the command")
	for name, c := range map[string]struct {
		denied []string
		want   []envcheck.Code
	}{
		"INFO":            {[]string{"INFO"}, []envcheck.Code{envcheck.RedisInfoUnavailable}},
		"PING":            {[]string{"PING"}, nil},
		"LPUSHX":          {[]string{"LPUSHX"}, []envcheck.Code{envcheck.RedisWriteUnverified}},
		"INFO and LPUSHX": {[]string{"INFO", "LPUSHX"}, []envcheck.Code{envcheck.RedisInfoUnavailable, envcheck.RedisWriteUnverified}},
		"all of them":     {[]string{"INFO", "LPUSHX", "PING"}, []envcheck.Code{envcheck.RedisUnverified}},
	} {
		t.Run(name, func(t *testing.T) {
			b := probetest.Behaviour{Replies: map[string]probetest.Reply{}}
			for _, command := range c.denied {
				b.Replies[command] = noperm
			}
			o := newRedis(t, probetest.New(t, b).URL(), options()).Probe(t.Context())
			if o.Code != envcheck.Ready || !slices.Equal(o.Warnings, c.want) {
				t.Errorf("code %s warnings %v, want ready and %v", o.Code, o.Warnings, c.want)
			}
		})
	}
}

func TestSecondLookIsRemembered(t *testing.T) {
	_, config := authority(t)
	s := probetest.New(t, probetest.Behaviour{TLS: config})
	r := newRedis(t, at(s, "redis", "", ""), options())
	for range 3 {
		if o := r.Probe(t.Context()); o.Code != envcheck.RedisTLSRequired {
			t.Errorf("code %s, want %s each time", o.Code, envcheck.RedisTLSRequired)
		}
	}
}

func TestRefused(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{})
	s.Down()
	o := newRedis(t, s.URL(), options()).Probe(t.Context())
	if o.Code != envcheck.RedisRefused || o.Connected {
		t.Errorf("code %s connected %v, want %s false", o.Code, o.Connected, envcheck.RedisRefused)
	}
	if want := (Facts{Address: "loopback", TLS: "no", Password: "empty", Port: "other"}); o.Facts != want {
		t.Errorf("facts %v, want %v", o.Facts, want)
	}
}

func TestPasswordWithoutOneConfigured(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{})
	o := newRedis(t, at(s, "redis", ":pw@", ""), options()).Probe(t.Context())
	if o.Code != envcheck.Ready || len(o.Warnings) != 1 || o.Warnings[0] != envcheck.RedisAuthNotConfigured {
		t.Errorf("code %s warnings %v, want ready with a warning", o.Code, o.Warnings)
	}
}

// redis-py and ioredis say a user without a password, too: what Redis thinks of
// that is what the worker will meet.
func TestAUserWithoutAPassword(t *testing.T) {
	for client, want := range map[envcheck.Client]envcheck.Code{
		envcheck.RQ: envcheck.RedisAuthRejected, envcheck.Celery: envcheck.RedisAuthRejected, envcheck.BullMQ: envcheck.RedisAuthRejected,
		envcheck.Sidekiq: envcheck.Ready, envcheck.Asynq: envcheck.Ready, envcheck.Generic: envcheck.Ready,
	} {
		o := options()
		o.Client = client
		s := probetest.New(t, probetest.Behaviour{})
		if got := newRedis(t, at(s, "redis", "app:@", ""), o).Probe(t.Context()); got.Code != want {
			t.Errorf("%s: %s, want %s", client, got.Code, want)
		}
	}
}

func TestLoadingProgressThatIsNone(t *testing.T) {
	for _, percent := range []string{"nan", "-1", "101", "x"} {
		if got := infoProgress("loading_loaded_perc:" + percent + "\r\n"); got != (Progress{}) {
			t.Errorf("%s: %v", percent, got)
		}
	}
}

func TestLoadingProgress(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{Loading: &probetest.Loading{Percent: 61, ETA: 3 * time.Second}})
	o := newRedis(t, s.URL(), options()).Probe(t.Context())
	if want := (Progress{true, 61, 3 * time.Second}); o.Loading != want || o.Clients == 0 {
		t.Errorf("progress %v clients %d, want %v and a count", o.Loading, o.Clients, want)
	}
}

// One probe is one write and one read on a kept connection. Were the write
// test first in it, go-redis would drop the connection to a replica each time.
func TestOneWritePerProbeOnOneConnection(t *testing.T) {
	for name, b := range map[string]probetest.Behaviour{
		"ready": {Password: "p"}, "replica": {Password: "p", Replica: true}, "loading": {Password: "p", Loading: &probetest.Loading{}},
		"busy": {Password: "p", Busy: true}, "full": {Password: "p", OOM: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := probetest.New(t, b)
			tail := "/1"
			if b.Busy {
				tail = "" // SELECT is refused while a script runs
			}
			r := newRedis(t, at(s, "redis", ":p@", tail), options())
			const probes = 10
			for range probes {
				r.Probe(t.Context())
			}
			traffic := s.Traffic()
			if traffic.Batches != probes {
				t.Errorf("%d writes, want %d", traffic.Batches, probes)
			}
			if got := traffic.Commands["HELLO"]; got != 1 {
				t.Errorf("HELLO was said %d times, want 1", got)
			}
			if traffic.Accepted != 1 {
				t.Errorf("%d connections, want 1", traffic.Accepted)
			}
			if got := traffic.Commands["AUTH"]; got != 1 {
				t.Errorf("%d tries of the password, want 1", got)
			}
		})
	}
}

func TestWrongPasswordIsTriedOnce(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{Password: "p"})
	newRedis(t, at(s, "redis", ":q@", ""), options()).Probe(t.Context())
	if got := s.Traffic().Commands["AUTH"]; got != 1 {
		t.Errorf("%d tries, want 1: each counts in the server's ACL log", got)
	}
}

// go-redis's pool answers from a stored dial error for a second.
func TestRedisIsSeenAtOnceAfterAFailure(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{})
	r := newRedis(t, s.URL(), options())
	s.Down()
	r.Probe(t.Context())
	if err := s.Up(); err != nil {
		t.Fatal(err)
	}
	if o := r.Probe(t.Context()); o.Code != envcheck.Ready {
		t.Errorf("code %s after the server came up, want ready", o.Code)
	}
}

func TestDroppedConnectionIsReplaced(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{Loading: &probetest.Loading{}})
	r := newRedis(t, s.URL(), options())
	r.Probe(t.Context())
	s.Down()
	if o := r.Probe(t.Context()); o.Code != envcheck.RedisClosed {
		t.Errorf("code %s on the dropped connection, want %s", o.Code, envcheck.RedisClosed)
	}
	if err := s.Up(); err != nil {
		t.Fatal(err)
	}
	if o := r.Probe(t.Context()); o.Code != envcheck.RedisLoading {
		t.Errorf("code %s on a new connection, want %s", o.Code, envcheck.RedisLoading)
	}
}

// The name of a server that is not ready may lead to another by now.
func TestOldConnectionIsReplacedWhenNotReady(t *testing.T) {
	down := map[string]probetest.Reply{"LPUSHX": probetest.Error("CLUSTERDOWN Hash slot not served")}
	for name, c := range map[string]struct {
		behaviour probetest.Behaviour
		age       time.Duration
		want      envcheck.Code
		replaced  bool
	}{
		"replica, new":           {probetest.Behaviour{Replica: true}, 2 * time.Second, envcheck.RedisReadOnly, false},
		"replica":                {probetest.Behaviour{Replica: true}, 6 * time.Second, envcheck.RedisReadOnly, true},
		"without its master":     {probetest.Behaviour{MasterDown: true}, 6 * time.Second, envcheck.RedisMasterDown, true},
		"cluster without a slot": {probetest.Behaviour{Replies: down}, 6 * time.Second, envcheck.RedisClusterDown, true},
		"full":                   {probetest.Behaviour{OOM: true}, 30 * time.Second, envcheck.RedisOutOfMemory, false},
		"full for long":          {probetest.Behaviour{OOM: true}, 61 * time.Second, envcheck.RedisOutOfMemory, true},
		"loading":                {probetest.Behaviour{Loading: &probetest.Loading{}}, time.Hour, envcheck.RedisLoading, false},
		"ready":                  {probetest.Behaviour{}, time.Hour, envcheck.Ready, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := probetest.New(t, c.behaviour)
			r := newRedis(t, s.URL(), options())
			r.Probe(t.Context())
			r.session.born = r.session.born.Add(-c.age)
			for range 2 {
				if o := r.Probe(t.Context()); o.Code != c.want {
					t.Errorf("code %s, want %s", o.Code, c.want)
				}
			}
			want := 1
			if c.replaced {
				want = 2
			}
			if got := s.Traffic().Accepted; got != want {
				t.Errorf("%d connections, want %d", got, want)
			}
		})
	}
}

func TestDeadlineBoundsAProbe(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{Accept: probetest.AcceptSilent})
	o := options()
	o.ReplyTimeout = time.Minute
	r := newRedis(t, s.URL(), o)
	r.looked = true
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	if got := r.Probe(ctx); !got.Cut || got.Code != envcheck.RedisReplyTimeout {
		t.Errorf("cut %v code %s, want true %s", got.Cut, got.Code, envcheck.RedisReplyTimeout)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestSecondLookSendsNoCredentialsAndRunsOnce(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{Accept: probetest.AcceptClose})
	r := newRedis(t, at(s, "redis", ":p@", ""), options())
	for range 3 {
		r.Probe(t.Context())
	}
	if got, want := s.Traffic().Accepted, 3+1; got != want {
		t.Errorf("%d connections for 3 probes, want %d", got, want)
	}
}

func TestPanicIsAnInternalError(t *testing.T) {
	r := newRedis(t, "redis://127.0.0.1:1", options())
	r.dialer = nil
	if o := r.Probe(t.Context()); o.Code != envcheck.InternalError || o.Verdict != Refuse {
		t.Errorf("code %s verdict %d, want %s", o.Code, o.Verdict, envcheck.InternalError)
	}
}

func TestAddressClass(t *testing.T) {
	for address, want := range map[string]envcheck.Word{
		"127.0.0.1:1": "loopback", "[::1]:1": "loopback", "[::ffff:127.0.0.1]:1": "loopback", "0.0.0.0:1": "loopback",
		"10.1.2.3:1": "private", "192.168.0.1:1": "private", "[fd00::1]:1": "private", "[fe80::1]:1": "private",
		"8.8.8.8:1": "public", "[2001:db8::1]:1": "public", "x": "unresolved",
	} {
		if got := addressClass(address); got != want {
			t.Errorf("%s is %s, want %s", address, got, want)
		}
	}
}
