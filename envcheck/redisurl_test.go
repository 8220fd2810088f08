package envcheck

import (
	_ "embed"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"testing"
)

// What six clients made of 181 URLs when they were run, and what the gate makes
// of them for that client's family. Under each URL there is a line for each
// family: its name, the gate's answer, what the client reads. The answer is
// read, the reason why it is refused, or ~ and the reason of a warning. The
// clients are go-redis 9.23.0 (on the line of generic), redis-py 8.0.0, kombu
// 5.6.2, redis-client 0.30.0, ioredis 5.11.1 and asynq 0.26.0.
//
//go:embed testdata/redis_urls.txt
var vectors string

type vector struct {
	url      string
	answers  map[Client]string
	readings map[Client]string
}

func readVectors() []vector {
	var all []vector
	for line := range strings.Lines(vectors) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "\t") {
			all = append(all, vector{line[1 : len(line)-1], map[Client]string{}, map[Client]string{}})
			continue
		}
		v, parts := all[len(all)-1], strings.SplitN(line[1:], "\t", 3)
		v.answers[Client(parts[0])], v.readings[Client(parts[0])] = parts[1], parts[2]
	}
	return all
}

// TestFamiliesReadWhatTheirClientsRead finds a URL that is accepted and that
// the family's client refuses or reads in another way.
func TestFamiliesReadWhatTheirClientsRead(t *testing.T) {
	var got strings.Builder
	for _, v := range readVectors() {
		fmt.Fprintf(&got, "'%s'\n", v.url)
		for _, c := range Clients() {
			u, reason := ParseRedisURL(c, v.url)
			answer, p := string(reason), u.Reveal()
			switch {
			case reason != "":
			case p.Doubt != "":
				answer = "~" + string(p.Doubt)
			default:
				answer = "read"
			}
			fmt.Fprintf(&got, "\t%s\t%s\t%s\n", c, answer, v.readings[c])
			if answer != v.answers[c] {
				t.Errorf("%s: %s answers %s, not %s", v.url, c, answer, v.answers[c])
			}
			if reason != "" || c == Generic && v.readings[c] == "ERR" {
				continue // what generic does with it: see below
			}
			if got, want := render(p), normalise(v.readings[c]); got != want {
				t.Errorf("%s: %s reads %s, not %s", v.url, c, got, want)
			}
		}
	}
	golden(t, "redis_urls.txt", got.String())
}

// genericClients are the families whose clients' common reading is generic; the
// one on generic's own line is go-redis.
var genericClients = []Client{Generic, RQ, BullMQ, Sidekiq}

// notRead are parameters by which some clients refuse a URL or fail at first
// use, and none connects elsewhere: generic leaves them to the worker.
var notRead = regexp.MustCompile(`[?&](ssl_[a-z_]+|protocol|client_name|[a-z_]*timeout|health_check_interval|max_connections|decode_responses|retry_on_timeout|socket_keepalive|virtual_host|family|maxRetriesPerRequest|enableReadyCheck|max_retries|persistent|foo)=`)

