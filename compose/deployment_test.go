package compose

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A deployment of RQ workers, a production stack and hosts with workers alone,
// and one of five groups from one image, as their teams test them: what the
// workers rely on is there, and its absence is found.
func TestDeployments(t *testing.T) {
	const production, alone = "docker-compose.prod.yml", "docker-compose.prod.worker.yml"
	for _, c := range []struct {
		dir, name string
		file      string
		old, new  string // in file; "" for no change
		rule      string
		service   string // "" for the configuration
		severity  Severity
	}{
		{dir: "testdata/deployment", name: "as it is"},
		{"testdata/deployment", "the queue may be blank", alone, "RQ_REDIS_URL: ${RQ_REDIS_URL:?the queue}", "RQ_REDIS_URL: ${RQ_REDIS_URL}", "SG202", "rq-worker", Error},
		{"testdata/deployment", "no queue", alone, "      RQ_REDIS_URL: ${RQ_REDIS_URL:?the queue}\n", "", "SG201", "rq-worker", Error},
		{"testdata/deployment", "another variable", alone, " REDIS_URL: ${RQ_REDIS_URL:?the queue}", " REDIS_URL: ${REDIS_URL:?the queue}", "SG301", "rq-worker", Warn},
		{"testdata/deployment", "another host", production, "REDIS_URL: redis://redis:6379/0", "REDIS_URL: redis://weppcloudr:6379/0", "SG301", "rq-worker-batch", Error},
		{"testdata/deployment", "not waited for", production, "    weppcloudr: {condition: service_healthy}\n", "", "SG503", "rq-worker", Error},
		{"testdata/deployment", "waited for too little", alone, "weppcloudr: {condition: service_healthy}", "weppcloudr: {condition: service_started}", "SG501", "rq-worker", Error},
		{"testdata/deployment", "nothing to wait for", alone, "    healthcheck: {test: [CMD, curl, -f, \"http://localhost:8050/health\"], start_period: 30s}\n", "", "SG502", "rq-worker", Warn},
		{"testdata/deployment", "no gate", production, "  entrypoint: [/startgate, --]\n", "", "SG401", "rq-worker", Warn},
		{"testdata/deployment", "a gate without its worker", alone, "    command: [rq, worker-pool, --num-workers, \"4\", default]\n", "", "SG402", "rq-worker", Error},
		{"testdata/deployment", "knobs that contradict", production, "RQ_REDIS_WAIT_TIMEOUT_SECONDS: \"300\"", "RQ_REDIS_WAIT_TIMEOUT_SECONDS: \"1\"", "SG608", "rq-worker", Error},
		{"testdata/deployment", "a knob that is none", production, "RQ_WORKER_STARTUP_DELAY_SECONDS: \"5\"", "RQ_WORKER_STARTUP_DELAY_SECONDS: 5s", "SG205", "rq-worker", Error},
		{"testdata/deployment", "jobs are killed", production, "stop_grace_period: 2m", "stop_grace_period: 30s", "SG604", "rq-worker", Error},
		{"testdata/deployment", "a check that passes too soon", production, "redis-cli, -e, ping", "redis-cli, ping", "SG504", "redis", Error},
		{dir: "../examples/bullmq", name: "as it is"},
		{"../examples/bullmq", "a group twice", "compose.yaml", "WORKER_QUEUE_GROUP: mail", "WORKER_QUEUE_GROUP: import", "SG701", "worker-import", Error},
		{"../examples/bullmq", "a group without a worker", "compose.yaml", "WORKER_QUEUE_GROUP: mail", "WORKER_QUEUE_GROUP: import", "SG701", "", Error},
		{"../examples/bullmq", "a port twice", "compose.yaml", "WORKER_HEALTH_PORT: \"9102\"", "WORKER_HEALTH_PORT: \"9103\"", "SG702", "worker-import", Error},
	} {
		t.Run(filepath.Base(c.dir)+"/"+c.name, func(t *testing.T) {
			dir := t.TempDir()
			copyStack(t, c.dir, dir)
			if c.file != "" {
				path := filepath.Join(dir, c.file)
				text := read(t, path)
				changed := strings.Replace(text, c.old, c.new, 1)
				if changed == text {
					t.Fatalf("%q is not in %s", c.old, c.file)
				}
				store(t, path, changed)
			}
			config, faults := LoadConfig(filepath.Join(dir, ConfigName))
			if len(faults) > 0 {
				t.Fatalf("%+v", faults)
			}
			r, err := Check(context.Background(), nil, Options{Config: config})
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, f := range r.Findings {
				found = found || f.Rule == c.rule && f.Service == c.service && f.Severity == c.severity
				if c.rule == "" && f.Severity != Info {
					t.Errorf("%+v", f)
				}
			}
			if c.rule != "" && !found {
				t.Errorf("there is no %s %s of %q in %+v", c.severity, c.rule, c.service, r.Findings)
			}
		})
	}
}

// copyStack copies the YAML files of a directory, and beside them the contract
// of the RQ example where the configuration names that.
func copyStack(t *testing.T, from, to string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(from, "*.y*ml"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		text := strings.Replace(read(t, file), "../../../examples/rq/contract.yaml", "rq.contract.yaml", 1)
		store(t, filepath.Join(to, filepath.Base(file)), text)
	}
	store(t, filepath.Join(to, "rq.contract.yaml"), read(t, "../examples/rq/contract.yaml"))
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func store(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
