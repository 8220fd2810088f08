package envcheck

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What the 181 URLs do not have.
func TestDialects(t *testing.T) {
	for _, c := range []struct {
		client Client
		url    string
		want   string // what is read, with ~ and a doubt; or the reason
	}{
		{"none of the families", "redis://h", "h:6379/0"},
		{Generic, "redis://u:p@h#c@h2:6379", "credentials_not_encoded"},
		{Generic, "redis://u:p@h?c@h2:6379", "credentials_not_encoded"},
		{Generic, "redis://h#%zz", "credentials_not_encoded"},
		{Generic, "redis://:Ab@cd?k=ef@h:6379/0", "credentials_not_encoded"},
		{Generic, "redis://h?db=1&db=2", "parameter_unsupported"},
		{Generic, "redis://h?d%62=1", "parameter_unsupported"},
		{Generic, "redis://h?x=%zz", "parameter_unsupported"},

		{RQ, "redis://h/", "h:6379/0"},
		{RQ, "redis://h?password=p%40w&username=u", "h:6379/0 u='u' p='p@w'"},
		{RQ, "redis://u:p@h?password=w", "clients_differ"},
		{RQ, "redis://h?password=p%2540w", "parameter_unsupported"},
		{RQ, "redis://h?password=p+w", "parameter_unsupported"},
		{RQ, "redis://h?host=other", "parameter_unsupported"},
		{RQ, "redis://h?socket_timeout=soon", "parameter_unsupported"},
		{RQ, "redis://h?max_connections=-1", "parameter_unsupported"},
		{RQ, "redis://h?protocol=4", "parameter_unsupported"},
		{RQ, "redis://h?foo=", "h:6379/0"},
		{RQ, "redis://:p／w@h", "credentials_not_encoded"},
		{RQ, "redis://:€@h", "h:6379/0 u='' p='€'"},
		{RQ, "redis://:%E2%82%AC%@h", "h:6379/0 u='' p='€%'"},
		{RQ, "redis://:p w@h /1", "control_or_space"},
		{RQ, "rediss://h?ssl_cert_reqs=required&ssl_check_hostname=false", "h:6379/0 TLS verify=ca"},
		{RQ, "rediss://h?ssl_check_hostname=False&ssl_cert_reqs=required", "h:6379/0 TLS verify=ca"},
		{RQ, "rediss://h?ssl_check_hostname=false&ssl_cert_reqs=none", "h:6379/0 TLS noverify verify=none"},
		{RQ, "rediss://h?ssl_check_hostname=0", "tls_mode_unsupported"},
		{RQ, "rediss://h?ssl_ca_certs=/c%61.pem&ssl_certfile=/c.pem&ssl_keyfile=/k.pem", "h:6379/0 TLS files=/ca.pem /c.pem /k.pem"},
		{RQ, "rediss://h?ssl_ca_path=/etc/ssl", "tls_mode_unsupported"},
		{RQ, "unix:///run/redis.sock?ssl_cert_reqs=none", "parameter_unsupported"},
		{RQ, "unix:///run/re%20dis.sock", "socket_path_invalid"},
		{RQ, "unix:///" + strings.Repeat("x", 107), "socket_path_invalid"},
		{RQ, "unix:////run/redis.sock", "socket_path_invalid"},
		{RQ, "unix:///", "socket_path_invalid"},

		{Celery, "redis://h//2", "h:6379/2"},
		{Celery, "redis://h///2", "db_invalid"},
		{Celery, "redis://h/2/", "db_invalid"},
		{Celery, "redis://h?ssl_ca_certs=/ca.pem", "h:6379/0 TLS files=/ca.pem  "},
		{Celery, "rediss://h?ssl_check_hostname=false", "h:6379/0 TLS verify=ca"},
		{Celery, "rediss://h?ssl_cert_reqs=CERT_required", "tls_mode_unsupported"},
		{Celery, "rediss://u:p@h1/1;redis://h2", "h1:6379/1 u='u' p='p' TLS noverify verify=none; h2:6379/0"},
		{Celery, "redis://h1;redis://", "host_missing"},
		{Celery, "redis://h1;", "scheme_missing"},
		{Celery, "redis://:p;w@h", "credentials_not_encoded"},
		{Celery, "redis://h1;sentinel://h2", "multiple_hosts"},
		{Celery, "redis://h1;redis+socket:///run/redis.sock", "multiple_hosts"},
		{Celery, "sentinel://:p@h1/1;sentinel://:p@h2:5/1", "h1:26379/1 u='' p='p' sentinels=h1:26379 h2:5"},
		{Celery, "sentinel://h1;sentinel://h2/1", "h1:26379/0 sentinels=h1:26379 h2:26379 ~db_ignored"},
		{Celery, "sentinel://h1;sentinel://:p@h2", "h1:26379/0 sentinels=h1:26379 h2:26379 ~credentials_ignored"},
		{Celery, "sentinel://[::1]", "[::1]:26379/0 sentinels=[::1]:26379"},
		{Celery, "redis+socket:///run/redis.sock?db=2", "parameter_unsupported"},
		{Celery, "redis+socket://run/redis.sock", "socket_path_invalid"},

		{Sidekiq, "redis://:p+w@h", "h:6379/0 u='' p='p w' ~clients_differ"},
		{Sidekiq, "redis://p%2Bw@h", "h:6379/0 u='' p='p+w' ~clients_differ"},
		{Sidekiq, "redis://u%zz:p@h", "bad_percent_encoding"},
		{Sidekiq, "redis://h?db=", "h:6379/0"},
		{Sidekiq, "rediss://h?ssl_cert_reqs=required", "h:6379/0 TLS"},
		{Sidekiq, "unix:/run/redis.sock", "unix /run/redis.sock/0"},

		{BullMQ, "redis:6379", "redis:6379/0"},
		{BullMQ, "redis:h:6379", "host_invalid"},
		{BullMQ, "u:p@h:6379", "scheme_missing"},
		{BullMQ, ":6379", "scheme_missing"},
		{BullMQ, "redis://h//", "db_invalid"},
		{BullMQ, "redis://h?tls=false", "tls_mode_unsupported"},
		{BullMQ, "/run/redis.sock?tls=true", "tls_mode_unsupported"},
		{BullMQ, "redis://h?path=/run/redis.sock", "parameter_unsupported"},
		{BullMQ, "redis://:p@h?username=u", "clients_differ"},
		{BullMQ, "redis://h?family=6", "h:6379/0"},
		{BullMQ, "/run/redis.sock?password=p", "unix /run/redis.sock/0 u='' p='p'"},

		{Asynq, "redis://h:1/", "db_invalid"},
		{Asynq, "redis-socket://:p@/run/redis.sock?db=2", "unix /run/redis.sock/2 u='' p='p'"},
		{Asynq, "redis-sentinel://h1:1,h2?master=m", "port_missing"},
		{Asynq, "redis-sentinel://h1:1,:2?master=m", "host_missing"},
		{Asynq, "redis-sentinel://[::1]:1,h:2?master=m", "host_invalid"},
		{Asynq, "redis-sentinel://[::1]:1?master=m", "sentinel master='m' addrs=[::1]:1 sentinelpw='' pw='' db=0"},
		{Asynq, "redis-sentinel://h1:1?master=", "master_missing"},
		{Asynq, "redis-sentinel://u:p@h1:1?master=m", "sentinel master='m' addrs=h1:1 sentinelpw='p' pw='' db=0 ~credentials_ignored"},
	} {
		u, reason := ParseRedisURL(c.client, c.url)
		got := string(reason)
		if reason == "" {
			got = renderAll(u.Reveal())
		}
		if got != c.want {
			t.Errorf("%s: %s: got %s, want %s", c.client, c.url, got, c.want)
		}
	}
}

