package integration

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// The heartbeats of real frameworks, in the stacks of the examples.

// healthOf is what health says in a container that may have no shell.
func healthOf(t testing.TB, id string) healthLine {
	t.Helper()
	p := start(t, exec.Command("docker", "exec", id, "/startgate", "health", "--format=text")).wait()
	return healthLine{exit: p.code, text: strings.TrimSuffix(p.stdout, "\n") + p.stderr}
}

// awaitHealthOf waits until health says a text, and fails with that unless it
// says that all is well.
func awaitHealthOf(t testing.TB, id, text string) {
	t.Helper()
	eventually(t, "health says "+text, func() error {
		h := healthOf(t, id)
		if well := strings.Contains(h.text, " health_ok "); !strings.Contains(h.text, text) || well != (h.exit == 0) {
			return fmt.Errorf("exit %d: %s\n%s", h.exit, h.text, docker(t, "logs", "--tail", "20", id))
		}
		return nil
	})
}

// beside runs the image of a service once more, in the service's network, below
// a process 1 that outlives the worker. contract is "" for the image's own.
func (s *composed) beside(service, contract, command string) (id string) {
	s.t.Helper()
	of := s.container(service)
	image := docker(s.t, "inspect", "--format", "{{.Image}}", of)
	networks := docker(s.t, "inspect", "--format", "{{range $name, $n := .NetworkSettings.Networks}}{{$name}}{{end}}", of)
	run := []string{"run", "--detach", "--label", runLabel + "=" + runName(), "--network", networks, "--env", "CONTRACT=" + contract}
	var env []string
	if err := json.Unmarshal([]byte(docker(s.t, "inspect", "--format", "{{json .Config.Env}}", of)), &env); err != nil {
		s.t.Fatal(err)
	}
	for _, entry := range env {
		run = append(run, "--env", entry)
	}
	script := "/startgate -- " + command + " & exec sleep 1000"
	if contract != "" {
		run = append(run, "--env", "STARTGATE_CONTRACT=/tmp/contract.yaml")
		script = `printf '%s\n' "$CONTRACT" >/tmp/contract.yaml; ` + script
	}
	id = docker(s.t, append(run, "--entrypoint", "sh", image, "-c", script)...)
	s.t.Cleanup(func() { exec.Command("docker", "rm", "--force", id).Run() })
	return id
}

// signalWorker sends a signal to the process that the state file in /dev/shm
// names.
func signalWorker(t testing.TB, id, signal string) {
	t.Helper()
	docker(t, "exec", id, "sh", "-c", `kill -`+signal+` $(sed 's/.*"pid":\([0-9]*\).*/\1/' /dev/shm/startgate-*.json)`)
}

// redisCLI asks the stack's Redis.
func (s *composed) redisCLI(args ...string) []string {
	s.t.Helper()
	return strings.Fields(docker(s.t, append([]string{"exec", s.container("redis"), "redis-cli"}, args...)...))
}

func hostname(t testing.TB, id string) string {
	t.Helper()
	return docker(t, "inspect", "--format", "{{.Config.Hostname}}", id)
}

const rqBeats = `contract: 1
name: rq-beats
keys: {RQ_REDIS_URL: {type: redis_url}}
waits: [{redis: RQ_REDIS_URL, client: rq}]
health: {heartbeat: {rq: true}}`

// rqWorker is what RQ says of a worker.
type rqWorker struct{ key, pid string }

// rqWorkers are those of a container.
func (s *composed) rqWorkers(id string) (workers []rqWorker) {
	s.t.Helper()
	host := hostname(s.t, id)
	for _, key := range s.redisCLI("SMEMBERS", "rq:workers") {
		if got := s.redisCLI("HMGET", key, "hostname", "pid"); len(got) == 2 && got[0] == host {
			workers = append(workers, rqWorker{key, got[1]})
		}
	}
	return workers
}

