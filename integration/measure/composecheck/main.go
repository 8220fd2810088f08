// Composecheck measures startgate-compose as a whole process: a stack of 1,000
// lines in three files, and one ten times as large.
//
//	go run ./integration/measure/composecheck [-runs 30]
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/startgate/startgate/integration/internal/report"
)

// Goals.
const (
	goal   = 50 * time.Millisecond // for 1,000 lines
	growth = 12                    // times the time for ten times the lines
)

func main() {
	runs := flag.Int("runs", 30, "runs of each")
	raw := flag.String("json", "", "write the raw numbers to this `file`")
	flag.Parse()
	code, err := measure(*runs, *raw)
	if err != nil {
		fmt.Fprintln(os.Stderr, "composecheck:", err)
		code = 1
	}
	os.Exit(code)
}

func measure(runs int, raw string) (code int, err error) {
	dir, err := os.MkdirTemp("", "startgate-composecheck-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	checker := filepath.Join(dir, "startgate-compose")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", checker, "./cmd/startgate-compose")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("%w\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "contract.yaml"), []byte(contract), 0o666); err != nil {
		return 1, err
	}
	r := report.New("composecheck")
	var rows [][]string
	var medians []time.Duration
	for _, workers := range []int{48, 480} {
		files, lines, err := stack(dir, workers)
		if err != nil {
			return 1, err
		}
		took, err := times(runs, checker, dir, files)
		if err != nil {
			return 1, err
		}
		name := fmt.Sprintf("%d lines", lines)
		r.Keep(name, took)
		rows = append(rows, []string{name, report.Ms(took.Min()), report.Ms(took.Median()), report.Ms(took.P95())})
		medians = append(medians, took.Median())
	}
	r.Table([]string{"stack", "min", "median", "p95"}, rows)
	r.Goal("1,000 lines in three files, median", report.Ms(medians[0]), "≤ "+report.Ms(goal), medians[0] <= goal)
	ratio := float64(medians[1]) / float64(medians[0])
	r.Goal("ten times the lines", fmt.Sprintf("%.1f ×", ratio), fmt.Sprintf("≤ %d ×", growth), ratio <= growth)
	return r.End(raw)
}

func times(runs int, checker, dir string, files []string) (took report.Samples, err error) {
	args := []string{"check", "-q", "--contract", "contract.yaml"}
	for _, f := range files {
		args = append(args, "-f", f)
	}
	for range runs + 1 {
		cmd := exec.Command(checker, args...)
		cmd.Dir = dir
		begun := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("the stack is not clean: %w\n%s", err, out)
		}
		took = append(took, time.Since(begun))
	}
	return took[1:], nil // the first one reads the program from the disk
}

const contract = `contract: 1
name: worker
keys:
  RQ_REDIS_URL: {type: redis_url, topic: redis, required: true}
  REDIS_URL: {type: redis_url, topic: redis}
  QUEUE: {required: true}
rules:
  - {code: redis_urls_differ, aligned: [RQ_REDIS_URL, REDIS_URL]}
waits: [{redis: RQ_REDIS_URL, client: rq}]
`

// stack writes a clean stack of workers, their broker and what overrides them
// in three files.
func stack(dir string, workers int) (files []string, lines int, err error) {
	var base, more, override strings.Builder
	base.WriteString(`services:
  redis:
    image: redis:7.4
    command: [redis-server, --maxmemory-policy, noeviction]
    healthcheck: {test: [CMD, redis-cli, -e, ping], interval: 5s, start_period: 310s}
    volumes: [redis:/data]
volumes:
  redis:
`)
	service := func(b *strings.Builder, i int) {
		fmt.Fprintf(b, `  worker-%d:
    image: example/app:1.0
    entrypoint: [/startgate, --]
    command: [rq, worker, queue-%d]
    init: true
    restart: unless-stopped
    stop_grace_period: 2m
    healthcheck: {test: [CMD, /startgate, health], interval: 5s, start_period: 360s}
    depends_on:
      redis: {condition: service_healthy}
    environment:
      RQ_REDIS_URL: redis://redis:6379/9
      REDIS_URL: redis://redis:6379/9
      QUEUE: queue-%d
      STARTGATE_REFUSE_AFTER: 60s
      LOG_LEVEL: ${LOG_LEVEL:-info}
`, i, i, i)
	}
	more.WriteString("services:\n")
	override.WriteString("services:\n")
	for i := range workers {
		service(&more, i)
		fmt.Fprintf(&override, "  worker-%d:\n    environment:\n      LOG_LEVEL: debug\n    labels:\n      team: queues\n", i)
	}
	for name, text := range map[string]string{"compose.yaml": base.String(), "workers.yaml": more.String(), "override.yaml": override.String()} {
		lines += strings.Count(text, "\n")
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return nil, 0, err
		}
	}
	return []string{"compose.yaml", "workers.yaml", "override.yaml"}, lines, nil
}
