package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"
)

// withInit has the engine put its init in front.
func withInit(yes bool) testcontainers.CustomizeRequestOption {
	return testcontainers.WithHostConfigModifier(func(c *container.HostConfig) { c.Init = &yes })
}

// A worker that has no handler for TERM yet ends by it with an init in front.
// Without one the kernel drops the signal, as it does for any process 1: that
// is why the examples ask for an init.
func testTermBeforeTheHandler(t *testing.T, images *imageSet) {
	s := newStack(t, images)
	s.redis()
	slow := testcontainers.WithCmd("sleep", "600")
	for _, init := range []bool{true, false} {
		w := s.worker(broker, withInit(init), slow)
		w.await("exec", 1)
		eventually(t, "the worker has taken over", func() error {
			if !slices.Contains(w.processes(), "sleep") {
				return errNotYet
			}
			return nil
		})
		docker(t, "kill", "--signal", "TERM", w.id)
		if init {
			w.expect(143)
			continue
		}
		docker(t, "kill", "--signal", "KILL", w.id)
		w.expect(137) // it was there for the second
	}
}

// What a worker's own children leave behind is reaped by an init, and by
// nobody else: the gate is not there any more.
func testOrphans(t *testing.T, images *imageSet) {
	s := newStack(t, images)
	s.redis()
	const leave = `for i in $(seq 50); do (sleep 500 &); done; exec sleep 600`
	const kill = `for p in /proc/[0-9]*; do case $(tr '\0' ' ' <$p/cmdline) in 'sleep 500 ') kill ${p#/proc/} ;; esac; done`
	for init, want := range map[bool]string{true: "0 alive, 0 dead", false: "0 alive, 50 dead"} {
		w := s.worker(broker, withInit(init), testcontainers.WithCmd("sh", "-c", leave))
		eventually(t, "the worker has children", func() error { return w.children("50 alive, 0 dead") })
		w.inContainer("sh", "-c", kill)
		eventually(t, fmt.Sprintf("init %v: %s", init, want), func() error { return w.children(want) })
	}
}

// children compares how many processes beside a worker that sleeps are alive,
// and how many are dead and not reaped.
func (b *box) children(want string) error {
	status := b.inContainer("sh", "-c", "cat /proc/[0-9]*/status 2>/dev/null; true")
	dead := strings.Count(status, "State:\tZ")
	alive := strings.Count(status, "Name:\tsleep\n") - dead - 1
	if got := fmt.Sprintf("%d alive, %d dead", alive, dead); got != want {
		return fmt.Errorf("they are %s", got)
	}
	return nil
}

// An init that wants to be process 1 is, behind the gate as without it. With
// another one in front it complains, so that its silence means something.
func testInitBehind(t *testing.T, images *imageSet) {
	image, err := buildImage(t, "tini", testcontainers.FromDockerfile{ContextArchive: archive(map[string][]byte{
		"Dockerfile": fmt.Appendf(nil, "FROM %s\nCOPY --from=%s /usr/bin/tini /usr/bin/tini\n", images.worker, images.tools),
	})})
	if err != nil {
		t.Fatal(err)
	}
	s := newStack(t, &imageSet{gate: images.gate, worker: image, redis: images.redis})
	s.redis()
	const complaint = "Tini is not running as PID 1"
	for _, init := range []bool{false, true} {
		w := s.worker(broker, withInit(init), testcontainers.WithCmd("tini", "worker", "signal"))
		w.awaitStdout("ready for signals")
		if !init {
			if got := w.inContainer("cat", "/proc/1/comm"); got != "tini" {
				t.Errorf("process 1 is %s", got)
			}
		}
		docker(t, "kill", "--signal", "TERM", w.id)
		if w.expect(40 + 15); strings.Contains(w.stderr, complaint) != init {
			t.Errorf("another init in front %v: %s", init, w.stderr)
		}
	}
}

// A program that changes the user is in front of the gate or behind it.
func testOtherUser(t *testing.T, images *imageSet) {
	image, err := buildImage(t, "gosu", testcontainers.FromDockerfile{ContextArchive: archive(map[string][]byte{
		"Dockerfile": fmt.Appendf(nil, "FROM %s\nCOPY --from=%s /usr/sbin/gosu /usr/bin/gosu\n", images.worker, images.tools),
	})})
	if err != nil {
		t.Fatal(err)
	}
	s := newStack(t, &imageSet{gate: images.gate, worker: image, redis: images.redis})
	s.redis()
	show := []string{"sh", "-c", "id -u; id -g; echo $HOME; echo $$"}
	const want = "33\n33\n/var/www\n1\n"
	behind := s.worker(broker, testcontainers.WithCmd(append([]string{"gosu", "www-data"}, show...)...)).expect(0)
	front := s.worker(broker, testcontainers.WithEntrypoint("gosu", "www-data", "/startgate", "--"), testcontainers.WithCmd(show...)).expect(0)
	if behind.stdout != want || front.stdout != want {
		t.Errorf("behind the gate %q, in front of it %q, want %q", behind.stdout, front.stdout, want)
	}
}

// A tenth of a processor and little memory are enough, for a wait, too.
func testLittle(t *testing.T, images *imageSet) {
	s := newStack(t, images)
	little := testcontainers.WithHostConfigModifier(func(c *container.HostConfig) {
		c.NanoCPUs, c.Memory, c.MemorySwap = 100_000_000, 32<<20, 32<<20
	})
	w := s.worker(broker, little, testcontainers.WithCmd("worker", "loading", "broker:6379"))
	w.await("redis_dns_not_found", 1)
	s.redis(loadArgs(500 * time.Microsecond)...)
	if w.expect(0); w.stdout != "worker: loaded\n" {
		t.Errorf("stdout %q", w.stdout)
	}
	if got := docker(t, "inspect", "--format", "{{.State.OOMKilled}}", w.id); got != "false" {
		t.Errorf("out of memory: %s", got)
	}
}