func testHeartbeatRQ(s *composed) {
	t := s.t
	worker := s.beside("rq-worker", rqBeats, "rq worker quiet")
	pool := s.beside("rq-worker", rqBeats, "rq worker-pool --num-workers 2 quiet")
	awaitHealthOf(t, worker, "health_ok phase=running")
	awaitHealthOf(t, pool, "health_ok phase=running")

	// A heartbeat that is old, of a worker that hangs.
	signalWorker(t, worker, "STOP")
	for _, w := range s.rqWorkers(worker) {
		s.redisCLI("HSET", w.key, "last_heartbeat", "2020-01-01T00:00:00.000000Z")
	}
	awaitHealthOf(t, worker, "health_heartbeat_stale wait=redis key=RQ_REDIS_URL")
	signalWorker(t, worker, "KILL")
	awaitHealthOf(t, worker, "health_worker_gone")

	// The workers of a pool are its children; it is none itself.
	var children []rqWorker
	eventually(t, "the pool has two workers", func() error {
		if children = s.rqWorkers(pool); len(children) != 2 {
			return fmt.Errorf("%v", children)
		}
		return nil
	})
	state := docker(t, "exec", pool, "sh", "-c", "cat /dev/shm/startgate-*.json")
	for _, c := range children {
		if strings.Contains(state, `"pid":`+c.pid+",") {
			t.Errorf("the pool is a worker itself: %s", state)
		}
	}
	// Nobody reaps them while the pool is stopped: their numbers are still there.
	signalWorker(t, pool, "STOP")
	docker(t, "exec", pool, "sh", "-c", "kill -KILL "+children[0].pid)
	awaitHealthOf(t, pool, "health_ok phase=running")
	docker(t, "exec", pool, "sh", "-c", "kill -KILL "+children[1].pid)
	awaitHealthOf(t, pool, "health_heartbeat_missing wait=redis key=RQ_REDIS_URL")
	signalWorker(t, pool, "CONT") // and it starts others
	awaitHealthOf(t, pool, "health_ok phase=running")
}

func testHeartbeatSidekiq(s *composed) {
	t, id := s.t, s.container("sidekiq")
	mine := func(id string) string {
		for _, key := range s.redisCLI("SMEMBERS", "processes") {
			if strings.HasPrefix(key, hostname(t, id)+":") {
				return key
			}
		}
		t.Fatal("Sidekiq has not told of its process")
		return ""
	}
	awaitHealthOf(t, id, "health_ok phase=running")
	signalWorker(t, id, "STOP")
	key := mine(id)
	if got := s.redisCLI("HSET", key, "beat", "1.5"); !slices.Equal(got, []string{"0"}) {
		t.Errorf("Sidekiq keeps no beat: %v", got)
	}
	awaitHealthOf(t, id, "health_heartbeat_stale wait=redis key=REDIS_URL")
	s.redisCLI("DEL", key) // as after a minute
	awaitHealthOf(t, id, "health_heartbeat_missing wait=redis key=REDIS_URL")
	signalWorker(t, id, "CONT")
	awaitHealthOf(t, id, "health_ok phase=running")

	// The heartbeat of a worker that was killed stays for a minute.
	killed := s.beside("sidekiq", "", "sidekiq --require ./jobs.rb")
	awaitHealthOf(t, killed, "health_ok phase=running")
	signalWorker(t, killed, "KILL")
	awaitHealthOf(t, killed, "health_worker_gone")
	if beat := s.redisCLI("HGET", mine(killed), "beat"); len(beat) == 0 {
		t.Error("its heartbeat is gone, too, and nothing was proved")
	}
}

// asynq's image has nothing to send a signal with.
func testHeartbeatAsynq(s *composed) {
	t, id := s.t, s.container("asynq")
	awaitHealthOf(t, id, "health_ok phase=running")
	signalAll(t, id, "worker", "STOP")
	// Its heartbeat is good for ten seconds.
	awaitHealthOf(t, id, "health_heartbeat_stale wait=redis key=REDIS_URL")
	signalAll(t, id, "worker", "CONT")
	awaitHealthOf(t, id, "health_ok phase=running")
}

func testHeartbeatCelery(s *composed) {
	t, id := s.t, s.container("worker")
	const file = "/tmp/celery-heartbeat"
	awaitHealthOf(t, id, "health_ok phase=running")
	signalWorker(t, id, "STOP")
	docker(t, "exec", id, "touch", "--date", "-31 seconds", file)
	awaitHealthOf(t, id, "health_heartbeat_stale key=CELERY_HEARTBEAT_FILE")
	docker(t, "exec", id, "rm", file)
	awaitHealthOf(t, id, "health_heartbeat_missing key=CELERY_HEARTBEAT_FILE")
	signalWorker(t, id, "CONT")
	awaitHealthOf(t, id, "health_ok phase=running")
}

// A BullMQ worker has no heartbeat of its own: it is asked for /readyz.
func testHealthBullMQ(t testing.TB, id string) {
	signalWorker(t, id, "STOP")
	began := time.Now()
	awaitHealthOf(t, id, "health_http key=WORKER_HEALTH_PORT cause=http_reply_timeout")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("a worker that hangs holds health up for %s", took)
	}
	signalWorker(t, id, "CONT")
	awaitHealthOf(t, id, "health_ok phase=running")
}
