package integration

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"
)

// Docker's stop is TERM. As process 1 the gate has to catch it to end at all.
func testTermWhileGating(t *testing.T, images *imageSet) {
	s := newStack(t, images)
	shortest := patience
	for run := 0; run < 10 && shortest > time.Second; run++ {
		w := s.worker(broker)
		w.await("redis_dns_not_found", 1)
		sent := time.Now()
		docker(t, "kill", "--signal", "TERM", w.id)
		w.expect(143)
		if w.last().Code != "stopped" {
			t.Errorf("last line %+v", w.last())
		}
		ended, err := time.Parse(time.RFC3339Nano, docker(t, "inspect", "--format", "{{.State.FinishedAt}}", w.id))
		if err != nil {
			t.Fatal(err)
		}
		shortest = min(shortest, ended.Sub(sent))
	}
	t.Logf("gone %s after docker kill", shortest)
	if shortest > time.Second {
		t.Errorf("gone after %s", shortest)
	}
}

// The name of a container is known from the start of that container on.
func testRedisStartsLater(t *testing.T, images *imageSet) {
	s := newStack(t, images)
	w := s.worker(broker, testcontainers.WithCmd("worker", "loading", "broker:6379"))
	w.await("redis_dns_not_found", 1)
	s.redis(loadArgs(500 * time.Microsecond)...)
	w.expect(0)
	if w.stdout != "worker: loaded\n" {
		t.Errorf("stdout %q", w.stdout)
	}
	t.Logf("codes %s", w.codes())
}

// A paused container's kernel accepts and nobody answers.
func testRedisPaused(t *testing.T, images *imageSet) {
	s := newStack(t, images)
	r := s.redis()
	s.worker(broker).expect(0)
	docker(t, "pause", r.id)
	short := testcontainers.WithEnv(map[string]string{"STARTGATE_TIMEOUT": "2", "STARTGATE_REPLY_TIMEOUT": "0.3"})
	if w := s.worker(broker, short).expect(75); w.last().Code != "redis_reply_timeout" {
		t.Errorf("%+v", w.last())
	}
	w := s.worker(broker, testcontainers.WithEnv(map[string]string{"STARTGATE_REPLY_TIMEOUT": "0.3"}))
	w.await("redis_reply_timeout", 1)
	docker(t, "unpause", r.id)
	w.expect(0)
}

// With an init in front the worker is its one child.
func testInitInFront(t *testing.T, images *imageSet) {
	s := newStack(t, images)
	s.redis()
	init := true
	w := s.worker(broker, testcontainers.WithCmd("worker", "signal"),
		testcontainers.WithHostConfigModifier(func(c *container.HostConfig) { c.Init = &init }))
	w.awaitStdout("ready for signals")
	if got := w.processes(); len(got) != 2 || !slices.Contains(got, "worker") || slices.Contains(got, "startgate") {
		t.Errorf("processes %v", got)
	}
	docker(t, "kill", "--signal", "TERM", w.id)
	w.expect(40 + 15)
}

// Once it runs, every signal is the worker's.
func testSignalsReachWorker(t *testing.T, images *imageSet) {
	s := newStack(t, images)
	s.redis()
	for signal, number := range map[string]int{"TERM": 15, "INT": 2, "HUP": 1} {
		w := s.worker(broker, testcontainers.WithCmd("worker", "signal"))
		w.awaitStdout("ready for signals")
		docker(t, "kill", "--signal", signal, w.id)
		w.expect(40 + number)
	}
}

// awaitStdout waits until the container's standard output has text.
func (b *box) awaitStdout(text string) {
	b.t.Helper()
	eventually(b.t, text, func() error {
		if !strings.Contains(docker(b.t, "logs", b.id), text) {
			return errNotYet
		}
		return nil
	})
}
