package probetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Traffic is what all clients have done since the server was started.
type Traffic struct {
	Accepted int            // connections
	Open     int            // connections that have not ended
	Batches  int            // see Session
	Commands map[string]int // number of commands received, by name in capitals
}

// A Session is what one connection has done.
type Session struct {
	Commands []Command // in order of arrival, before they were answered
	Open     bool

	// Batches counts how often data arrived while the server had answered
	// everything before it: one for a client that sends a pipeline in one
	// write. Two writes that reach the server together count as one, which
	// cannot happen to a client that waits for answers in between.
	Batches int
}

// A Command is its name in capitals, at most 64 bytes of it, and the number of
// its arguments. The arguments themselves are not kept: they may be secrets.
type Command struct {
	Name string
	Args int
}

func newCommand(args []string) Command {
	name := strings.ToUpper(args[0])
	return Command{Name: strings.Clone(name[:min(len(name), 64)]), Args: len(args) - 1}
}

// keep bounds what a server that runs for long remembers: so many sessions, so
// many commands over all of them, and so many names. It keeps the first ones;
// the sums of Traffic go on.
const keep = 1 << 16

// log is the record of a server, guarded by Server.mu.
type log struct {
	total    Traffic
	sessions []Session
	commands int // over all sessions
	waiters  []waiter
}

type waiter struct {
	cond func(Traffic) bool
	met  chan struct{}
}

// accepted records a new connection and returns its number.
func (l *log) accepted() int {
	id := l.total.Accepted
	l.total.Accepted++
	l.total.Open++
	if len(l.sessions) < keep {
		l.sessions = append(l.sessions, Session{Open: true})
	}
	l.changed()
	return id
}

func (l *log) ended(id int) {
	l.total.Open--
	if id < len(l.sessions) {
		l.sessions[id].Open = false
	}
	l.changed()
}

// changed wakes those whose condition holds now.
func (l *log) changed() {
	l.waiters = slices.DeleteFunc(l.waiters, func(w waiter) bool {
		if !w.cond(l.total) {
			return false
		}
		close(w.met)
		return true
	})
}

// batch records that connection id has started a batch.
func (s *Server) batch(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.total.Batches++
	if id < len(s.log.sessions) {
		s.log.sessions[id].Batches++
	}
	s.log.changed()
}

// received records a command of connection id.
func (s *Server) received(id int, args []string) {
	c := newCommand(args)
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.log
	if l.total.Commands == nil {
		l.total.Commands = map[string]int{}
	}
	if _, known := l.total.Commands[c.Name]; known || len(l.total.Commands) < keep {
		l.total.Commands[c.Name]++
	}
	if id < len(l.sessions) && l.commands < keep {
		l.commands++
		l.sessions[id].Commands = append(l.sessions[id].Commands, c)
	}
	l.changed()
}

// Traffic returns the sums up to now.
func (s *Server) Traffic() Traffic {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.log.total
	t.Commands = maps.Clone(t.Commands)
	return t
}

// Sessions returns one record for each connection, in order of acceptance. A
// server that has run for long returns its first 65536.
func (s *Server) Sessions() []Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.log.sessions)
	for i := range all {
		all[i].Commands = slices.Clone(all[i].Commands)
	}
	return all
}

// Await returns a channel that is closed as soon as cond holds, at once if it
// does already. cond is called with every change; it must neither call the
// server nor keep the map. See [Connections], [Commands] and [Disconnected].
func (s *Server) Await(cond func(Traffic) bool) <-chan struct{} {
	met := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.waiters = append(s.log.waiters, waiter{cond, met})
	s.log.changed()
	return met
}

// Wait is Await for a caller with a context: it returns nil once cond holds,
// and an error that says what has arrived when ctx ends first.
func (s *Server) Wait(ctx context.Context, cond func(Traffic) bool) error {
	select {
	case <-s.Await(cond):
		return nil
	case <-ctx.Done():
		t := s.Traffic()
		return fmt.Errorf("probetest: %w after %d connections, %d of them open, and commands %v",
			context.Cause(ctx), t.Accepted, t.Open, t.Commands)
	}
}

// Connections is the condition that n connections have been accepted.
func Connections(n int) func(Traffic) bool {
	return func(t Traffic) bool { return t.Accepted >= n }
}

// Commands is the condition that n commands of this name have been received.
func Commands(name string, n int) func(Traffic) bool {
	name = strings.ToUpper(name)
	return func(t Traffic) bool { return t.Commands[name] >= n }
}

// Disconnected is the condition that n connections have ended.
func Disconnected(n int) func(Traffic) bool {
	return func(t Traffic) bool { return t.Accepted-t.Open >= n }
}
