package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"
)

// states are the state files below a directory of the container.
func (b *box) states(dir string) []string {
	b.t.Helper()
	return strings.Fields(b.inContainer("find", dir, "-maxdepth", "1", "-name", "startgate*"))
}

// testHealthReadOnly takes every right away.
func testHealthReadOnly(w *ward) {
	user := testcontainers.WithConfigModifier(func(c *container.Config) { c.User = "65532:65532" })
	bare := func(c *container.HostConfig) {
		c.ReadonlyRootfs, c.CapDrop, c.SecurityOpt = true, []string{"ALL"}, []string{"no-new-privileges"}
	}
	b := w.start(user, host(bare))
	b.awaitHealth("health_ok phase=running")
	b.expectHealth("with a read-only root", 0, 0, "")
	b.expectHealth("with a read-only root, as another user", 0, 0, "", "--user", "1000:1000")
	if got := b.states("/dev/shm"); len(got) != 1 {
		w.t.Errorf("state files %v", got)
	}
}

// testHealthNowhere has no /dev/shm either, and then a tmpfs at /tmp.
func testHealthNowhere(w *ward) {
	bare := func(c *container.HostConfig) { c.ReadonlyRootfs, c.IpcMode = true, "none" }
	b := w.start(host(bare))
	b.await("state_unwritable", 1)
	b.await("exec", 1)
	b.expectHealth("with nowhere to write", 1, 1, "health_never_gated")

	b = w.start(host(bare), host(func(c *container.HostConfig) { c.Tmpfs = map[string]string{"/tmp": ""} }))
	b.awaitHealth("health_ok phase=running")
	if got := b.states("/tmp"); len(got) != 1 {
		w.t.Errorf("state files %v", got)
	}
}

// testHealthOtherUser changes the user between the gate and the worker, and
// before the gate.
func testHealthOtherUser(w *ward) {
	drop := []string{"setpriv", "--reuid", "65532", "--regid", "65532", "--clear-groups"}
	for name, b := range map[string]*box{
		"the gate drops rights":     w.start(testcontainers.WithCmd(append(slices.Clone(drop), "worker", "signal")...)),
		"the gate has none to drop": w.start(testcontainers.WithEntrypoint(append(slices.Clone(drop), "/startgate", "--")...), testcontainers.WithCmd("worker", "signal")),
	} {
		b.awaitStdout("ready for signals")
		if status := b.inContainer("cat", "/proc/1/status"); !strings.HasPrefix(status, "Name:\tworker\n") || !strings.Contains(status, "\nUid:\t65532\t65532\t") {
			w.t.Errorf("%s, and process 1 is\n%s", name, status)
		}
		for _, user := range []string{"0:0", "65532:65532", "1000:1000"} {
			b.expectHealth(name+", asked by "+user, 0, 0, "", "--user", user)
		}
	}
}

// testHealthBelowInit has an init for process 1.
func testHealthBelowInit(w *ward) {
	init := true
	b := w.start(host(func(c *container.HostConfig) { c.Init = &init }))
	b.awaitStdout("ready for signals")
	b.expectHealth("below an init", 0, 0, "")
	waits := w.start(host(func(c *container.HostConfig) { c.Init = &init }), variables("REDIS_URL=redis://nobody:6379"))
	waits.await("redis_dns_not_found", 1)
	waits.expectHealth("below an init", 1, 0, "health_gating")
}

// testHealthSharedMemory has two gates leave their states in one /dev/shm.
func testHealthSharedMemory(w *ward) {
	runs := w.start(host(func(c *container.HostConfig) { c.IpcMode = "shareable" }))
	runs.awaitHealth("health_ok phase=running")
	waits := w.start(host(func(c *container.HostConfig) { c.IpcMode = container.IpcMode("container:" + runs.id) }), variables("REDIS_URL=redis://nobody:6379"))
	waits.await("redis_dns_not_found", 1)
	never := w.idle("", host(func(c *container.HostConfig) { c.IpcMode = container.IpcMode("container:" + runs.id) }))
	if got := runs.states("/dev/shm"); len(got) != 2 {
		w.t.Errorf("state files %v", got)
	}
	judgeEach(runs, waits, never)
}