// renderAll is render with what the readings of the 181 URLs do not show.
func renderAll(p RedisParts) string {
	s := render(p)
	if p.Sentinels != nil && p.Master == "" {
		s = strings.Replace(s, normalise(p.Sentinels[0]+"/"), p.Sentinels[0]+"/", 1) + " sentinels=" + strings.Join(p.Sentinels, " ")
	}
	if p.Verify != "" {
		s += " verify=" + string(p.Verify)
	}
	if p.CAFile+p.CertFile+p.KeyFile != "" {
		s += " files=" + p.CAFile + " " + p.CertFile + " " + p.KeyFile
	}
	for _, other := range p.Others {
		s += "; " + renderAll(other)
	}
	if p.Doubt != "" {
		s += " ~" + string(p.Doubt)
	}
	return s
}

func TestClientOfCommand(t *testing.T) {
	for _, c := range []struct {
		command string
		want    Client
	}{
		{"", ""},
		{"rq worker", RQ},
		{"/usr/local/bin/celery -A app worker", Celery},
		{"sidekiq", Sidekiq},
		{"bundle exec sidekiq -q default", Sidekiq},
		{"/usr/bin/bundle exec bin/sidekiq", Sidekiq},
		{"bundle install sidekiq", ""},
		{"python -m celery worker", Celery},
		{"/opt/bin/python3.12 -m rq worker", RQ},
		{"python celery", ""},
		{"node worker.js", ""},
		{"sh -c rq", ""},
		{"rqscheduler", ""},
	} {
		if got := clientOfCommand(strings.Fields(c.command)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.command, got, c.want)
		}
	}
}

