//go:build linux

// Health measures what startgate health takes in a container whose worker runs,
// against a Go program that does nothing and against startgate version, which
// is the start of the same binary. What a start takes is the machine's: it has
// some two hundred page faults more than that of a program that does nothing,
// and on some virtual machines each takes 45 µs. What health adds is judged.
//
//	go run ./integration/measure/health [-runs 200]
//
// All runs are made by one docker exec, so that Docker's own time, which is
// many times longer, is in none of them.
package main

import (
	"archive/tar"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/startgate/startgate/integration/internal/fixture"
	"github.com/startgate/startgate/integration/internal/report"
)

const (
	goal      = 5 * time.Millisecond
	redisGoal = 10 * time.Millisecond // with a connection, and an answer
)

// image is what the programs are put into.
const image = "startgate-measure-health"

// asking is a contract whose health asks Redis.
const asking = `contract: 1
name: asking
keys: {REDIS_URL: {type: redis_url}}
waits: [{redis: REDIS_URL}]
health: {redis: true}
`

func main() {
	runs := flag.Int("runs", 200, "runs of each `N`")
	gate := flag.String("gate", "", "measure this `file` instead of building the gate")
	raw := flag.String("json", "", "write the raw numbers to this `file`")
	flag.Parse()
	code, err := measure(*runs, *gate, *raw)
	if err != nil {
		fmt.Fprintln(os.Stderr, "health:", err)
		code = 1
	}
	os.Exit(code)
}

// program is what runs in the container, and how.
type program struct {
	name string
	args []string
	goal time.Duration
}

func measure(runs int, gate, raw string) (code int, err error) {
	lab, err := fixture.Open()
	if err != nil {
		return 1, err
	}
	defer lab.Close()
	container, err := startContainer(lab, gate)
	if err != nil {
		return 1, err
	}
	defer removeContainer(container)
	programs := []program{
		{"does nothing", []string{"/nop"}, 0},
		{"version, the binary's own start", []string{"/startgate", "version"}, 0},
		{"health", []string{"/startgate", "health"}, goal},
		{"health, redis: true", []string{"/startgate", "health", "--contract=/asking.yaml"}, redisGoal},
	}
	args := []string{"exec", container, "/loop", strconv.Itoa(runs)}
	for i, p := range programs {
		if i > 0 {
			args = append(args, "--")
		}
		args = append(args, p.args...)
	}
	out, err := docker(nil, args...)
	if err != nil {
		return 1, err
	}
	lines := strings.Split(out, "\n")
	if len(lines) != len(programs) {
		return 1, fmt.Errorf("the loop says %q", out)
	}
	r := report.New("health")
	var rows [][]string
	var nothing, start time.Duration
	for i, p := range programs {
		took, err := samples(lines[i])
		if err != nil {
			return 1, fmt.Errorf("%s: %w", p.name, err)
		}
		r.Keep(p.name, took)
		median := took.Median()
		switch i {
		case 0:
			nothing = median
		case 1:
			start = median
		default:
			r.Goal(p.name+", more than the binary's start", report.Ms(median-start), "≤ "+report.Ms(p.goal), median-start <= p.goal)
		}
		rows = append(rows, []string{p.name, report.Ms(took.Min()), report.Ms(median), report.Ms(took.P95()), report.Ms(median - nothing)})
	}
	r.Table([]string{"in a container", "min", "median", "p95", "median, more than doing nothing"}, rows)
	r.Note("%d runs of each in turn.", runs)
	return r.End(raw)
}

// samples reads a line of the loop.
func samples(line string) (took report.Samples, err error) {
	fields := strings.Fields(line)
	if len(fields) < 2 || fields[0] != "0" {
		return nil, fmt.Errorf("it has ended with %q", line)
	}
	for _, text := range fields[1:] {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, err
		}
		took = append(took, time.Duration(n))
	}
	return took, nil
}

// startContainer starts a container with as few rights as it can have, and
// waits for its worker. The Redis is this machine's, on loopback.
func startContainer(lab *fixture.Lab, gate string) (id string, err error) {
	if gate, err = lab.Gate(gate); err != nil {
		return "", err
	}
	loop, err := lab.Build("integration/measure/health/loop")
	if err != nil {
		return "", err
	}
	nop, err := lab.Build("integration/measure/health/nop")
	if err != nil {
		return "", err
	}
	redis, err := lab.Redis(lab.Dir)
	if err != nil {
		return "", err
	}
	contract := filepath.Join(lab.Dir, "asking.yaml")
	if err := os.WriteFile(contract, []byte(asking), 0o644); err != nil {
		return "", err
	}
	root, err := archive(map[string]string{"startgate": gate, "loop": loop, "nop": nop, "asking.yaml": contract})
	if err != nil {
		return "", err
	}
	if _, err := docker(root, "import", "-", image); err != nil {
		return "", err
	}
	id, err = docker(nil, "run", "--detach", "--network", "host", "--read-only", "--cap-drop", "ALL", "--user", "65532:65532",
		"--env", "REDIS_URL=redis://"+redis.Addr, "--entrypoint", "/startgate", image, "--", "/loop", "wait")
	if err != nil {
		return "", err
	}
	for range 1000 {
		if _, err = docker(nil, "exec", id, "/startgate", "health"); err == nil {
			return id, nil
		}
	}
	removeContainer(id)
	return "", fmt.Errorf("the worker does not start: %w", err)
}

func removeContainer(id string) {
	docker(nil, "rm", "--force", id)
	docker(nil, "image", "rm", image)
}

// archive is a file system of these files.
func archive(files map[string]string) (*bytes.Buffer, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	return &b, w.Close()
}

func docker(stdin *bytes.Buffer, args ...string) (string, error) {
	cmd := exec.Command("docker", args...)
	if stdin != nil {
		cmd.Stdin = stdin
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", args[0], err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