func TestGenericReadsWhatClientsReadAlike(t *testing.T) {
	for _, v := range readVectors() {
		url, readings := v.url, map[Client]string{}
		for c, reading := range v.readings {
			readings[c] = normalise(reading)
		}
		t.Run(url, func(t *testing.T) {
			got := readGeneric(url)
			want := readings[Generic]
			for _, c := range genericClients {
				if strings.HasPrefix(readings[c], "ERR") && notRead.MatchString(url) {
					continue
				}
				if strings.HasPrefix(want, "ERR") && notRead.MatchString(url) {
					want = readings[c]
				}
				if readings[c] != want {
					want = "ERR"
				}
			}
			switch {
			case strings.Contains(url, "ssl_cert_reqs=none"), strings.Contains(url, "ssl_cert_reqs=CERT_NONE"):
				// As the parameter says, with a warning, for TLS; no client reads it for plain TCP.
				if tls := strings.HasPrefix(url, "rediss"); strings.Contains(got, "noverify") != tls {
					t.Errorf("read as %s, want the verification that the parameter names", got)
				}
				return
			case strings.HasSuffix(url, "ssl_cert_reqs=None"), strings.HasSuffix(url, "ssl_cert_reqs=bogus"):
				want = "ERR" // no Python client takes it
			case strings.HasPrefix(want, "localhost"), strings.HasSuffix(want, "/-1"), strings.HasPrefix(want, "h:0/"):
				want = "ERR" // on which they agree and which no worker wants
			case strings.HasSuffix(url, "rediss://h:6379/0?tls=true"):
				want = "h:6379/0 TLS" // Python fails at first use, nobody connects elsewhere
			case strings.HasPrefix(want, "$"):
				want = "ERR" // they pass it to a resolver, which knows no such name
			case strings.HasPrefix(want, "unix"):
				want = "ERR" // not read yet
			}
			if got != want {
				t.Errorf("read as %s, want %s", got, want)
			}
		})
	}
}

// normalise writes a reading so that equal ones are equal texts.
func normalise(reading string) string {
	if strings.HasPrefix(reading, "ERR") || strings.HasPrefix(reading, "other") {
		return "ERR"
	}
	if strings.HasPrefix(reading, "sentinel ") {
		return reading
	}
	reading = strings.ReplaceAll(reading, "u='default'", "u=''")
	reading = strings.ReplaceAll(reading, "<default localhost>", "localhost")
	reading = strings.ReplaceAll(reading, "unix ///", "unix /") // one path to a kernel
	reading = strings.NewReplacer("[", "", "]", "").Replace(reading)
	host, rest, _ := strings.Cut(reading, "/")
	return strings.ToLower(host) + "/" + rest
}

func readGeneric(url string) string {
	u, reason := ParseRedisURL(Generic, url)
	if code, _ := hygiene(url, TypeRedis.rule()); code != "" || reason != "" {
		return "ERR"
	}
	return render(u.Reveal())
}

// render writes what was read as a reading. Of a list that is its first place.
func render(p RedisParts) string {
	var s string
	switch {
	case p.Sentinels != nil && p.Master != "":
		s = fmt.Sprintf("sentinel master='%s' addrs=%s sentinelpw='%s' pw='%s' db=%d", p.Master, strings.Join(p.Sentinels, " "), p.SentinelPassword, p.Password, p.DB)
		return normalise(s)
	case p.Sentinels != nil:
		s = fmt.Sprintf("%s/%d", p.Sentinels[0], p.DB)
	case p.Socket != "":
		s = fmt.Sprintf("unix %s/%d", p.Socket, p.DB)
	default:
		s = fmt.Sprintf("%s:%s/%d", p.Host, p.Port, p.DB)
	}
	if p.User != "" || p.Password != "" {
		s += fmt.Sprintf(" u='%s' p='%s'", p.User, p.Password)
	}
	if p.TLS {
		s += " TLS"
		if p.Verify == VerifyNone {
			s += " noverify"
		}
	}
	return normalise(s)
}

