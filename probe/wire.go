package probe

import (
	"errors"
	"net"
	"sync/atomic"
)

// keepFirst is how many bytes of a connection's start are kept: enough for the
// start of every error that Redis sends unasked.
const keepFirst = 64

var errNotRESP = errors.New("not RESP within bounds")

// noHello is what a server before 6.0 answers.
const noHello = "-ERR unknown command 'HELLO'\r\n"

// wire is a connection that keeps what a peer says first and lets nothing but
// bounded RESP through. go-redis loses the two errors that Redis sends at
// accept, since it takes them for a server without HELLO and writes on.
//
// It answers go-redis's own HELLO by itself: that would be a round trip more,
// and a loading server's answers are far apart. The probe asks HELLO too, in
// its own write.
type wire struct {
	net.Conn
	guard   guard
	first   []byte
	alien   bool        // what came was refused by the guard
	taken   atomic.Bool // a client has it
	hello   bool        // go-redis has said it
	greeted bool        // and has its answer
}

func (w *wire) Read(p []byte) (int, error) {
	if w.hello && !w.greeted {
		w.greeted = true
		return copy(p, noHello), nil
	}
	n, err := w.Conn.Read(p)
	if room := keepFirst - len(w.first); room > 0 {
		w.first = append(w.first, p[:min(n, room)]...)
	}
	if w.alien = w.alien || !w.guard.accept(p[:n]); w.alien {
		return 0, errNotRESP
	}
	return n, err
}

func (w *wire) Write(p []byte) (int, error) {
	if !w.hello {
		w.hello = true
		return len(p), nil
	}
	w.guard.wrote()
	return w.Conn.Write(p)
}
