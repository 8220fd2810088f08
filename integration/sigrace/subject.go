package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// A subject is a program that becomes its worker when Redis is ready.
type subject struct {
	name    string
	argv    []string // with the worker's path at its end
	environ []string
}

// subjects builds what is compared. All is built without cgo, as the gate is.
func subjects(dir, gatePath string) (control, gate subject, err error) {
	worker := filepath.Join(dir, "worker")
	if err := writeWorker(worker); err != nil {
		return control, gate, err
	}
	build := func(name, path string) (binary string, err error) {
		binary = filepath.Join(dir, name)
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, path)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		return binary, cmd.Run()
	}
	const module = "github.com/startgate/startgate/"
	path, err := build("control", module+"integration/sigrace/control")
	if err != nil {
		return control, gate, err
	}
	control = subject{name: "control", argv: []string{path, worker}}
	if gatePath == "" {
		if gatePath, err = build("startgate", module+"cmd/startgate"); err != nil {
			return control, gate, err
		}
	}
	return control, subject{name: "startgate", argv: []string{gatePath, "--", worker}}, nil
}

// process is a subject that has been started. It writes to said when it has
// become the worker.
type process struct {
	cmd   *exec.Cmd
	said  *os.File
	ended chan struct{}
}

func (s subject) start() (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	p := &process{cmd: exec.Command(s.argv[0], s.argv[1:]...), said: r, ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Stdout = s.environ, w
	if err := p.cmd.Start(); err != nil {
		r.Close()
		return nil, err
	}
	go func() {
		p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// endsWithin reports whether the process ends by itself in that time.
func (p *process) endsWithin(d time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(d):
		return false
	}
}

// becameWorker reports whether the worker has run. Once the process has ended
// it does not block.
func (p *process) becameWorker(timeout time.Duration) bool {
	p.said.SetReadDeadline(time.Now().Add(timeout))
	n, _ := p.said.Read(make([]byte, 1))
	return n > 0
}

func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.ended
	p.said.Close()
}

// terminated reports whether SIGTERM has ended the process, with nobody there
// to catch it.
func (p *process) terminated() bool {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGTERM
}

// measure returns the usual time from the start to the worker's first
// instruction, under the load that the trials will meet.
func (s subject) measure(ctx context.Context, n, parallel int) (time.Duration, error) {
	times := make([]time.Duration, n)
	errs := make([]error, n)
	inParallel(ctx, n, parallel, func(i int) {
		p, err := s.start()
		if err != nil {
			errs[i] = err
			return
		}
		start := time.Now()
		if !p.becameWorker(10 * time.Second) {
			errs[i] = errors.New("did not become the worker")
		}
		times[i] = time.Since(start)
		p.kill()
	})
	slices.Sort(times)
	return times[n/2], cmp.Or(errs...)
}
