package envcheck

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// address writes a target as NAME KEY HOST:PORT/DB user password tls.
func address(t Target) string {
	if t.Kind != "redis" {
		u := t.Address.Reveal()
		return fmt.Sprintf("%s %s %s:%s", t.Name, t.Key, u.Host, u.Port)
	}
	p := t.URL.Reveal()
	if p.Sentinels != nil {
		return fmt.Sprintf("%s %s %v %s %s", t.Name, t.Key, p.Sentinels, p.Master, p.Password)
	}
	return fmt.Sprintf("%s %s %s:%s/%d %s %s %v", t.Name, t.Key, p.Host, p.Port, p.DB, p.User, p.Password, p.TLS)
}

func TestWaits(t *testing.T) {
	for _, c := range []struct {
		name, contract, env, want string
	}{
		{"URL", "keys: {A: {type: redis_url}}\nwaits: [{redis: A}]", "A=redis://u:pw@h:1/2", "redis A h:1/2 u pw false"},
		{"unset", "keys: {A: {type: redis_url, topic: q}}\nwaits: [{redis: A}]", "", "q_missing[A]"},
		{"faulty", "keys: {A: {type: redis_url}}\nwaits: [{redis: A}]", "A=h", "a_parse_failed[A]/scheme_missing"},
		{"fallback", "keys: {A: {type: redis_url, fallback: [B]}, B: {type: redis_url}}\nwaits: [{redis: A}]", "B=rediss://h", "redis B h:6379/0   true\ni:env_fallback_used[A,B]"},
		{"password of its own", "keys: {A: {type: redis_url}, P: {secret: true}}\nwaits: [{redis: {url: A, password: P}}]", "A=redis://h|P=p@#/w", "redis A h:6379/0  p@#/w false"},
		{"password of both", "keys: {A: {type: redis_url}, P: {secret: true}}\nwaits: [{redis: {url: A, password: P}}]", "A=redis://:url@h|P=own", "redis A h:6379/0  url false"},
		{"password with a fault", "keys: {A: {type: redis_url}, P: {secret: true}}\nwaits: [{redis: {url: A, password: P}}]", "A=redis://h|P='x'", "env_quoted_value[P]"},
		{"parts", "keys: {H: {}, P: {type: port}, U: {}, W: {secret: true}, D: {type: int}, T: {type: bool}}\nwaits: [{redis: {host: H, port: P, user: U, password: W, db: D, tls: T}}]",
			"H=h|P=1|U=u|W=w|D=2|T=1", "redis H h:1/2 u w true"},
		{"only the host", "keys: {H: {}, P: {type: port}, D: {type: int, default: '3'}}\nwaits: [{redis: {host: H, port: P, db: D}}]", "H=::1", "redis H ::1:6379/3   false"},
		{"a port that is none", "keys: {H: {}, P: {type: int}}\nwaits: [{redis: {host: H, port: P}}]", "H=h|P=70000", "p_invalid[P]/port_invalid"},
		{"port 0", "keys: {H: {}, P: {type: int}}\nwaits: [{redis: {host: H, port: P}}]", "H=h|P=0", "p_invalid[P]/port_invalid"},
		{"a database that is none", "keys: {H: {}, D: {type: int}}\nwaits: [{redis: {host: H, db: D}}]", "H=h|D=3000000000", "d_invalid[D]/out_of_range"},
		{"no host", "keys: {H: {}}\nwaits: [{redis: {host: H}}]", "", "h_missing[H]"},
		{"a host that is none", "keys: {H: {}}\nwaits: [{redis: {host: H}}]", "H=redis://h", "h_invalid[H]/host_invalid"},
		{"Sentinels", "keys: {S: {type: list}, P: {secret: true}}\nwaits: [{redis: {sentinels: S, master: m, password: P}}]", "S=a:1, b|P=w", "redis S [a:1 b:26379] m w"},
		{"condition", "keys: {A: {type: redis_url}, B: {type: bool}}\nwaits: [{redis: A, when: B}]", "A=redis://h|B=0", "not redis"},
		{"condition unknown", "keys: {A: {type: redis_url}, B: {type: bool}}\nwaits: [{redis: A, when: B}]", "B=x", "b_invalid[B]/not_bool"},
		{"others", "keys: {D: {type: postgres_url}, H: {type: http_url}, M: {}, Q: {type: url}}\nwaits: [{postgres: D}, {http: H, path: /x}, {tcp: M, name: mail}, {tcp: Q}]",
			"D=postgres://d|H=https://h|M=m:25|Q=amqp://q", "postgres D d:5432\nhttp H h:443\nmail M m:25\ntcp Q q:5672"},
		{"postgres", "keys: {D: {type: postgres_url}}\nwaits: [{postgres: D}]", "D=postgres://u%40:p%2F@d:1/shop%20data", "postgres D d:1"},
		{"postgres elsewhere", "keys: {D: {type: postgres_url}}\nwaits: [{postgres: D}]", "D=postgres://d/x?hostaddr=::1", "d_parse_failed[D]/parameter_unsupported"},
		{"postgres, its type alone", "keys: {D: {type: postgres_url}}", "D=postgres://d/x?hostaddr=::1", ""},
		{"header with a line break", "keys: {H: {type: http_url}, T: {secret: true}}\nwaits: [{http: H, header: {name: X, key: T}}]", "H=http://h|T=a\nb", "env_control_character[T]"},
		{"a driver of SQLAlchemy", "keys: {D: {type: postgres_url}}\nwaits: [{postgres: D}]", "D=postgresql+asyncpg://u:p@d/x", "postgres D d:5432"},
		{"no port", "keys: {M: {}, Q: {type: url}}\nwaits: [{tcp: M}, {tcp: Q, name: q}]", "M=m|Q=x://q", "m_invalid[M]/port_invalid q_invalid[Q]/port_invalid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := contractOf(t, c.contract).Check(Environ(strings.Split(c.env, "|")))
			var got []string
			for _, target := range r.Targets {
				got = append(got, address(target))
			}
			for _, name := range r.NotDone {
				got = append(got, "not "+string(name))
			}
			if codes := strings.Join(r.Codes(), " "); codes != "" {
				got = append(got, codes)
			}
			if got := strings.Join(got, "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestAdviceOnASchemeIsTheTypes(t *testing.T) {
	c := contractOf(t, "keys: {M: {}, U: {type: url}, H: {type: http_url}, R: {type: redis_url}}\nwaits: [{tcp: M, when: set(M)}]")
	for env, want := range map[string]string{
		"M=my_mail://h:25": "start it with a scheme and ://", "U=h:25": "start it with a scheme and ://",
		"H=ftp://h": "start it with http:// or https://", "R=http://h": "start the URL with redis:// or rediss://",
	} {
		if ds := c.Check(Environ{env}).Diagnostics; len(ds) != 1 || !strings.HasSuffix(ds[0].Message(), "; "+want) {
			t.Errorf("%s: %s", env, summary(ds))
		}
	}
}

func TestWaitFields(t *testing.T) {
	c := contractOf(t, `keys: {A: {type: redis_url}, CA: {type: path}, SN: {}}
waits:
  - redis: A
    client: celery
    require: [ping, noeviction]
    prefer: [version>=6.2]
    oom: warn
    key_prefix: q
    tls: {ca: CA, server_name: SN, verify: ca}
  - {redis: A, name: second}
`)
	r := c.Check(Environ{"A=rediss://h", "CA=/ca.pem", "SN=name"})
	if len(r.Targets) != 2 {
		t.Fatalf("targets %d %v", len(r.Targets), r.Codes())
	}
	w := r.Targets[0]
	if w.Client != Celery || w.Require != RequirePing || !w.Checks[0].NoEviction || w.Prefer[0].Version != "6.2" || w.OOM != AsWarn ||
		w.KeyPrefix != "q" || w.Topology != "standalone" || w.CAFile.Reveal() != "/ca.pem" || w.ServerName.Reveal() != "name" || w.URL.Reveal().Verify != VerifyCA {
		t.Errorf("got %+v", w)
	}
	if w := r.Targets[1]; w.Client != Generic || w.Require != RequireWrite || w.KeyPrefix != "startgate" || w.URL.Reveal().Verify != "" {
		t.Errorf("got %+v", w)
	}
}

func TestPostgresURL(t *testing.T) {
	const contract = "keys: {D: {type: postgres_url}, CA: {type: path}}\nwaits: [{postgres: D%s}]"
	for _, c := range []struct{ url, fields, want string }{
		{"postgres://u:p@h/d", "", "u p d prefer "},
		{"postgresql://h", "", "   prefer "},
		{"postgres://h/d?user=u&password=p&dbname=e", "", "u p e prefer "},
		{"postgres://h/d%20e?application_name=x", "", "  d e prefer "},
		{"postgres://h/d?sslmode=verify-full&sslrootcert=/ca%20.pem", "", "  d verify-full /ca .pem"},
		{"postgres://h/d?sslmode=disable&sslrootcert=/ca.pem", "", "  d disable "},
		{"postgres://h/d?sslrootcert=system", "", "  d verify-full "},
		{"postgres://h/d?sslrootcert=system&sslmode=require", "", "sslmode_unsupported"},
		{"postgres://h/d?ssl=true", "", "  d require "},
		{"postgres://h/d?ssl=1", "", "sslmode_unsupported"},
		{"postgres://h/d?sslmode=Require", "", "sslmode_unsupported"},
		{"postgres://h/d", ", tls: {ca: CA, verify: full}", "  d verify-full /own.pem"},
		{"postgres://h/d", ", tls: {verify: ca}", "  d verify-ca "},
		{"postgres://h/d", ", tls: {verify: none}", "  d require "},
		{"postgres://h/d?sslmode=allow&sslrootcert=/ca.pem", ", tls: {ca: CA, verify: full}", "  d allow /ca.pem"},
		{"postgres://h/%00", "", "bad_percent_encoding"},
		{"postgres://h/d?user=%zz", "", "bad_percent_encoding"},
		{"postgres://h/d?sslkey=/k", "", "parameter_unsupported"},
		{"postgres://h/d?sslnegotiation=direct", "", "parameter_unsupported"},
		{"postgres://h/d?sslnegotiation=postgres&gssencmode=prefer", "", "  d prefer "},
		{"postgres://h/d?gssencmode=require", "", "parameter_unsupported"},
		{"postgres://h/d?%68ost=other", "", "parameter_unsupported"},
		{"postgres://h/d?%75ser=u", "", "u  d prefer "},
		{"postgres://h/d?us%zzer=u", "", "bad_percent_encoding"},
		{"postgres://h,i/d", "", "multiple_hosts"},
		{"postgres:///d?host=/run", "", "host_missing"},
	} {
		r := contractOf(t, fmt.Sprintf(contract, c.fields)).Check(Environ{"D=" + c.url, "CA=/own.pem"})
		got := ""
		if len(r.Targets) == 1 {
			u := r.Targets[0].Address.Reveal()
			got = fmt.Sprintf("%s %s %s %s %s", u.User, u.Password, u.Database, u.SSLMode, r.Targets[0].CAFile.Reveal())
		} else {
			_, got, _ = strings.Cut(strings.Join(r.Codes(), " "), "/")
		}
		if got != c.want {
			t.Errorf("%s%s: got %q, want %q", c.url, c.fields, got, c.want)
		}
	}
}

func TestHTTPFields(t *testing.T) {
	c := contractOf(t, `keys: {H: {type: http_url}, T: {secret: true}}
waits:
  - {http: H, path: /healthz, status: [200, 401], header: {name: X-Token, key: T}}
  - {http: H, name: second, status: 204}
  - {http: H, name: third}
`)
	r := c.Check(Environ{"H=https://u:p@h/a%20b?c#d", "T=secret"})
	if len(r.Targets) != 3 {
		t.Fatal(r.Codes())
	}
	first, u := r.Targets[0], r.Targets[0].Address.Reveal()
	if first.Path != "/healthz" || fmt.Sprint(first.Status) != "[200 401]" || first.WaitSpec.Header.Name != "X-Token" || first.Header.Reveal() != "secret" {
		t.Errorf("got %+v", first)
	}
	if u.User != "u" || u.Password != "p" || u.Path != "/a%20b" || u.Query != "c" || u.Port != "443" {
		t.Error("the URL is not taken apart")
	}
	if fmt.Sprint(r.Targets[1].Status, r.Targets[2].Status) != "[204] []" {
		t.Errorf("got %v", r.Targets[1].Status)
	}
	for _, want := range []string{"GET /healthz: 200 or 401", "GET the URL: 204", "GET the URL: 2xx"} {
		if !strings.Contains(c.Docs(), want) {
			t.Errorf("the table has no %q", want)
		}
	}
}

func TestSettings(t *testing.T) {
	c := contractOf(t, "keys: {A: {type: seconds, default: '5'}, B: {type: millis}, C: {type: duration}, D: {type: int}}\nsettings: {timeout: A, delay: B, dial_timeout: C, reply_timeout: D}")
	var got []string
	for _, s := range c.Check(Environ{"B=500", "C=1m"}).Settings {
		got = append(got, fmt.Sprint(s.Name, " ", s.Key, " ", s.Text.Reveal(), " ", s.Default))
	}
	if got := strings.Join(got, "\n"); got != "timeout A 5 true\ndelay B 500ms false\ndial_timeout C 1m0s false" {
		t.Errorf("got\n%s", got)
	}
	if s := c.Check(Environ{"A=x"}).Settings; len(s) != 0 {
		t.Errorf("a faulty key gives the setting %s", s[0].Name)
	}
}

func TestFacts(t *testing.T) {
	c := contractOf(t, "keys: {A: {type: bool, expose: value}, B: {type: int, default: '1', expose: value}, C: {fallback: [D]}, D: {}, E: {}, F: {type: int}}")
	r := c.Check(Environ{"A=1", "D=x", "F=x"})
	var got strings.Builder
	for _, f := range r.Facts {
		got.Write(append(f.AppendText(nil), '\n'))
		if !json.Valid(f.AppendJSON(nil, time.Now())) {
			t.Errorf("%s is no JSON", f.AppendJSON(nil, time.Now()))
		}
	}
	want := `startgate: info  fact key=A state=present value=true
startgate: info  fact key=B state=default
startgate: info  fact key=C state=present via=D
startgate: info  fact key=D state=present
startgate: info  fact key=E state=missing
startgate: info  fact key=F state=invalid
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
	if v, ok := r.Facts[0].Value(); v != "true" || !ok {
		t.Errorf("value %q", v)
	}
	if _, ok := r.Facts[3].Value(); ok {
		t.Error("a key that is not exposed has a value")
	}
}

func TestBuiltin(t *testing.T) {
	known := []Key{"RQ_REDIS_URL", "REDIS_URL", "REDIS_HOST"}
	for _, c := range []struct {
		name   string
		groups [][]Key
		client Client
		env    string
		want   string
	}{
		{"host", [][]Key{known}, Generic, "REDIS_HOST=h", "redis REDIS_HOST h:6379/0   false"},
		{"host and parts", [][]Key{known}, Generic, "REDIS_HOST=h|REDIS_PORT=1|REDIS_USERNAME=u|REDIS_PASSWORD=p@w|REDIS_DB=2", "redis REDIS_HOST h:1/2 u p@w false"},
		{"a service link as port", [][]Key{known}, Generic, "REDIS_HOST=h|REDIS_PORT=tcp://10.0.0.1:6379", "redis REDIS_HOST h:6379/0   false\n~env_service_link_collision[REDIS_PORT]"},
		{"URL before host", [][]Key{known}, Generic, "REDIS_URL=redis://u|REDIS_HOST=h|REDIS_PORT=x", "redis REDIS_URL u:6379/0   false"},
		{"faults of parts", [][]Key{known}, Generic, "REDIS_HOST=h:1|REDIS_PORT=0|REDIS_DB=-1", "redis_parse_failed[REDIS_HOST]/host_invalid redis_port_invalid[REDIS_PORT]/out_of_range env_redis_db_invalid[REDIS_DB]/not_integer"},
		{"a database that is none", [][]Key{known}, Generic, "REDIS_HOST=h|REDIS_DB=3000000000", "env_redis_db_invalid[REDIS_DB]/out_of_range"},
		{"words that parts may mean", [][]Key{known}, Generic, "REDIS_HOST=h|REDIS_USERNAME=null|REDIS_PASSWORD=none", "redis REDIS_HOST h:6379/0 null none false"},
		{"a word that no host means", [][]Key{known}, Generic, "REDIS_HOST=none", "env_placeholder_value[REDIS_HOST]"},
		{"a word that no URL means", [][]Key{known}, Generic, "REDIS_URL=undefined", "env_placeholder_value[REDIS_URL]"},
		{"a word that no part means", [][]Key{known}, Generic, "REDIS_HOST=h|REDIS_PASSWORD=changeme", "env_placeholder_value[REDIS_PASSWORD]"},
		{"a link as host", [][]Key{known}, Generic, "REDIS_HOST=changeme", "env_placeholder_value[REDIS_HOST]"},
		{"provider", [][]Key{known}, Generic, "REDIS_PROVIDER=MY_URL|MY_URL=redis://my|REDIS_URL=redis://u", "redis REDIS_PROVIDER my:6379/0   false"},
		{"provider behind others", [][]Key{known}, Generic, "REDIS_PROVIDER=MY_URL|MY_URL=redis://my|RQ_REDIS_URL=redis://rq", "redis RQ_REDIS_URL rq:6379/0   false"},
		{"provider of Sidekiq", [][]Key{known}, Sidekiq, "REDIS_PROVIDER=MY_URL|MY_URL=redis://my|RQ_REDIS_URL=redis://rq", "redis REDIS_PROVIDER my:6379/0   false"},
		{"provider with a URL", [][]Key{known}, Generic, "REDIS_PROVIDER=redis://my", "redis_parse_failed[REDIS_PROVIDER]/not_a_key"},
		{"provider of another family", [][]Key{known}, RQ, "REDIS_PROVIDER=MY_URL|MY_URL=redis://my|REDIS_URL=redis://u", "redis REDIS_URL u:6379/0   false"},
		{"provider of nothing, and a URL", [][]Key{known}, Sidekiq, "REDIS_PROVIDER=MY_URL|REDIS_URL=redis://u", "redis REDIS_URL u:6379/0   false\n~redis_missing[REDIS_PROVIDER]"},
		{"provider of nothing", [][]Key{known}, Generic, "REDIS_PROVIDER=MY_URL", "redis_missing[REDIS_PROVIDER]"},
		{"provider of a fault", [][]Key{known}, Generic, "REDIS_PROVIDER=MY_URL|MY_URL=h:6379", "redis_parse_failed[REDIS_PROVIDER]/scheme_missing"},
		{"provider of no concern", [][]Key{{"MY"}}, Generic, "REDIS_PROVIDER=MY_URL|MY_URL=redis://my|MY=redis://m", "redis MY m:6379/0   false"},
		{"by file", [][]Key{known}, Generic, "RQ_REDIS_URL_FILE=nowhere", "secret_file_unreadable[RQ_REDIS_URL_FILE]/path_not_absolute"},
		{"near", [][]Key{known}, Generic, "REDIS_ULR=redis://h", "redis_missing[RQ_REDIS_URL,REDIS_URL,REDIS_HOST]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			contract := Builtin(c.groups, c.client, RequireWrite, "p")
			r := contract.Check(Environ(strings.Split(c.env, "|")))
			var got []string
			for _, target := range r.Targets {
				got = append(got, address(target))
			}
			if codes := strings.Join(r.Codes(), " "); codes != "" {
				got = append(got, codes)
			}
			if got := strings.Join(got, "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestExplainWithTheContractAtHand(t *testing.T) {
	c := contractOf(t, "keys: {A: {type: int, doc: what A is}}\nskip_when: set(A)\nskip_code: off_duty\nrules: [{code: r, require_any: [A], fix: set A, doc: A matters}]")
	for code, want := range map[string]string{
		"a_invalid": "A: what A is", "r": "Rule: require any A\n\nDoc: A matters\n\nFix: set A\n", "off_duty": "off_duty\nWhat ", "redis_loading": "redis_loading\nWhat ",
	} {
		if page, ok := c.Explain(code); !ok || !strings.Contains(page, want) {
			t.Errorf("%s has the page %q", code, page)
		}
	}
	if _, ok := c.Explain("nope"); ok {
		t.Error("nope has a page")
	}
}
