package integration

import (
	"net"
	"net/http"
	"slices"
	"testing"
)

// TestTCPConformance shows each condition of a bare port to the gate.
func TestTCPConformance(t *testing.T) {
	t.Logf("\n%s", show(t, tcpRows(), nil).table(nil))
}

func tcpAt(t testing.TB, keyType, address string) call {
	return byContract(t, "tcp", keyType, address, "")
}

func tcpRows() []row {
	return []row{
		{"1", "HOST:PORT", "listener", func(t testing.TB) call { return tcpAt(t, "string", peer(t, silent)) }, isReady()},
		{"1a", "a URL", "listener", func(t testing.TB) call {
			return tcpAt(t, "url", "amqp://shopclerk:pass@"+peer(t, closing)+"/queue")
		}, isReady()},
		{"1b", "a URL in a text", "listener", func(t testing.TB) call { return tcpAt(t, "string", "smtp://"+peer(t, silent)) }, isReady()},
		{"1c", "a URL of Redis", "listener", func(t testing.TB) call { return tcpAt(t, "redis_url", "redis://"+peer(t, silent)+"/3") }, isReady()},
		{"2", "nothing listens", "-", func(t testing.TB) call { return tcpAt(t, "string", "127.0.0.1:"+freePort(t)) }, isRetried("tcp_refused")},
		{"3", "no port", "-", func(t testing.TB) call {
			return tcpAt(t, "string", "one.example")
		}, verdict{exit: 78, code: "target_invalid", reason: "port_invalid"}},
	}
}

// Four waits of four kinds run side by side under one budget, and each is told
// of by its own name.
func TestFourKindsSideBySide(t *testing.T) {
	t.Parallel()
	redis, postgres := newRedis(t, redisOptions{}), newPostgres(t, postgresOptions{})
	mail := "127.0.0.1:" + freePort(t)
	web := "127.0.0.1:" + freePort(t)
	path := contractFile(t, `keys:
  QUEUE: {type: redis_url}
  DATABASE: {type: postgres_url}
  RUNTIME: {type: http_url}
  MAIL: {}
waits:
  - redis: QUEUE
  - postgres: DATABASE
  - {http: RUNTIME, path: /healthz}
  - {tcp: MAIL, name: mail}
`)
	env := []string{
		"STARTGATE_CONTRACT=" + path, "QUEUE=" + redis.url("", ""), "DATABASE=" + postgres.url(database), "RUNTIME=http://" + web, "MAIL=" + mail,
	}

	check := run(t, append(env, "STARTGATE_FORMAT=text"), "check")
	for _, line := range []string{
		"plan wait=redis key=QUEUE client=generic require=write timeout=", "plan wait=postgres key=DATABASE timeout=",
		"plan wait=http key=RUNTIME timeout=", "plan wait=mail key=MAIL timeout=",
	} {
		if !contains(check.stdout, line) {
			t.Errorf("check says no %s\n%s", line, check.stdout)
		}
	}

	none := run(t, env, "wait", "--timeout", "1")
	if took := none.last().Elapsed; none.code != 75 || took > 3 {
		t.Errorf("exit %d, and 1 s of budget took %.2f s", none.code, took)
	}
	var failed []string
	for _, e := range none.events() {
		if e.Level == "error" {
			failed = append(failed, e.Wait+" "+e.Code)
		}
	}
	slices.Sort(failed)
	if want := []string{"http http_refused", "mail tcp_refused", "postgres postgres_refused", "redis redis_refused"}; !slices.Equal(failed, want) {
		t.Errorf("failed %v, want %v\n%s", failed, want, none.stderr)
	}

	p := start(t, command(env, "run", "--", workerPath(), "exit", "17"))
	if e := p.await("start", 1); e.Wait != "redis,postgres,http,mail" || !slices.Equal(e.Keys, []string{"QUEUE", "DATABASE", "RUNTIME", "MAIL"}) {
		t.Errorf("start names %s, %v", e.Wait, e.Keys)
	}
	for i, serve := range []struct {
		wait string
		do   func()
	}{
		{"mail", func() { keepListening(t, mail, nil) }},
		{"http", func() { keepListening(t, web, answering(200)) }},
		{"redis", func() { redis.launch() }},
		{"postgres", func() { postgres.launch() }},
	} {
		serve.do()
		if e := p.await("ready", i+1); e.Wait != serve.wait {
			t.Errorf("ready number %d is %s, want %s", i+1, e.Wait, serve.wait)
		}
	}
	if p.wait(); p.code != 17 {
		t.Errorf("exit %d, want the worker's\n%s", p.code, p.stderr)
	}
}

// keepListening listens at the address until t ends, and answers requests when
// there is a handler.
func keepListening(t testing.TB, address string, handler http.Handler) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if handler != nil {
		s := &http.Server{Handler: handler}
		t.Cleanup(func() { s.Close() })
		go s.Serve(l)
	}
}
