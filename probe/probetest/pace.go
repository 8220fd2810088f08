package probetest

import (
	"net"
	"time"
)

// pause waits for d. It returns false when the connection was killed meanwhile.
func (c *conn) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.done:
		return false
	}
}

// window waits until a server that loads stops to answer clients. A pipeline
// that arrived together is answered in one window.
func (c *conn) window() error {
	b := c.srv.current()
	l := b.loading()
	if l == nil || l.Window <= 0 {
		return nil
	}
	now := time.Now()
	if !c.pause(now.Truncate(l.Window).Add(l.Window).Sub(now)) {
		return net.ErrClosed
	}
	return nil
}

// paced is the connection as its answers are written: byte by byte if the
// behaviour wants it so.
type paced struct{ c *conn }

func (w paced) Write(p []byte) (int, error) {
	for i := range p {
		every := w.c.srv.current().ByteInterval
		if every <= 0 {
			n, err := w.c.nc.Write(p[i:])
			return i + n, err
		}
		if !w.c.pause(every) {
			return i, net.ErrClosed
		}
		if _, err := w.c.nc.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}
