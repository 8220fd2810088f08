package integration

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"
)

// gated runs a gate below a process 1 that outlives it and reaps nothing.
const gated = "/startgate -- worker signal & "

// testHealthTable is the design's table of health, --readiness and --liveness.
func testHealthTable(w *ward) {
	gating := w.start(variables("REDIS_URL=redis://nobody:6379"))
	gating.await("redis_dns_not_found", 1)
	gating.expectHealth("while the gate waits", 1, 0, "health_gating")

	failed := w.idle(gated, variables("REDIS_URL=redis://nobody:6379", "STARTGATE_TIMEOUT=0"))
	failed.await("redis_dns_not_found", 1)
	failed.awaitHealth("health_failed phase=failed")
	failed.expectHealth("after the gate has given up", 1, 1, "health_failed")
	if h := failed.ask(nil, "")[0]; field(h.text, "cause") != "redis_dns_not_found" {
		w.t.Errorf("the cause is lost: %s", h.text)
	}

	// Its zombie has the same PID and the same start time.
	gone := w.idle(gated)
	gone.awaitHealth("health_ok phase=running")
	gone.expectHealth("while the worker runs", 0, 0, "")
	killAll(gone, "worker", "KILL")
	gone.awaitHealth("health_worker_gone")
	gone.expectHealth("after the worker was killed", 1, 1, "health_worker_gone")
}

// killAll sends a signal to the processes of that name in the container, and
// needs no program in it.
func killAll(b *box, name, signal string) {
	b.t.Helper()
	if out := signalAll(b.t, b.id, name, signal); out == "" {
		b.t.Fatalf("there is no process %s", name)
	}
}

// signalAll does so from a container of its own, which sees the same processes,
// and returns their numbers.
func signalAll(t testing.TB, id, name, signal string) string {
	t.Helper()
	return docker(t, "run", "--rm", "--pid", "container:"+id, "--entrypoint", "sh", "redis:7", "-c", `
		for p in /proc/[0-9]*; do
			[ "$(cat $p/comm 2>/dev/null)" = "`+name+`" ] && kill -`+signal+` ${p#/proc/} && echo ${p#/proc/}
		done; true`)
}

// testHealthBrokerAway has its own Redis, and takes it away in three ways.
func testHealthBrokerAway(w *ward) {
	r := w.redis("other")
	b := w.start(variables("REDIS_URL=redis://other:6379", "STARTGATE_CONTRACT=/contracts/redis.yaml"))
	unasked := w.start(variables("REDIS_URL=redis://other:6379"))
	b.awaitHealth("health_ok phase=running")
	unasked.awaitHealth("health_ok phase=running")

	docker(w.t, "pause", r.id)
	began := time.Now()
	b.awaitHealth("health_redis wait=redis key=REDIS_URL cause=redis_reply_timeout")
	if took := time.Since(began); took > 10*time.Second {
		w.t.Errorf("a paused Redis holds health up for %s", took)
	}
	b.expectHealth("while Redis is paused", 1, 0, "health_redis")
	unasked.expectHealth("while Redis is paused, which health is not to ask", 0, 0, "")
	docker(w.t, "unpause", r.id)
	b.awaitHealth("health_ok phase=running")
	docker(w.t, "stop", "--time", "1", r.id)
	b.expectHealth("after Redis was stopped", 1, 0, "health_redis")
}

// testHealthcheckNeverGated reads what Docker keeps of an image's HEALTHCHECK,
// where something else has taken the gate's place.
func testHealthcheckNeverGated(w *ward) {
	check := testcontainers.WithConfigModifier(func(c *container.Config) {
		c.Healthcheck = &container.HealthConfig{Test: []string{"CMD", "/startgate", "health", "--format=text"}, Interval: time.Second, Retries: 2}
	})
	b := w.idle("", check)
	eventually(w.t, "the container is unhealthy", func() error {
		if docker(w.t, "inspect", "--format", healthStatus, b.id) != "unhealthy" {
			return errNotYet
		}
		return nil
	})
	b.expectHealth("where no gate has run", 1, 1, "health_never_gated")
	log := docker(w.t, "inspect", "--format", "{{range .State.Health.Log}}{{.ExitCode}} {{.Output}}{{end}}", b.id)
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, "1 startgate: error health_never_gated: no gate has run in this container") {
			w.t.Errorf("the health log has %q", line)
		}
	}
}

// testHealthBadState puts something else in the place of the state.
func testHealthBadState(w *ward) {
	b := w.idle("", variables("STARTGATE_STATE_FILE=/state"))
	for _, c := range []struct{ name, make, reason string }{
		{"an empty file", ": >/state", "truncated"},
		{"a cut file", `printf '{"v":1,"pid":7,"sta' >/state`, "truncated"},
		{"a file of another version", `echo '{"v":2,"pid":1,"phase":"running"}' >/state`, "other_version"},
		{"a directory", "mkdir /state", "is_directory"},
		{"a FIFO", "mkfifo /state", "not_regular"},
		{"a link to itself", "ln -s /state /state", ""},
	} {
		b.inContainer("sh", "-c", "rm -rf /state; "+c.make)
		b.expectHealth(c.name, 1, 1, "health_state_unreadable")
		if h := b.ask(nil, "")[0]; c.reason != "" && field(h.text, "reason") != c.reason {
			w.t.Errorf("the reason for %s: %s", c.name, h.text)
		}
		if took := inContainerTook(b, "1", "/startgate", "health")[0][0]; took > 2*time.Second {
			w.t.Errorf("before %s health takes %s", c.name, took)
		}
	}
}

// inContainerTook runs the loop in the container. It returns the times of each
// program.
func inContainerTook(b *box, args ...string) (times [][]time.Duration) {
	b.t.Helper()
	for line := range strings.Lines(b.inContainer(append([]string{"loop"}, args...)...)) {
		var took []time.Duration
		for _, text := range strings.Fields(line)[1:] {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				b.t.Fatal(err)
			}
			took = append(took, time.Duration(n))
		}
		times = append(times, took)
	}
	return times
}

// testHealthEarlierBoot keeps a state over a restart of its container: process
// 1 is there again, and is another one.
func testHealthEarlierBoot(w *ward) {
	b := w.start(variables("STARTGATE_STATE_FILE=/state"), testcontainers.WithEntrypoint("sh", "-c"),
		testcontainers.WithCmd("[ -e /again ] && exec sleep 1000; : >/again; exec /startgate -- worker signal"))
	b.awaitHealth("health_ok phase=running")
	if state := b.inContainer("cat", "/state"); !strings.HasPrefix(state, `{"v":1,"pid":1,`) {
		w.t.Fatalf("the worker is not process 1: %s", state)
	}
	docker(w.t, "restart", "--time", "1", b.id)
	b.expectHealth("after the restart", 1, 1, "health_worker_gone")
}
