package integration

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// TestExamples starts what the examples' READMEs say, with real workers.
func TestExamples(t *testing.T) {
	program := needCompose(t)
	provideExamples(t, "debian:trixie-slim", "redis:7")
	for name, test := range map[string]func(*testing.T, []string){"rq": testExampleRQ, "celery": testExampleCelery, "sidekiq": testExampleSidekiq, "asynq": testExampleAsynq, "bullmq": testExampleBullMQ} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, program)
		})
	}
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
	if full() {
		testHeartbeatRQ(s)
	}

	// The worker-only stack, with a URL that no client reads.
	alone := compose(t, program, "rq/compose.worker.yaml", "RQ_REDIS_URL=redis://one.example:0/0")
	alone.project += "-alone"
	alone.up()
	eventually(t, "the gate refuses", func() error {
		if log := alone.logs("rq-worker"); !strings.Contains(log, "redis_parse_failed key=RQ_REDIS_URL reason=port_invalid") || strings.Contains(log, "one.example") {
			return errNotYet
		}
		return nil
	})
}

func testExampleCelery(t *testing.T, program []string) {
	s := compose(t, program, "celery/compose.yaml")
	s.up()
	s.await("worker", healthStatus, "healthy")
	s.await("beat", healthStatus, "healthy")
	if got := docker(t, "exec", s.container("worker"), "python3", "-c", "from tasks import add; print(add.delay(2, 3).get(timeout=60))"); got != "5" {
		t.Errorf("a task: %q\n%s", got, s.logs("worker"))
	}
	for _, service := range []string{"worker", "beat"} {
		if log := s.logs(service); !strings.Contains(log, "wait=redis,results keys=CELERY_BROKER_URL,CELERY_RESULT_BACKEND client=celery") {
			t.Errorf("the gate of %s has not said what it waits for:\n%s", service, log)
		}
	}
	if full() {
		testHeartbeatCelery(s)
	}
}

func testExampleSidekiq(t *testing.T, program []string) {
	s := compose(t, program, "sidekiq/compose.yaml")
	s.up()
	s.await("sidekiq", healthStatus, "healthy")
	docker(t, "exec", s.container("sidekiq"), "ruby", "-r", "./jobs.rb", "-e", "AddJob.perform_async(2, 3)")
	eventually(t, "the job runs", func() error {
		if got := docker(t, "exec", s.container("redis"), "redis-cli", "GET", "sum"); got != "5" {
			return fmt.Errorf("%q", got)
		}
		return nil
	})
	if log := s.logs("sidekiq"); !strings.Contains(log, "client=sidekiq") {
		t.Errorf("the gate has not said what it waits for:\n%s", log)
	}
	if full() {
		testHeartbeatSidekiq(s)
	}
}

func testExampleAsynq(t *testing.T, program []string) {
	s := compose(t, program, "asynq/compose.yaml")
	s.up()
	s.await("asynq", healthStatus, "healthy")
	docker(t, "exec", s.container("asynq"), "/worker", "enqueue")
	eventually(t, "the task runs", func() error {
		if log := s.logs("asynq"); !strings.Contains(log, "did: enqueue") {
			return errors.New(log)
		}
		return nil
	})
	if log := s.logs("asynq"); !strings.Contains(log, "client=asynq") {
		t.Errorf("the gate has not said what it waits for:\n%s", log)
	}
	if full() {
		testHeartbeatAsynq(s)
	}
}

func testExampleBullMQ(t *testing.T, program []string) {
	s := compose(t, program, "bullmq/compose.yaml", "API_ACCESS_TOKEN=0123456789abcdef", "MAILJET_API_KEY=0123456789abcdef")
	s.up()
	var containers []string
	for _, group := range []string{"general", "mail", "import", "webhook", "plugin"} {
		service := "worker-" + group
		s.await(service, healthStatus, "healthy")
		eventually(t, "the worker answers at its port", func() error {
			if log := s.logs(service); !strings.Contains(log, "worker of group "+group) {
				return errors.New(log)
			}
			return nil
		})
		containers = append(containers, s.container(service))
	}
	deployed := func() error {
		out, err := exec.Command("../examples/bullmq/deployed", containers...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	}
	// Each worker answers within health's own deadline, or not, on a busy machine.
	eventually(t, "all workers are deployed", deployed)
	testHealthBullMQ(t, containers[0])
	docker(t, "stop", "--time", "1", containers[2])
	if deployed() == nil {
		t.Error("a worker that is gone goes unnoticed")
	}
}
