package integration

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/startgate/startgate/probe/probetest"
)

// TestPostgresConformance shows each condition of a PostgreSQL to the gate.
func TestPostgresConformance(t *testing.T) {
	need(t, "PostgreSQL's server", postgresBin() != "")
	t.Logf("\n%s", show(t, append(postgresRows(), postgresTLSRows()...), nil).table(nil))
}

// byContract is a call by a contract with one wait, for the key TARGET. fields
// are those of the wait behind its key, with a comma before them.
func byContract(t testing.TB, kind, keyType, url, fields string, env ...string) call {
	t.Helper()
	path := contractFile(t, "keys: {TARGET: {type: "+keyType+"}, CA: {type: path}, NAME: {}, TOKEN: {secret: true}}\nwaits:\n  - {"+kind+": TARGET"+fields+"}\n")
	return call{env: append([]string{"STARTGATE_CONTRACT=" + path, "TARGET=" + url}, env...)}
}

// contractFile writes a contract.
func contractFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "contract.yaml")
	if err := os.WriteFile(path, []byte("contract: 1\nname: test\n"+text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func postgresAt(t testing.TB, url string, env ...string) call {
	return byContract(t, "postgres", "postgres_url", url, "", env...)
}

// postgresRows are what can be between a worker and its PostgreSQL.
func postgresRows() []row {
	server := postgresVersion()
	with := func(o postgresOptions, tail string) func(t testing.TB) call {
		return func(t testing.TB) call { return postgresAt(t, startPostgres(t, o).url(tail)) }
	}
	rules := func(lines ...string) postgresOptions { return postgresOptions{rules: lines} }
	return []row{
		{"1", "ready, scram", server, with(rules("host all all 127.0.0.1/32 scram-sha-256"), "shopdata"), isReady()},
		{"1a", "ready, md5", server, with(rules("host all all 127.0.0.1/32 md5"), "shopdata"), isReady()},
		{"1b", "ready, password in the clear", server, with(rules("host all all 127.0.0.1/32 password"), "shopdata"), isReady()},
		{"1c", "ready, trust", server, with(postgresOptions{}, "shopdata"), isReady()},
		{"1d", "ready, no TLS wanted", server, with(postgresOptions{}, "shopdata?sslmode=disable"), isReady()},
		{"1e", "ready, TLS allowed", server, with(postgresOptions{}, "shopdata?sslmode=allow"), isReady()},
		{"1f", "a password is wanted before the database is looked for", server,
			with(rules("host all all 127.0.0.1/32 scram-sha-256"), "nowhere"), isReady()},
		{"1g", "no user in the URL", server, func(t testing.TB) call {
			return postgresAt(t, "postgres://"+startPostgres(t, postgresOptions{}).addr()+"/shopdata")
		}, isReady()},
		{"2", "starting up", server, with(postgresOptions{standby: true}, "shopdata"), isRetried("postgres_starting")},
		{"3", "too many connections", server, func(t testing.TB) call {
			s := startPostgres(t, postgresOptions{settings: []string{"max_connections=1", "superuser_reserved_connections=0"}})
			s.hold()
			return postgresAt(t, s.url("shopdata"))
		}, isRetried("postgres_max_connections")},
		{"3a", "connections that are left are the superuser's", server, func(t testing.TB) call {
			s := startPostgres(t, postgresOptions{settings: []string{"max_connections=2", "superuser_reserved_connections=1"}})
			s.hold()
			return postgresAt(t, "postgres://"+clerk+"@"+s.addr()+"/"+database)
		}, isRetried("postgres_max_connections")},
		{"4", "no such database", server, with(postgresOptions{}, "nowhere"), isRefused("postgres_no_database")},
		{"5", "pg_hba.conf rejects", server, with(rules("host all all 127.0.0.1/32 reject"), "shopdata"), isRefused("postgres_not_permitted")},
		{"5a", "pg_hba.conf has no line", server, with(rules("host other all 127.0.0.1/32 trust"), "shopdata"), isRefused("postgres_not_permitted")},
		{"5b", "no such role", server, func(t testing.TB) call {
			return postgresAt(t, "postgres://nobodys@"+startPostgres(t, postgresOptions{}).addr()+"/shopdata")
		}, isRefused("postgres_not_permitted")},
		{"6", "nothing listens", "-", func(t testing.TB) call {
			return postgresAt(t, "postgres://shop@127.0.0.1:"+freePort(t)+"/shopdata")
		}, isRetried("postgres_refused")},
		{"7", "Redis", "redis-server", func(t testing.TB) call {
			return postgresAt(t, "postgres://shop@"+startRedis(t, redisOptions{}).addr()+"/shopdata", "STARTGATE_REPLY_TIMEOUT=0.2")
		}, isRefused("postgres_not_postgres")},
		{"7a", "Redis, no TLS wanted", "redis-server", func(t testing.TB) call {
			return postgresAt(t, "postgres://shop@"+startRedis(t, redisOptions{}).addr()+"/shopdata?sslmode=disable", "STARTGATE_REPLY_TIMEOUT=0.2")
		}, isRefused("postgres_not_postgres")},
		{"7b", "HTTP server", "net/http", func(t testing.TB) call {
			return postgresAt(t, "postgres://shop@"+httpServer(t)+"/shopdata", "STARTGATE_REPLY_TIMEOUT=0.2")
		}, isRefused("postgres_not_postgres")},
		{"7c", "SSH server", "listener", func(t testing.TB) call {
			return postgresAt(t, "postgres://shop@"+peer(t, banner(probetest.SSHBanner))+"/shopdata")
		}, isRefused("postgres_not_postgres")},
		{"7d", "MySQL server", "listener", func(t testing.TB) call {
			return postgresAt(t, "postgres://shop@"+peer(t, banner("\x4a\x00\x00\x00\x0a8.0.36\x00\x08\x00\x00\x00"))+"/shopdata")
		}, isRefused("postgres_not_postgres")},
		{"8", "silent peer", "listener", func(t testing.TB) call {
			return postgresAt(t, "postgres://shop@"+peer(t, silent)+"/shopdata")
		}, isRetried("postgres_reply_timeout")},
		{"9", "closes at once", "listener", func(t testing.TB) call {
			return postgresAt(t, "postgres://shop@"+peer(t, closing)+"/shopdata?sslmode=disable")
		}, isRetried("postgres_closed")},
		{"9a", "resets", "listener", func(t testing.TB) call {
			return postgresAt(t, "postgres://shop@"+peer(t, resetting)+"/shopdata")
		}, isRetried("postgres_closed")},
	}
}

// postgresTLSRows are what can be between the two about TLS.
func postgresTLSRows() []row {
	server := postgresVersion()
	local := probetest.Leaf{Names: []string{"127.0.0.1"}}
	other := probetest.Leaf{Names: []string{"other.example"}}
	expired, early := local, local
	expired.NotBefore, expired.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	early.NotBefore = time.Now().Add(time.Hour)
	with := func(leaf probetest.Leaf, tail string, rules ...string) func(t testing.TB) call {
		return func(t testing.TB) call {
			s, ca := startPostgresTLS(t, leaf, rules...)
			if tail != "" && tail[len(tail)-1] == '=' {
				tail += ca
			}
			return postgresAt(t, s.url("shopdata?"+tail))
		}
	}
	byFile := func(leaf probetest.Leaf, fields string, env ...string) func(t testing.TB) call {
		return func(t testing.TB) call {
			s, ca := startPostgresTLS(t, leaf)
			return byContract(t, "postgres", "postgres_url", s.url("shopdata"), fields, append(env, "CA="+ca)...)
		}
	}
	return []row{
		{"20", "TLS preferred", server, with(local, ""), isReady()},
		{"20a", "TLS required", server, with(local, "sslmode=require"), isReady("postgres_tls_unverified")},
		{"20b", "TLS required, with an authority", server, with(local, "sslmode=require&sslrootcert="), isReady()},
		{"20c", "verify-ca", server, with(other, "sslmode=verify-ca&sslrootcert="), isReady()},
		{"20d", "verify-full", server, with(local, "sslmode=verify-full&sslrootcert="), isReady()},
		{"20e", "by the contract's file", server, byFile(local, ", tls: {ca: CA, verify: full}"), isReady()},
		{"20f", "by the contract's name", server, byFile(other, ", tls: {ca: CA, server_name: NAME, verify: full}", "NAME=other.example"), isReady()},
		{"21", "TLS required and not there", server, func(t testing.TB) call {
			return postgresAt(t, startPostgres(t, postgresOptions{}).url("shopdata?sslmode=require"))
		}, isRefused("postgres_tls_not_offered")},
		{"22", "unknown authority, verify-full", server, with(local, "sslmode=verify-full"), isRefused("postgres_tls_untrusted")},
		{"22a", "unknown authority, verify-ca", server, with(local, "sslmode=verify-ca"), isRefused("postgres_tls_untrusted")},
		{"23", "another name, verify-full", server, with(other, "sslmode=verify-full&sslrootcert="), isRefused("postgres_tls_name_mismatch")},
		{"24", "expired", server, with(expired, "sslmode=verify-full&sslrootcert="), isRefused("postgres_tls_expired")},
		{"25", "not yet valid", server, with(early, "sslmode=verify-full&sslrootcert="), isRetried("postgres_tls_not_yet_valid")},
		{"26", "TLS alone, none wanted", server, with(local, "sslmode=disable", "hostssl all all 127.0.0.1/32 trust"), isRefused("postgres_not_permitted")},
		{"26a", "TLS alone, and allowed", server, with(local, "sslmode=allow", "hostssl all all 127.0.0.1/32 trust"), isReady()},
		{"26b", "no TLS, and preferred", server, with(local, "sslmode=prefer", "hostnossl all all 127.0.0.1/32 trust"), isReady()},
		{"26c", "no TLS, and required", server, with(local, "sslmode=require", "hostnossl all all 127.0.0.1/32 trust"), isRefused("postgres_not_permitted")},
		{"27", "client certificate wanted", server, with(local, "sslmode=require", "hostssl all all 127.0.0.1/32 trust clientcert=verify-ca"), isRefused("postgres_not_permitted")},
		{"28", "answers yes and speaks no TLS", "listener", func(t testing.TB) call {
			return postgresAt(t, "postgres://shop@"+peer(t, banner("Syes, and then something else"))+"/shopdata?sslmode=require")
		}, isRefused("postgres_not_postgres")},
		{"29", "TLS of a version that is too old", "crypto/tls", func(t testing.TB) call {
			return postgresAt(t, "postgres://shop@"+oldTLS(t)+"/shopdata?sslmode=require")
		}, isRefused("postgres_tls_refused")},
	}
}

// startPostgresTLS starts a server with a certificate and returns the path of
// its authority's.
func startPostgresTLS(t testing.TB, leaf probetest.Leaf, rules ...string) (s *postgresServer, ca string) {
	t.Helper()
	authority, err := probetest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	identity, err := authority.Issue(leaf)
	if err != nil {
		t.Fatal(err)
	}
	s = newPostgres(t, postgresOptions{identity: &identity, rules: rules, settings: []string{"ssl_ca_file='root.crt'"}})
	s.write("root.crt", string(authority.PEM()))
	s.launch()
	s.awaitAnswer()
	ca = filepath.Join(t.TempDir(), "root.crt")
	if err := os.WriteFile(ca, authority.PEM(), 0o644); err != nil {
		t.Fatal(err)
	}
	return s, ca
}

// oldTLS is a peer that answers yes to a request for TLS and speaks 1.1 alone.
func oldTLS(t testing.TB) string {
	t.Helper()
	authority, err := probetest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	config, err := authority.ServerConfig("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	config.MinVersion, config.MaxVersion = tls.VersionTLS11, tls.VersionTLS11
	return peer(t, func(c net.Conn) {
		if _, err := c.Read(make([]byte, 8)); err != nil {
			return
		}
		c.Write([]byte("S"))
		tls.Server(c, config).Handshake()
	})
}

// A server that is started behind the gate is refused, starting and ready.
func TestPostgresStartsAfterTheGate(t *testing.T) {
	t.Parallel()
	s := newPostgres(t, postgresOptions{standby: true})
	p := start(t, command(postgresAt(t, s.url("shopdata")).env, "run", "--", workerPath(), "exit", "17"))
	p.await("postgres_refused", 1)
	s.launch()
	p.await("postgres_starting", 1)
	s.promote()
	p.await("ready", 1)
	if p.wait(); p.code != 17 {
		t.Errorf("exit %d, want the worker's\n%s", p.code, p.stderr)
	}
}

// The connection that was missing comes free.
func TestPostgresConnectionComesFree(t *testing.T) {
	t.Parallel()
	s := startPostgres(t, postgresOptions{settings: []string{"max_connections=1", "superuser_reserved_connections=0"}})
	release := s.hold()
	p := start(t, command(postgresAt(t, s.url("shopdata")).env, "wait"))
	p.await("postgres_max_connections", 1)
	release()
	if p.wait(); p.code != 0 {
		t.Errorf("exit %d\n%s", p.code, p.stderr)
	}
}

// An attempt leaves no line in the server's log, whatever the server wants: a
// fleet that waits would fill it.
func TestPostgresLogStaysEmpty(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"scram-sha-256", "trust"} {
		s, _ := startPostgresTLS(t, probetest.Leaf{Names: []string{"127.0.0.1"}}, "host all all 127.0.0.1/32 "+method)
		for _, mode := range []string{"disable", "allow", "prefer", "require"} {
			if p := run(t, postgresAt(t, s.url(database+"?sslmode="+mode)).env, "wait"); p.code != 0 {
				t.Errorf("exit %d\n%s", p.code, p.stderr)
			}
		}
		s.stop() // so that every session has said what it has to
		for line := range strings.Lines(s.log.String()) {
			_, said, _ := strings.Cut(line, "] ")
			if contains(said, "the database system is starting up") {
				continue // to the test's own pg_isready
			}
			if strings.HasPrefix(said, "FATAL") || strings.Contains(said, "could not") {
				t.Errorf("%s: %s", method, line)
			}
		}
	}
}

// Forms that the gate cannot follow are said by check, with a reason.
func TestPostgresURLsThatCannotBeFollowed(t *testing.T) {
	t.Parallel()
	for url, reason := range map[string]string{
		"postgres://one.example,two.example/shop":                       "multiple_hosts",
		"postgres:///shop?host=/run/postgresql":                         "host_missing",
		"postgres://%2Frun%2Fpostgresql/shop":                           "host_invalid",
		"postgres://one.example/shop?host=two.example":                  "parameter_unsupported",
		"postgres://one.example/shop?service=primary":                   "parameter_unsupported",
		"postgres://one.example/shop?sslcert=/a.crt&sslkey=/a.key":      "parameter_unsupported",
		"postgres://one.example/shop?sslnegotiation=direct":             "parameter_unsupported",
		"postgres://one.example/shop?sslmode=no-verify":                 "sslmode_unsupported",
		"postgres://one.example/shop?sslmode=prefer&sslrootcert=system": "sslmode_unsupported",
	} {
		c := postgresAt(t, url)
		p := run(t, c.env, "check")
		if p.code != 78 || p.last().Code != "target_parse_failed" || p.last().Reason != reason {
			t.Errorf("%s: exit %d, %s\nwant %s", url, p.code, p.stderr, reason)
		}
	}
}
