package integration

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A phase is something that the gate can be in the middle of.
type phase struct {
	name string
	// call is how the gate is brought there. reached returns when it is there.
	call func(t *testing.T) (c call, reached func(p *gateProcess))
}

// said is the end of a phase that the gate announces.
func said(code string) func(*gateProcess) { return func(p *gateProcess) { p.await(code, 1) } }

var phases = []phase{
	{"start jitter", func(t *testing.T) (call, func(*gateProcess)) {
		// The random part is shorter than a second in one of 86,400 runs.
		return at("redis://127.0.0.1:"+freePort(t), "--start-jitter", "24h"), said("start")
	}},
	{"name server silent", func(t *testing.T) (call, func(*gateProcess)) {
		s := startNameServer(t)
		c := at("redis://silent.test:6379", "--dial-timeout", "1m")
		c.through = s.through(t)
		return c, func(*gateProcess) { <-s.asked }
	}},
	{"connect to a full backlog", func(t *testing.T) (call, func(*gateProcess)) {
		addr := fullBacklog(t)
		return at("redis://"+addr, "--dial-timeout", "1m"), func(*gateProcess) { awaitSYN(t, addr) }
	}},
	{"TLS handshake", func(t *testing.T) (call, func(*gateProcess)) {
		addr, heard := listening(t)
		return at("rediss://"+addr, "--dial-timeout", "1m"), heard
	}},
	{"read", func(t *testing.T) (call, func(*gateProcess)) {
		addr, heard := listening(t)
		return at("redis://"+addr, "--reply-timeout", "1m"), heard
	}},
	{"pause", func(t *testing.T) (call, func(*gateProcess)) {
		return at("redis://127.0.0.1:"+freePort(t), "--interval-min", "1m", "--interval-max", "1m"), said("redis_refused")
	}},
	{"delay", func(t *testing.T) (call, func(*gateProcess)) {
		return at(startRedis(t, redisOptions{}).url("", ""), "--delay", "1m"), said("delay")
	}},
}

var endingSignals = []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT}

const (
	// signalLimit is what the fastest of several ends may take, slowestEnd what
	// any may take on a busy machine.
	signalLimit = 50 * time.Millisecond
	slowestEnd  = 5 * time.Second
)

// Every signal ends the gate at once, whatever it is in the middle of.
func TestSignalsEndEveryPhase(t *testing.T) {
	needProgram(t, "redis-server")
	for _, ph := range phases {
		t.Run(ph.name, func(t *testing.T) {
			for _, sig := range endingSignals {
				checkEnds(t, sig, func() time.Duration {
					c, reached := ph.call(t)
					args := append(append([]string{"run"}, c.flags...), "--", workerPath(), "exit", "0")
					p := start(t, through(c.through, command(c.env, args...)))
					reached(p)
					took := endBy(t, p, sig)
					if got := p.last().Code; got != "stopped" {
						t.Errorf("%s: last line %s", sig, got)
					}
					return took
				})
			}
		})
	}
}

// The same when nobody reads what the gate writes.
func TestSignalsEndWithStderrFull(t *testing.T) {
	needProgram(t, "redis-server")
	for _, ph := range phases {
		t.Run(ph.name, func(t *testing.T) {
			checkEnds(t, syscall.SIGTERM, func() time.Duration {
				c, reached := ph.call(t)
				return endWithFullStderr(t, c, reached)
			})
		})
	}
	t.Run("first line", func(t *testing.T) {
		checkEnds(t, syscall.SIGTERM, func() time.Duration {
			r, w := pipe(t)
			fillPipe(t, w)
			cmd := command(redisURL("redis://127.0.0.1:"+freePort(t)), "wait")
			cmd.Stderr = w
			p := start(t, cmd)
			awaitWrite(t, cmd.Process.Pid)
			defer r.Close()
			return endBy(t, p, syscall.SIGTERM)
		})
	})
}

// endWithFullStderr brings the gate to where reached is, reading its lines,
// then fills the pipe and reads no more.
func endWithFullStderr(t *testing.T, c call, reached func(*gateProcess)) time.Duration {
	r, w := pipe(t)
	cmd := through(c.through, command(c.env, append([]string{"wait"}, c.flags...)...))
	cmd.Stderr = w
	p := start(t, cmd)
	done := make(chan struct{})
	go func() {
		p.readLines(r)
		close(done)
	}()
	reached(p)
	r.SetReadDeadline(time.Unix(1, 0))
	<-done
	fillPipe(t, w)
	return endBy(t, p, syscall.SIGTERM)
}

// endBy sends sig and returns how long the gate goes on.
func endBy(t *testing.T, p *gateProcess, sig syscall.Signal) time.Duration {
	t.Helper()
	sent := time.Now()
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	p.wait()
	if want := 128 + int(sig); p.code != want {
		t.Errorf("%s: exit %d, want %d\n%s", sig, p.code, want, p.stderr)
	}
	return p.ended.Sub(sent)
}

// checkEnds checks how long the ends by sig take that end makes, twice or
// until one is quick.
func checkEnds(t *testing.T, sig syscall.Signal, end func() time.Duration) {
	t.Helper()
	var times []time.Duration
	for run := 0; run < 2 || run < 10 && slices.Min(times) > signalLimit; run++ {
		times = append(times, end())
	}
	t.Logf("%-10s fastest %s, slowest %s of %d", sig, slices.Min(times), slices.Max(times), len(times))
	if slices.Min(times) > signalLimit || slices.Max(times) > slowestEnd {
		t.Errorf("%s: %s; want one within %s and all within %s", sig, times, signalLimit, slowestEnd)
	}
}

// listening returns the address of a peer that reads and says nothing, and a
// function that waits until it has read something.
func listening(t *testing.T) (addr string, heard func(*gateProcess)) {
	ch := make(chan struct{}, 100)
	addr = peer(t, func(c net.Conn) {
		if n, _ := c.Read(make([]byte, 4096)); n > 0 {
			ch <- struct{}{}
		}
	})
	return addr, func(*gateProcess) { <-ch }
}

// awaitSYN waits until a connection to addr is under way.
func awaitSYN(t *testing.T, addr string) {
	_, port, _ := net.SplitHostPort(addr)
	var n int
	fmt.Sscan(port, &n)
	const synSent = "02"
	eventually(t, "a SYN is sent", func() error {
		table, err := os.ReadFile("/proc/net/tcp")
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(table)) {
			if f := strings.Fields(line); len(f) > 3 && strings.HasSuffix(f[2], fmt.Sprintf(":%04X", n)) && f[3] == synSent {
				return nil
			}
		}
		return errNotYet
	})
}

// awaitWrite waits until a thread of the process is stuck in a write.
func awaitWrite(t *testing.T, pid int) {
	eventually(t, "a write that blocks", func() error {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", pid))
		for _, thread := range threads {
			if name, _ := os.ReadFile(thread); strings.Contains(string(name), "pipe_write") {
				return nil
			}
		}
		return errNotYet
	})
}

func pipe(t *testing.T) (r, w *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// fillPipe writes until the pipe takes no more. It opens the pipe anew: to
// make w itself non-blocking would do so for the gate's end, too.
func fillPipe(t *testing.T, w *os.File) {
	fd, err := syscall.Open(fmt.Sprintf("/proc/self/fd/%d", w.Fd()), syscall.O_WRONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	for _, chunk := range []int{4096, 1} {
		for {
			if _, err := syscall.Write(fd, make([]byte, chunk)); err == syscall.EAGAIN {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}
