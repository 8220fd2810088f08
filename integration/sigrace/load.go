package main

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

// hogs keep the processors busy: a thread that has to wait for one stays
// longer where a signal may be lost.
type hogs struct{ pipes []io.Closer }

func startHogs(n int) (*hogs, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	h := &hogs{}
	for range n {
		cmd := exec.Command(self, "-hog")
		pipe, err := cmd.StdinPipe()
		if err != nil {
			return h, err
		}
		h.pipes = append(h.pipes, pipe)
		if err := cmd.Start(); err != nil {
			h.stop()
			return h, err
		}
	}
	return h, nil
}

// stop ends them; so does the end of this process.
func (h *hogs) stop() {
	for _, p := range h.pipes {
		p.Close()
	}
}

// beHog keeps one processor busy until standard input ends.
func beHog() {
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		runtime.Gosched() // costs as much as anything
	}
}

// redis is a server with nothing in it.
type redis struct {
	address string
	cmd     *exec.Cmd
}

func startRedis(dir string) (*redis, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().(*net.TCPAddr)
	l.Close()
	r := &redis{address: address.String(), cmd: exec.Command("redis-server",
		"--bind", "127.0.0.1", "--port", strconv.Itoa(address.Port),
		"--save", "", "--appendonly", "no", "--dir", dir, "--logfile", filepath.Join(dir, "redis.log"))}
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	for range 200 {
		if c, err := net.Dial("tcp", r.address); err == nil {
			c.Close()
			return r, nil
		}
		time.Sleep(25 * time.Millisecond)
	}
	r.stop()
	return nil, errors.New("redis-server does not answer")
}

func (r *redis) stop() {
	r.cmd.Process.Kill()
	r.cmd.Wait()
}
