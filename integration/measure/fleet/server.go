//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/startgate/startgate/integration/internal/fixture"
	"github.com/startgate/startgate/integration/internal/resp"
)

// server is a Redis and a connection to it, whose answers are counted with the
// others'.
type server struct {
	*fixture.Redis
	conn *resp.Conn
}

func startServer(lab *fixture.Lab, dir string, args ...string) (s server, err error) {
	if s.Redis, err = lab.Redis(dir, args...); err == nil {
		s.conn, err = resp.Dial(s.Addr, "")
	}
	return s, err
}

func (s server) end() {
	s.conn.Close()
	s.Kill()
}

// awaitLoaded asks until the server has loaded, and returns when it said so.
func (s server) awaitLoaded() (time.Time, error) {
	for ; ; time.Sleep(5 * time.Millisecond) {
		if loading, err := s.conn.Loading(); err != nil || !loading {
			return time.Now(), err
		}
	}
}

// release has a server that loads slowly load without pause, and returns when it
// has loaded.
func (s server) release() (time.Time, error) {
	if _, err := s.conn.Do("CONFIG", "SET", "key-load-delay", "0"); err != nil {
		return time.Time{}, err
	}
	return s.awaitLoaded()
}

// await looks at the server until its state is the one that is waited for.
func (s server) await(limit time.Duration, is func(state) bool) (now state, err error) {
	for end := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		switch now, err = s.state(); {
		case err != nil || is(now):
			return now, err
		case time.Now().After(end):
			return now, fmt.Errorf("after %v %d clients are connected and %d were turned away", limit, now.clients, now.rejected)
		}
	}
}

// state is what a server says of itself, and what the kernel says of it.
type state struct {
	at       time.Time
	cpu      time.Duration // of the thread that does it all
	commands int
	rejected int
	clients  int
	used     int // bytes
	rss      int // bytes
	drops    int // connections that the kernel of this machine has not let wait
}

func (s server) state() (now state, err error) {
	info, err := s.conn.Do("INFO")
	if err != nil {
		return now, err
	}
	field := func(name string) float64 {
		for line := range strings.Lines(info) {
			if value, ok := strings.CutPrefix(line, name+":"); ok {
				n, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
				return n
			}
		}
		return 0
	}
	cpu := field("used_cpu_user_main_thread") + field("used_cpu_sys_main_thread")
	statm, err := os.ReadFile("/proc/" + strconv.Itoa(s.PID) + "/statm")
	if err != nil {
		return now, err
	}
	pages, _ := strconv.Atoi(strings.Fields(string(statm))[1])
	now = state{
		at: time.Now(), cpu: time.Duration(cpu * float64(time.Second)), commands: int(field("total_commands_processed")),
		rejected: int(field("rejected_connections")), clients: int(field("connected_clients")), used: int(field("used_memory")), rss: pages * os.Getpagesize(),
	}
	now.drops, err = listenDrops()
	return now, err
}

// listenDrops is how many connections this machine's kernel has dropped because
// too many waited to be accepted.
func listenDrops() (int, error) {
	text, err := os.ReadFile("/proc/net/netstat")
	if err != nil {
		return 0, err
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		values, ok := strings.CutPrefix(line, "TcpExt: ")
		if !ok {
			continue
		}
		if names == nil {
			names = strings.Fields(values)
			continue
		}
		for i, value := range strings.Fields(values) {
			if names[i] == "ListenDrops" {
				return strconv.Atoi(value)
			}
		}
	}
	return 0, os.ErrNotExist
}
