// Quickstart shows startgate at work on a machine that has only Go:
//
//	go run ./examples/quickstart
//
// It builds the gate, puts it in front of a small worker, and lets it meet a
// stand-in for Redis that is still loading, one that rejects the password, and
// no Redis at all. It exits with 1 when the gate does not end as it should.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/term"

	"github.com/startgate/startgate/probe/probetest"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "worker" {
		os.Exit(work(os.Args[2]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		say(red, "quickstart: "+err.Error())
		os.Exit(1)
	}
}

// run builds the gate, and plays the three scenes.
func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "startgate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	gate := filepath.Join(dir, "startgate")

	say(dim, "building the gate: CGO_ENABLED=0 go build ./cmd/startgate (some seconds, the first time longer)")
	build := exec.CommandContext(ctx, "go", "build", "-o", gate, "github.com/startgate/startgate/cmd/startgate")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}

	failed := false
	for n, s := range []scene{
		{
			title: "Redis is up and still loads its data set.",
			see:   "The gate tells how far Redis is, and then becomes the worker: the process ID stays.",
			redis: &probetest.Behaviour{Loading: probetest.LoadFor(3 * time.Second), Replies: jobs},
			exit:  0,
		},
		{
			title: "The password is wrong, and Redis still loads.",
			see:   "Waiting cannot cure that: exit 69 at once. The line says which variable, and not what is in it.",
			redis: &probetest.Behaviour{Loading: probetest.LoadFor(time.Minute), Password: "right"},
			login: ":wrong@",
			exit:  69,
		},
		{
			title: "No variable with a Redis URL has reached the container.",
			see:   "Exit 78 before anything is connected to, with the names that were looked at.",
			exit:  78,
		},
	} {
		fmt.Println()
		say(bold, fmt.Sprintf("%d  %s", n+1, s.title))
		say(dim, "   "+s.see)
		code, err := s.play(ctx, gate, self, filepath.Join(dir, "pid"))
		if err != nil {
			return err
		}
		if code == s.exit {
			say(green, fmt.Sprintf("   exit %d, as expected", code))
		} else {
			say(red, fmt.Sprintf("   exit %d, and %d was expected", code, s.exit))
			failed = true
		}
	}
	if failed {
		return errors.New("the gate did not end as expected")
	}
	fmt.Println()
	say(dim, "What a code means and what to do: go run ./cmd/startgate explain redis_auth_rejected")
	return nil
}

// A scene is one start of the gate in front of the worker.
type scene struct {
	title, see string
	redis      *probetest.Behaviour // nil: there is none, and no URL
	login      string               // user and password in the URL
	exit       int
}

// jobs is the queue: one job for whoever asks.
var jobs = map[string]probetest.Reply{"LPOP": probetest.Raw("$5\r\nhello\r\n")}

// play runs the gate and returns its exit code, which is the worker's when it
// has become that.
func (s *scene) play(ctx context.Context, gate, self, pidFile string) (int, error) {
	var env []string
	for _, name := range []string{"PATH", "TERM", "NO_COLOR"} { // and no REDIS_URL of this machine's
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	line := "startgate -- worker"
	if s.redis != nil {
		server, err := probetest.Start(*s.redis)
		if err != nil {
			return 0, err
		}
		defer server.Close()
		url := "REDIS_URL=redis://" + s.login + server.Addr() + "/0"
		env = append(env, url)
		line = url + " " + line
	}
	say(normal, "   $ "+line)

	cmd := exec.CommandContext(ctx, gate, "--", self, "worker", pidFile)
	cmd.Env = env
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	if err := os.WriteFile(pidFile, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
		return 0, err
	}
	err := cmd.Wait()
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// work is the worker. It takes one job, and compares its process ID with the
// one that the gate was started with.
func work(pidFile string) int {
	started, err := os.ReadFile(pidFile)
	if err != nil || string(started) != strconv.Itoa(os.Getpid()) {
		fmt.Println("worker: this is not the gate's process")
		return 1
	}
	options, err := redis.ParseURL(os.Getenv("REDIS_URL"))
	if err != nil {
		fmt.Println("worker: no Redis URL")
		return 1
	}
	client := redis.NewClient(options)
	defer client.Close()
	if err := client.LPop(context.Background(), "jobs").Err(); err != nil {
		fmt.Println("worker: no job:", err)
		return 1
	}
	fmt.Printf("worker: pid %d, the gate's own; first job done\n", os.Getpid())
	return 0
}

const (
	normal = "0"
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
)

// plain is whether colours would be in the way. See no-color.org.
var plain = os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(os.Stdout.Fd()))

// say prints a line of the quickstart's own.
func say(style, line string) {
	if !plain {
		line = "\x1b[" + style + "m" + line + "\x1b[0m"
	}
	fmt.Println(line)
}
