// Composecheck measures startgate-compose as a whole process, for a stack of
// 1,000 lines in three files and for one ten times as large, against a program
// that only loads the same files with compose-go.
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
	goal   = 0.7 // times what compose-go alone takes for 1,000 lines
	growth = 12  // times the time for ten times the lines
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
	checker, err := build(dir, "./cmd/startgate-compose")
	if err != nil {
		return 1, err
	}
	yardstick, err := build(dir, "./integration/measure/composecheck/yardstick")
	if err != nil {
		return 1, err
	}
	if err := os.WriteFile(filepath.Join(dir, "contract.yaml"), []byte(contract), 0o666); err != nil {
		return 1, err
	}
	r := report.New("composecheck")
	var rows [][]string
	var minima []time.Duration
	for _, workers := range []int{48, 480} {
		files, lines, err := stack(dir, workers)
		if err != nil {
			return 1, err
		}
		check := []string{checker, "check", "-q", "--contract", "contract.yaml"}
		for _, f := range files {
			check = append(check, "-f", f)
		}
		load := append([]string{yardstick}, files...)
		var checks, loads report.Samples
		for range runs { // in turn: what else the machine does meets both
			if err := sample(&checks, dir, check); err != nil {
				return 1, err
			}
			if err := sample(&loads, dir, load); err != nil {
				return 1, err
			}
		}
		name := fmt.Sprintf("%d lines", lines)
		for _, each := range []struct {
			name string
			took report.Samples
		}{{name + ", checked", checks}, {name + ", loaded by compose-go", loads}} {
			r.Keep(each.name, each.took)
			rows = append(rows, []string{each.name, report.Ms(each.took.Min()), report.Ms(each.took.Median()), report.Ms(each.took.P95())})
		}
		minima = append(minima, checks.Min(), loads.Min())
	}
	r.Table([]string{"stack", "min", "median", "p95"}, rows)
	ratio := func(what string, a, b time.Duration, limit float64) {
		times := float64(a) / float64(b)
		r.Goal(what, fmt.Sprintf("%.2f ×", times), fmt.Sprintf("≤ %g ×", limit), times <= limit)
	}
	ratio("1,000 lines in three files against loading them, minima", minima[0], minima[1], goal)
	ratio("ten times the lines, minima", minima[2], minima[0], growth)
	return r.End(raw)
}

// build builds a program into dir as a release does.
func build(dir, program string) (file string, err error) {
	file = filepath.Join(dir, filepath.Base(program))
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return file, nil
}

// sample adds the time of a process that must end well.
func sample(to *report.Samples, dir string, args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	begun := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(args[0]), err, out)
	}
	*to = append(*to, time.Since(begun))
	return nil
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
