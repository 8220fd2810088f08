package envcheck

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// Each line is a URL and what ten clients made of it when they were run:
//
//	'URL' ::: reading <- clients | reading <- clients
//
//go:embed testdata/redis_urls.txt
var vectors string

// genericClients are the clients whose common reading is generic.
var genericClients = []string{"go", "py8", "io", "rc"}

// notRead are parameters by which some clients refuse a URL or fail at first
// use, and none connects elsewhere: generic leaves them to the worker.
var notRead = regexp.MustCompile(`[?&](ssl_[a-z_]+|protocol|client_name|[a-z_]*timeout|health_check_interval|max_connections|decode_responses|retry_on_timeout|socket_keepalive|virtual_host|family|maxRetriesPerRequest|enableReadyCheck|max_retries|persistent|foo)=`)

func TestGenericReadsWhatClientsReadAlike(t *testing.T) {
	for line := range strings.Lines(vectors) {
		quoted, rest, _ := strings.Cut(strings.TrimSpace(line), " ::: ")
		url := strings.ReplaceAll(strings.Trim(quoted, "'"), `\\`, `\`)
		t.Run(url, func(t *testing.T) {
			readings := map[string]string{}
			for part := range strings.SplitSeq(rest, " | ") {
				reading, clients, _ := strings.Cut(part, " <- ")
				for c := range strings.SplitSeq(clients, ",") {
					readings[c] = normalise(reading)
				}
			}
			got := readGeneric(url)
			want := readings["go"]
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
	reading = strings.ReplaceAll(reading, "u='default'", "u=''")
	reading = strings.ReplaceAll(reading, "<default localhost>", "localhost")
	reading = strings.NewReplacer("[", "", "]", "").Replace(reading)
	host, rest, _ := strings.Cut(reading, "/")
	return strings.ToLower(host) + "/" + rest
}

func readGeneric(url string) string {
	u, reason := ParseRedisURL(url)
	if code, _ := hygiene(url, TypeRedis.rule()); code != "" || reason != "" {
		return "ERR"
	}
	p := u.Reveal()
	s := fmt.Sprintf("%s:%s/%d", p.Host, p.Port, p.DB)
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
		if _, got := ParseRedisURL(c.url); got != c.want {
			t.Errorf("%s: reason %q, want %q", c.url, got, c.want)
		}
	}
}

func FuzzParseRedisURL(f *testing.F) {
	for line := range strings.Lines(vectors) {
		quoted, _, _ := strings.Cut(line, " ::: ")
		f.Add(strings.Trim(quoted, "'"))
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, reason := ParseRedisURL(s)
		p := u.Reveal()
		if (reason == "") != (p.Host != "") {
			t.Fatalf("reason %q does not go with what was read", reason)
		}
		if reason != "" {
			return
		}
		// What is looked up stands in the URL as the host, and nowhere else.
		_, rest, _ := strings.Cut(s, "://")
		authority, _, _ := strings.Cut(rest, "/")
		if !strings.Contains(authority, p.Host) || strings.ContainsAny(p.Host, "@/?# ") {
			t.Fatal("the host is not the URL's")
		}
		if p.DB < 0 || p.Port == "0" || p.Port == "" {
			t.Fatal("a database or port that no server has")
		}
	})
}