func TestParseRedisURLReasons(t *testing.T) {
	for _, c := range []struct {
		url  string
		want Reason
	}{
		{"redis://h", ""},
		{"redis://u:p%40w@h.example:1/15", ""},
		{"redis:h:6379", SchemeMissing},
		{"h:6379", SchemeMissing},
		{"http://h", SchemeUnsupported},
		{"unix:///run/redis.sock", SocketNotSupported},
		{"redis://", HostMissing},
		{"redis://:pw@", HostMissing},
		{"redis:///1", HostMissing},
		{"redis://re_dis..x", HostInvalid},
		{"redis://-abc:6379", HostInvalid},
		{"redis://1234:1", HostInvalid},
		{"redis://127.1", HostInvalid},
		{"redis://127.0.0.1", ""},
		{"redis://::1:6379", HostInvalid},
		{"redis://[::1", HostInvalid},
		{"redis://[::1]x", HostInvalid},
		{"redis://[fe80::1%25eth0]", HostInvalid},
		{"redis://" + strings.Repeat("a", 64), HostInvalid},
		{"redis://h1:1,h2:2", MultipleHosts},
		{"redis://h:0", PortInvalid},
		{"redis://h:65536", PortInvalid},
		{"redis://h:+1", PortInvalid},
		{"redis://h/-1", DBInvalid},
		{"redis://h/abc", DBInvalid},
		{"redis://h/0/1", DBInvalid},
		{"redis://h/01", DBInvalid},
		{"redis://h/99999999999", DBInvalid},
		{"redis://h?db=3", ""},
		{"redis://h?db=", DBInvalid},
		{"redis://h/2?db=3", DBInQuery},
		{"redis://:p%zz@h", BadPercentEncoding},
		{"redis://:100%@h", BadPercentEncoding},
		{"redis://:%ff@h", BadPercentEncoding},
		{"redis://:p#w@h", CredentialsNotEncoded},
		{"redis://user:12345/x@h:6379/0", CredentialsNotEncoded},
		{"redis://:p@w@h", CredentialsNotEncoded},
		{"redis://:p w@h", ControlOrSpace},
		{"redis://pw@h", ClientsDiffer},
		{"redis://:p+w@h", ClientsDiffer},
		{"Rediss://h", ClientsDiffer},
		{"redis://h?password=x", ClientsDiffer},
		{"rediss://h?ssl_cert_reqs=maybe", TLSModeUnsupported},
	} {
		if _, got := ParseRedisURL(Generic, c.url); got != c.want {
			t.Errorf("%s: reason %q, want %q", c.url, got, c.want)
		}
	}
}

func FuzzParseRedisURL(f *testing.F) {
	for _, v := range readVectors() {
		f.Add(v.url)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range Clients() {
			u, reason := ParseRedisURL(c, s)
			if reason != "" {
				if reasonFix(reason) == "" {
					t.Fatalf("%s: %s does not say what to do", c, reason)
				}
				continue
			}
			p := u.Reveal()
			checkParts(t, c, s, p)
			for _, other := range p.Others {
				checkParts(t, c, s, other)
			}
		}
	})
}

// checkParts fails for what no server can have, and for what does not stand in
// the URL as its place.
func checkParts(t *testing.T, c Client, s string, p RedisParts) {
	t.Helper()
	places := 0
	for _, there := range []bool{p.Host != "", p.Socket != "", p.Sentinels != nil} {
		if there {
			places++
		}
	}
	if places != 1 || p.DB < 0 || p.Doubt != "" && reasonFix(p.Doubt) == "" {
		t.Fatalf("%s: %d places, database %d, doubt %s", c, places, p.DB, p.Doubt)
	}
	if len(p.Others) > 0 && c != Celery || p.Sentinels != nil && c != Celery && c != Asynq || p.Socket != "" && c == Generic {
		t.Fatalf("%s does not read that", c)
	}
	addresses := p.Sentinels
	if p.Host != "" {
		addresses = []string{bracket(p.Host) + ":" + p.Port}
	}
	for _, a := range addresses {
		i := strings.LastIndexByte(a, ':')
		host := strings.Trim(a[:i], "[]")
		if n, ok := digits(a[i+1:]); !ok || n < 1 || n > 65535 {
			t.Fatalf("%s: a port that no server has", c)
		}
		if _, err := netip.ParseAddr(host); err != nil && !validHost(host) {
			t.Fatalf("%s: no host", c)
		}
		authority := s
		if _, rest, ok := strings.Cut(s, "://"); ok && !strings.Contains(s, ";") {
			authority, _, _ = strings.Cut(rest, "/")
		}
		if !strings.Contains(authority, host) {
			t.Fatalf("%s: the host is not the URL's", c)
		}
	}
	if p.Socket != "" && (p.Socket[0] != '/' || p.Socket[1] == '/' || !strings.Contains(s, p.Socket)) {
		t.Fatalf("%s: the socket is not the URL's", c)
	}
}