// judgeEach holds containers that share something to what each is.
func judgeEach(runs, waits *box, never ...*box) {
	runs.t.Helper()
	runs.expectHealth("of the one that runs", 0, 0, "")
	waits.expectHealth("of the one that waits", 1, 0, "health_gating")
	for _, b := range never {
		b.expectHealth("of the one without a gate", 1, 1, "health_never_gated")
	}
}

// testHealthSharedVolume has them in one volume.
func testHealthSharedVolume(w *ward) {
	dir := w.t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		w.t.Fatal(err)
	}
	volume := host(func(c *container.HostConfig) { c.Binds = []string{dir + ":/run/startgate"} })
	runs := w.start(volume)
	runs.awaitHealth("health_ok phase=running")
	waits := w.start(volume, variables("REDIS_URL=redis://nobody:6379"))
	waits.await("redis_dns_not_found", 1)
	if got, err := filepath.Glob(filepath.Join(dir, "startgate-*.json")); err != nil || len(got) != 2 {
		w.t.Errorf("state files %v, %v", got, err)
	}
	judgeEach(runs, waits)
}

// testHealthSharedPIDs has the processes of three containers in one namespace,
// as in a pod with shareProcessNamespace: process 1 is none of the gates.
func testHealthSharedPIDs(w *ward) {
	pause := w.idle("", host(func(c *container.HostConfig) { c.IpcMode = "shareable" }))
	pod := host(func(c *container.HostConfig) {
		c.PidMode, c.IpcMode = container.PidMode("container:"+pause.id), container.IpcMode("container:"+pause.id)
	})
	runs := w.start(pod)
	runs.awaitHealth("health_ok phase=running")
	waits := w.start(pod, variables("REDIS_URL=redis://nobody:6379"))
	waits.await("redis_dns_not_found", 1)
	judgeEach(runs, waits, pause)

	gone := w.idle(gated, pod)
	gone.awaitHealth("health_ok phase=running")
	gone.inContainer("sh", "-c", `kill -KILL $(sed 's/.*"pid":\([0-9]*\).*/\1/' /dev/shm/startgate-$(readlink /proc/self/ns/mnt | tr -d 'mnt:[]').json)`)
	gone.awaitHealth("health_worker_gone")
	judgeEach(runs, waits, pause)
}

// testHealthHTTP asks a worker that does not listen, answers, refuses and hangs.
func testHealthHTTP(w *ward) {
	b := w.idle("until [ -e /go ]; do sleep 0.1; done; /startgate -- sh -c 'until [ -e /bind ]; do sleep 0.1; done; exec answer :8080' & ",
		variables("STARTGATE_CONTRACT=/contracts/http.yaml", "PORT=8080", "STARTGATE_HEALTH_LISTEN=8080"))
	b.inContainer("touch", "/go")
	b.awaitHealth("health_http key=PORT cause=http_refused")
	b.expectHealth("before the worker listens", 1, 0, "health_http")
	b.inContainer("touch", "/bind")
	b.awaitHealth("health_ok phase=running")
	b.expectHealth("while the worker answers", 0, 0, "")
	b.inContainer("touch", "/tmp/unready")
	b.awaitHealth("health_http key=PORT cause=http_unavailable")
	b.inContainer("rm", "/tmp/unready")
	killAll(b, "answer", "STOP")
	began := time.Now()
	b.awaitHealth("health_http key=PORT cause=http_reply_timeout")
	if took := time.Since(began); took > 10*time.Second {
		w.t.Errorf("a worker that hangs holds health up for %s", took)
	}
	b.expectHealth("while the worker hangs", 1, 0, "health_http")
}

