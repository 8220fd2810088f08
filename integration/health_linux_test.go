package integration

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asked is what the health command says of the gate that env is for.
func asked(t *testing.T, env []string, args ...string) (exit int, code, cause string) {
	t.Helper()
	p := start(t, command(env, append([]string{"health", "--format=text"}, args...)...)).wait()
	var level string
	fmt.Sscanf(p.stdout, "startgate: %s %s", &level, &code)
	return p.code, strings.TrimSuffix(code, ":"), field(p.stdout, "cause")
}

// Health follows a gate from its wait to the end of its worker, and so do the
// probes over HTTP, until the worker takes the port.
func TestHealthFollowsTheGate(t *testing.T) {
	s := startRedis(t, redisOptions{})
	s.kill()
	port := freePort(t)
	env := append(s.env(), "STARTGATE_STATE_FILE="+filepath.Join(t.TempDir(), "state"), "STARTGATE_HEALTH_LISTEN=127.0.0.1:"+port)
	probe := func(path string) int {
		response, err := http.Get("http://127.0.0.1:" + port + path)
		if err != nil {
			return 0
		}
		response.Body.Close()
		return response.StatusCode
	}
	check := func(when string, wantExit int, wantCode string, args ...string) {
		t.Helper()
		if exit, code, _ := asked(t, env, args...); exit != wantExit || code != wantCode {
			t.Errorf("%s, health %v: %d %s, want %d %s", when, args, exit, code, wantExit, wantCode)
		}
	}

	check("before the gate", 1, "health_never_gated")
	check("before the gate", 1, "health_never_gated", "--liveness")
	p := start(t, command(env, "run", "--", workerPath(), "signal"))
	p.await("redis_refused", 1)
	eventually(t, "health knows the cause", func() error {
		if _, code, cause := asked(t, env); code != "health_gating" || cause != "redis_refused" {
			return fmt.Errorf("%s %s", code, cause)
		}
		return nil
	})
	check("while it waits", 0, "health_ok", "--liveness")
	if got := [...]int{probe("/healthz"), probe("/readyz"), probe("/")}; got != [...]int{200, 503, 404} {
		t.Errorf("while it waits the probes get %v", got)
	}

	s.start()
	p.await("exec", 1)
	eventually(t, "health knows the worker", func() error {
		if exit, code, _ := asked(t, env); exit != 0 || code != "health_ok" {
			return fmt.Errorf("%d %s", exit, code)
		}
		return nil
	})
	if got := probe("/healthz"); got != 0 {
		t.Errorf("beside the worker a probe gets %d", got)
	}
	s.kill()
	check("without Redis, which it is not asked for", 0, "health_ok")

	p.cmd.Process.Signal(syscall.SIGKILL)
	p.wait()
	check("after the worker", 1, "health_worker_gone")
	check("after the worker", 1, "health_worker_gone", "--liveness")
}

// A gate that has given up says so for as long as its container is there.
func TestHealthOfAGateThatGaveUp(t *testing.T) {
	env := append(redisURL("redis://127.0.0.1:"+freePort(t)), "STARTGATE_STATE_FILE="+filepath.Join(t.TempDir(), "state"))
	start(t, command(env, "run", "--timeout", "0", "--", workerPath(), "exit", "0")).wait()
	if exit, code, cause := asked(t, env); exit != 1 || code != "health_failed" || cause != "redis_refused" {
		t.Errorf("%d %s %s", exit, code, cause)
	}
}

// A server that does not answer does not hold health up.
func TestHealthHasItsOwnDeadline(t *testing.T) {
	s := startRedis(t, redisOptions{})
	env := append(s.env(), "STARTGATE_STATE_FILE="+filepath.Join(t.TempDir(), "state"), "STARTGATE_CONTRACT="+contractFile(t,
		"keys: {REDIS_URL: {type: redis_url}}\nwaits: [{redis: REDIS_URL}]\nhealth: {redis: true}\n"))
	p := start(t, command(env, "run", "--", workerPath(), "signal"))
	p.await("exec", 1)
	eventually(t, "health is well", func() error {
		if exit, code, _ := asked(t, env); exit != 0 {
			return fmt.Errorf("%s", code)
		}
		return nil
	})
	suspend(t, s.cmd.Process)
	began := time.Now()
	if exit, code, cause := asked(t, env); exit != 1 || code != "health_redis" || cause != "redis_reply_timeout" {
		t.Errorf("%d %s %s", exit, code, cause)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
	if exit, _, _ := asked(t, env, "--liveness"); exit != 0 {
		t.Error("liveness depends on Redis")
	}
}
