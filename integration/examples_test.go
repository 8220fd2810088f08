package integration

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// TestExamples starts what the examples' READMEs say, with real workers.
func TestExamples(t *testing.T) {
	program := needCompose(t)
	provideExamples(t, "debian:trixie-slim", "redis:7")
	t.Run("rq", func(t *testing.T) { testExampleRQ(t, program) })
}

func testExampleRQ(t *testing.T, program []string) {
	s := compose(t, program, "rq/compose.yaml")
	s.up()
	s.await("rq-worker", healthStatus, "healthy")
	s.await("rq-worker-batch", healthStatus, "healthy")
	for service, queue := range map[string]string{"rq-worker": "default", "rq-worker-batch": "batch"} {
		if got := docker(t, "exec", s.container(service), "python3", "enqueue.py", queue); got != "finished 5" {
			t.Errorf("a job of %s: %q\n%s", service, got, s.logs(service))
		}
	}
	if log := s.logs("rq-worker"); !strings.Contains(log, "client=rq") || !strings.Contains(log, "startgate: info  exec") {
		t.Errorf("the gate has not said what it did:\n%s", log)
	}

	// A worker that is started without its Redis waits for it.
	s.do("stop", "redis")
	s.do("restart", "--timeout", "1", "rq-worker")
	eventually(t, "the gate waits", func() error {
		if out, err := exec.Command("docker", "exec", s.container("rq-worker"), "/startgate", "health").Output(); err == nil || !strings.Contains(string(out), "health_gating") {
			return fmt.Errorf("%s %v", out, err)
		}
		return nil
	})
	s.do("start", "redis")
	s.await("rq-worker", healthStatus, "healthy")
	if got := docker(t, "exec", s.container("rq-worker"), "python3", "enqueue.py", "default"); got != "finished 5" {
		t.Errorf("a job after Redis has come back: %q", got)
	}

	// The worker-only stack, with URLs that have drifted apart.
	alone := compose(t, program, "rq/compose.worker.yaml", "RQ_REDIS_URL=redis://one.example/0", "REDIS_URL=redis://other.example/1")
	alone.project += "-alone"
	alone.up()
	eventually(t, "the gate refuses", func() error {
		if log := alone.logs("rq-worker"); !strings.Contains(log, "redis_urls_not_aligned keys=RQ_REDIS_URL,REDIS_URL reason=host_differs") || strings.Contains(log, "example/") {
			return errNotYet
		}
		return nil
	})
}
