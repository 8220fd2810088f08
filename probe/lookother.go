package probe

import (
	"context"
	"io"
	"strings"
)

// otherLook is a second look at a peer that stays silent or hangs up: whether
// it answers to a line of text, as servers of other protocols do. It makes a
// connection of its own, sends nothing of the URL and is done at most once.
type otherLook struct {
	spent, found bool
}

// finds reports whether there is an answer that begins with none of the bytes
// in own.
func (l *otherLook) finds(ctx context.Context, d *dialer, own string) bool {
	if !l.spent {
		ctx, cancel := context.WithTimeout(ctx, lookTimeout)
		defer cancel()
		l.spent, l.found = true, answersLine(ctx, d, own)
	}
	return l.found
}

func answersLine(ctx context.Context, d *dialer, own string) bool {
	conn, fault := d.connect(ctx)
	if fault != "" {
		return false
	}
	defer conn.Close()
	conn.SetDeadline(within(ctx, lookTimeout))
	if _, err := io.WriteString(conn, "PING\r\n\r\n"); err != nil {
		return false
	}
	var first [1]byte
	n, _ := conn.Read(first[:])
	return n > 0 && strings.IndexByte(own, first[0]) < 0
}