// testHealthHTTP6 asks one that 127.0.0.1 does not reach.
func testHealthHTTP6(w *ward) {
	ipv6 := host(func(c *container.HostConfig) { c.Sysctls = map[string]string{"net.ipv6.conf.lo.disable_ipv6": "0"} })
	b := w.start(ipv6, variables("STARTGATE_CONTRACT=/contracts/http6.yaml"), testcontainers.WithCmd("answer", "[::1]:8086"))
	b.awaitHealth("health_ok phase=running")
}

// testHealthOwnTime compares health with a program that does nothing, in a
// container whose worker runs. Other processes only ever add time, so that here
// the shortest runs are held to a wide bound. What is to be reached, a median
// of 5 ms, is measure/health's on a machine that is quiet.
func testHealthOwnTime(w *ward) {
	b := w.start()
	b.awaitHealth("health_ok phase=running")
	const bound = 20 * time.Millisecond
	took := inContainerTook(b, "100", "/startgate", "health", "--", "nop")
	health, nop := slices.Sorted(slices.Values(took[0])), slices.Sorted(slices.Values(took[1]))
	w.t.Logf("health takes %s at least and %s in the middle, a program that does nothing %s and %s",
		health[0], health[len(health)/2], nop[0], nop[len(nop)/2])
	if more := health[0] - nop[0]; more > bound {
		w.t.Errorf("health takes %s more, want %s at most", more, bound)
	}
}

// testTerminationMessage runs a gate as the kubelet does, with a file for its
// last words, which are those of the container's log.
func testTerminationMessage(w *ward) {
	for _, c := range []struct {
		format string
		exit   int
		env    string
		code   string
	}{
		{"json", 78, "REDIS_URL=redis://broker:6379/-1", "redis_parse_failed"},
		{"text", 78, "REDIS_URL=redis://broker:6379/-1", "redis_parse_failed"},
		{"json", 75, "REDIS_URL=redis://nobody:6379", "redis_dns_not_found"},
		{"json", 69, "REDIS_URL=redis://broker:6379/99", "redis_db_invalid"},
		{"json", 0, "REDIS_URL=redis://broker:6379", "exec"},
	} {
		w.t.Run(c.format+" "+c.code, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "termination-log")
			if err := os.WriteFile(log, nil, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(log, 0o666); err != nil { // whatever the umask
				t.Fatal(err)
			}
			alone := &ward{t, w.image, w.net}
			b := alone.start(variables(c.env, "STARTGATE_TIMEOUT=0", "STARTGATE_FORMAT="+c.format),
				testcontainers.WithCmd("worker", "exit", "0"),
				testcontainers.WithConfigModifier(func(c *container.Config) { c.User = "65532:65532" }),
				host(func(h *container.HostConfig) {
					h.ReadonlyRootfs, h.Binds = true, []string{log + ":/dev/termination-log"}
				}))
			b.expect(c.exit)
			words, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			if c.exit == 0 {
				if len(words) > 0 {
					t.Errorf("after all went well there are last words: %s", words)
				}
			} else if !strings.HasPrefix(string(words), "startgate: error "+c.code) || len(words) > 2000 {
				t.Errorf("the last words are %s", words)
			}
			lines := strings.Split(strings.TrimSuffix(b.stderr, "\n"), "\n")
			last := lines[len(lines)-1]
			if c.format == "text" {
				if last+"\n" != string(words) {
					t.Errorf("the log ends with\n%s\nand the last words are\n%s", last, words)
				}
				return
			}
			for _, line := range lines {
				var e event
				if err := json.Unmarshal([]byte(line), &e); err != nil || e.Code == "" {
					t.Errorf("a line that is no event: %s", line)
				}
			}
			if e := b.last(); e.Code != c.code || e.Exit != c.exit || c.exit != 0 && !strings.Contains(string(words), e.Message) {
				t.Errorf("the log ends with %s, and the last words are %s", last, words)
			}
		})
	}
}
