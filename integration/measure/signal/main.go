//go:build linux

// Signal measures how soon a TERM ends the gate, in each of its phases.
//
//	go run ./integration/measure/signal [-runs 20]
//
// That a phase has been reached is never guessed from the time: the gate has
// said so, its peer has received something, or the kernel shows the socket.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/startgate/startgate/integration/internal/fixture"
	"github.com/startgate/startgate/integration/internal/report"
)

const (
	goal     = 50 * time.Millisecond
	stopped  = 128 + int(syscall.SIGTERM)
	patience = 10 * time.Second // for a phase to be reached
	spread   = 20 * time.Millisecond
)

// phase is where the gate is when the signal comes.
type phase struct {
	name    string
	env     []string
	reached func(lines *bufio.Reader) error // returns when the gate is there
	took    report.Samples
}

func main() {
	runs := flag.Int("runs", 20, "runs of each `N`")
	gate := flag.String("gate", "", "measure this `file` instead of building the gate")
	raw := flag.String("json", "", "write the raw numbers to this `file`")
	flag.Parse()
	code, err := measure(*runs, *gate, *raw)
	if err != nil {
		fmt.Fprintln(os.Stderr, "signal:", err)
		code = 1
	}
	os.Exit(code)
}

func measure(runs int, gate, raw string) (code int, err error) {
	lab, err := fixture.Open()
	if err != nil {
		return 1, err
	}
	defer lab.Close()
	if gate, err = lab.Gate(gate); err != nil {
		return 1, err
	}
	nop, err := lab.Nop()
	if err != nil {
		return 1, err
	}
	phases, err := prepare(lab)
	if err != nil {
		return 1, err
	}
	r := report.New("signal")
	for range runs {
		for i := range phases {
			p := &phases[i]
			took, err := p.run(lab, gate, nop)
			if err != nil {
				return 1, fmt.Errorf("%s: %w", p.name, err)
			}
			p.took = append(p.took, took)
		}
	}
	var rows [][]string
	for _, p := range phases {
		r.Keep(p.name, p.took)
		rows = append(rows, []string{p.name, report.Ms(p.took.Min()), report.Ms(p.took.Median()), report.Ms(p.took.Max())})
		r.Goal(p.name+", maximum", report.Ms(p.took.Max()), "≤ "+report.Ms(goal), p.took.Max() <= goal)
	}
	r.Table([]string{"TERM to exit 143", "min", "median", "max"}, rows)
	return r.End(raw)
}

// run starts a gate, waits until it is in the phase, and ends it.
func (p *phase) run(lab *fixture.Lab, gate, nop string) (time.Duration, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	process, err := lab.Start(fixture.Command{Args: []string{gate, "--", nop}, Env: p.env, Stderr: w})
	w.Close()
	if err != nil {
		return 0, err
	}
	r.SetReadDeadline(time.Now().Add(patience))
	var said strings.Builder
	lines := io.TeeReader(r, &said)
	if err := p.reached(bufio.NewReader(lines)); err != nil {
		process.Kill()
		r.SetReadDeadline(time.Time{})
		io.Copy(io.Discard, lines)
		return 0, fmt.Errorf("%w; the gate has said:\n%s", err, said.String())
	}
	time.Sleep(rand.N(spread))
	began := time.Now()
	if err := syscall.Kill(process.PID, syscall.SIGTERM); err != nil {
		return 0, err
	}
	ended, err := process.Wait()
	took := time.Since(began)
	if err == nil && ended.Exit != stopped {
		err = fmt.Errorf("exit %d, where %d was expected; the gate has said:\n%s", ended.Exit, stopped, said.String())
	}
	return took, err
}

// prepare starts the peers.
func prepare(lab *fixture.Lab) ([]phase, error) {
	redis, err := lab.Redis(lab.Dir)
	if err != nil {
		return nil, err
	}
	closed, err := fixture.FreePort()
	if err != nil {
		return nil, err
	}
	full, err := fullBacklog()
	if err != nil {
		return nil, err
	}
	silent, heard, err := silentPeer()
	if err != nil {
		return nil, err
	}
	hears := func(*bufio.Reader) error {
		select {
		case <-heard:
			return nil
		case <-time.After(patience):
			return errors.New("the peer has heard nothing")
		}
	}
	return []phase{
		{name: "start jitter", env: []string{"REDIS_URL=redis://" + redis.Addr, "STARTGATE_START_JITTER=24h"}, reached: says("start")},
		{name: "connect, full backlog", env: []string{"REDIS_URL=redis://127.0.0.1:" + strconv.Itoa(full)},
			reached: func(*bufio.Reader) error { return connecting(full) }},
		{name: "TLS handshake, silent peer", env: []string{"REDIS_URL=rediss://" + silent}, reached: hears},
		{name: "read, silent peer", env: []string{"REDIS_URL=redis://" + silent}, reached: hears},
		{name: "pause between attempts", reached: says("redis_refused"), env: []string{
			"REDIS_URL=redis://127.0.0.1:" + closed, "STARTGATE_INTERVAL_MIN=60s", "STARTGATE_INTERVAL_MAX=60s"}},
		{name: "delay", env: []string{"REDIS_URL=redis://" + redis.Addr, "STARTGATE_DELAY=1h"}, reached: says("delay")},
	}, nil
}

// says returns when the gate has printed a line with code.
func says(code string) func(*bufio.Reader) error {
	return func(lines *bufio.Reader) error {
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return fmt.Errorf("no line %s: %w", code, err)
			}
			if fields := strings.Fields(line); len(fields) > 2 && fields[2] == code {
				return nil
			}
		}
	}
}

// fullBacklog returns a port that takes no connection any more: the kernel
// drops every SYN.
func fullBacklog() (port int, err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	if err := syscall.Listen(fd, 0); err != nil {
		return 0, err
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return 0, err
	}
	port = name.(*syscall.SockaddrInet4).Port
	for range 8 {
		// Those that come about stay: nobody accepts or closes them.
		_, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), 300*time.Millisecond)
		if err != nil {
			return port, nil
		}
	}
	return 0, errors.New("the backlog cannot be filled")
}

// connecting returns when a socket of this machine waits for an answer to its
// SYN from port.
func connecting(port int) error {
	synSent := fmt.Sprintf(":%04X 02 ", port) // behind the remote address
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		table, err := os.ReadFile("/proc/net/tcp")
		if err != nil {
			return err
		}
		if strings.Contains(string(table), synSent) {
			return nil
		}
		if time.Now().After(end) {
			return errors.New("no connect under way")
		}
	}
}

// silentPeer accepts, reads and never answers. heard has an element for each
// connection that has sent something.
func silentPeer() (addr string, heard chan struct{}, err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	heard = make(chan struct{}, 1)
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				var first [1]byte
				if _, err := conn.Read(first[:]); err == nil {
					heard <- struct{}{}
				}
				io.Copy(io.Discard, conn)
			}()
		}
	}()
	return ln.Addr().String(), heard, nil
}