func TestBuiltinTakesTheFamily(t *testing.T) {
	groups := [][]Key{{"BULLMQ_REDIS_URL", "RQ_REDIS_URL", "CELERY_BROKER_URL", "REDIS_URL", "REDIS_HOST"}}
	for _, c := range []struct {
		name, client, env, args, want string
	}{
		{"nothing says", "", "REDIS_URL=redis://h", "", "generic redis REDIS_URL h:6379/0   false"},
		{"the key says", "", "BULLMQ_REDIS_URL=h:1", "", "bullmq redis BULLMQ_REDIS_URL h:1/0   false"},
		{"the key before the command", "", "RQ_REDIS_URL=redis://h:1//2", "celery worker", "rq redis RQ_REDIS_URL h:1/2   false"},
		{"the command", "", "REDIS_URL=redis://pw@h", "bundle exec sidekiq", "sidekiq redis REDIS_URL h:6379/0  pw false ~redis_url_doubtful[REDIS_URL]/clients_differ"},
		{"the setting before the key", "asynq", "RQ_REDIS_URL=redis://h:1", "rq worker", "asynq redis RQ_REDIS_URL h:1/0   false"},
		{"a host", "", "REDIS_HOST=h", "rq worker", "rq redis REDIS_HOST h:6379/0   false"},
		{"Sidekiq's provider", "", "REDIS_PROVIDER=MY|MY=redis://pw@my|RQ_REDIS_URL=redis://h", "sidekiq", "sidekiq redis REDIS_PROVIDER my:6379/0  pw false ~redis_url_doubtful[REDIS_PROVIDER]/clients_differ"},
		{"a master that nobody names", "", "CELERY_BROKER_URL=sentinel://h", "", "redis_parse_failed[CELERY_BROKER_URL]/master_missing"},
		{"a master in the URL", "asynq", "REDIS_URL=redis-sentinel://h:1?master=m", "", "asynq redis REDIS_URL [h:1] m "},
	} {
		t.Run(c.name, func(t *testing.T) {
			contract := Builtin(groups, Client(c.client), RequireWrite, "p")
			r := contract.CheckProcess(Process{Environ: strings.Split(c.env, "|"), Args: strings.Fields(c.args)})
			var got []string
			for _, target := range r.Targets {
				got = append(got, string(target.Client)+" "+address(target))
			}
			if got := strings.Join(append(got, r.Codes()...), " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestContractTakesTheFamilyOfTheWait(t *testing.T) {
	const keys = "keys: {A: {type: redis_url, fallback: [B]}, B: {type: redis_url}, C: {type: redis_url}}\n"
	for _, c := range []struct {
		name, waits, want string
	}{
		{"its own wait", "[{redis: A, client: bullmq}, {redis: B, client: rq, name: b}, {redis: C, name: c}]", "bullmq rq generic"},
		{"the wait that falls back to it", "[{redis: A, client: bullmq}, {redis: C, client: asynq, name: c}]", "bullmq bullmq asynq"},
		{"all waits", "[{redis: B, client: celery}]", "celery celery celery"},
		{"waits that differ", "[{redis: A, client: rq}, {redis: A, client: celery, name: a}]", "generic generic generic"},
		{"no client", "[{redis: A}]", "generic generic generic"},
		{"no wait", "[]", "  "},
	} {
		t.Run(c.name, func(t *testing.T) {
			contract := contractOf(t, keys+"waits: "+c.waits)
			var got []string
			for _, k := range contract.Keys {
				got = append(got, string(k.client))
			}
			if got := strings.Join(got, " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCeleryWaits(t *testing.T) {
	for _, c := range []struct {
		name, wait, url, want string
	}{
		{"master", "{redis: {url: A, master: m, password: P}, client: celery}", "sentinel://h1;sentinel://h2:1/0", "redis A [h1:26379 h2:1] m pw"},
		{"no master", "{redis: A, client: celery}", "sentinel://h1", "a_parse_failed[A]/master_missing"},
		{"password of all brokers", "{redis: {url: A, password: P}, client: celery}", "redis://h1;redis://:own@h2", "redis A h1:6379/0  pw false; own "},
		{"unverified", "{redis: A, client: celery}", "rediss://h", "redis A h:6379/0   true none"},
		{"verified by the contract", "{redis: A, client: celery, tls: {verify: full}}", "rediss://h1;rediss://h2", "redis A h1:6379/0   true full;  full"},
		{"what the URL says", "{redis: A, client: celery, tls: {verify: full}}", "rediss://h?ssl_cert_reqs=none", "redis A h:6379/0   true none"},
		{"a doubt", "{redis: {url: A, master: m}, client: celery}", "sentinel://h1;sentinel://h2/1", "redis A [h1:26379 h2:26379] m  ~redis_url_doubtful[A]/db_ignored"},
	} {
		t.Run(c.name, func(t *testing.T) {
			contract := contractOf(t, "keys: {A: {type: redis_url}, P: {secret: true}}\nwaits: ["+c.wait+"]")
			r := contract.Check(Environ{"A=" + c.url, "P=pw"})
			var got []string
			for _, target := range r.Targets {
				p := target.URL.Reveal()
				s := address(target)
				if p.Verify != "" {
					s += " " + string(p.Verify)
				}
				for _, other := range p.Others {
					s += fmt.Sprintf("; %s %s", other.Password, other.Verify)
				}
				got = append(got, s)
			}
			if got := strings.Join(append(got, r.Codes()...), " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestSentinelsInAURLAreForTwoFamilies(t *testing.T) {
	for _, c := range []struct {
		wait string
		ok   bool
	}{
		{"{redis: {url: A, master: m}, client: celery, topology: sentinel}", true},
		{"{redis: A, client: asynq, topology: sentinel}", true},
		{"{redis: {url: A, master: m}, client: asynq}", false},
		{"{redis: {url: A, master: m}, client: rq}", false},
		{"{redis: A, client: rq, topology: sentinel}", false},
	} {
		_, ds := Load(strings.NewReader(head + "keys: {A: {type: redis_url}}\nwaits: [" + c.wait + "]\n"))
		if (ds == nil) != c.ok {
			t.Errorf("%s: %s", c.wait, faults(ds))
		}
	}
}

func TestGenericNamesTheFamilyThatTakesAURL(t *testing.T) {
	const advice = "; or set STARTGATE_CLIENT, or client in the contract, to "
	for _, c := range []struct {
		url, want string // families
	}{
		{"h:6379", "bullmq"},
		{"unix:///run/redis.sock", "rq, sidekiq or bullmq"},
		{"redis+socket:///run/redis.sock", "celery"},
		{"redis://:100%@h", "rq or celery"},
		{"redis://h/-1", ""},
		{"redis://", ""},
	} {
		builtin := Builtin([][]Key{{"A"}}, "", RequireWrite, "p")
		for _, contract := range []*Contract{
			&builtin,
			contractOf(t, "keys: {A: {type: redis_url, topic: redis}}\nwaits: [{redis: A}]"),
		} {
			ds := contract.Check(Environ{"A=" + c.url}).Diagnostics
			if len(ds) != 1 || ds[0].Code != RedisParseFailed {
				t.Fatalf("%s: %s", c.url, faults(ds))
			}
			_, got, _ := strings.Cut(ds[0].Message(), advice)
			if c.want != "" {
				got = strings.TrimSuffix(got, " if the worker is that")
			}
			if got != c.want {
				t.Errorf("%s: the advice of %s names %q, want %q", c.url, contract.Name, got, c.want)
			}
		}
	}
	contract := contractOf(t, "keys: {A: {type: redis_url}}\nwaits: [{redis: A, client: rq}]")
	if m := contract.Check(Environ{"A=h:6379"}).Diagnostics[0].Message(); strings.Contains(m, "STARTGATE_CLIENT") {
		t.Errorf("who has named a family is told to: %s", m)
	}
}

func TestAlignedComparesWhatStandsForAHost(t *testing.T) {
	contract := contractOf(t, "keys: {A: {type: redis_url}, B: {type: redis_url}}\nrules: [{code: r, aligned: [A, B]}]\nwaits: [{redis: A, client: celery}]")
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"redis+socket:///a", "redis+socket:///b", false},
		{"redis+socket:///a", "redis+socket:///a", true},
		{"redis://h;redis://i", "redis://h;redis://j", false},
		{"redis://h;redis://i", "redis://H;redis://i.", true},
		{"redis://h;redis://i", "redis://h", false},
	} {
		codes := contract.Check(Environ{"A=" + c.a, "B=" + c.b}).Codes()
		if broken := slices.Contains(codes, "r[A,B]/host_differs"); broken == c.same {
			t.Errorf("%s and %s: %v", c.a, c.b, codes)
		}
	}
}
