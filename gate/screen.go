package gate

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/startgate/startgate/envcheck"
)

// redraw is the shortest time between two drawings of the progress line.
const redraw = 100 * time.Millisecond

// screen is a terminal: diagnostics in colour, and below them one line that
// shows the progress of a wait.
type screen struct {
	fd     int
	colour bool
	drawn  bool
	last   time.Time
}

// newScreen returns nil when w is no terminal. Colour follows no-color.org.
func newScreen(w io.Writer) *screen {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &screen{fd: int(f.Fd()), colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

const (
	eraseLine = "\r\x1b[K"
	reset     = "\x1b[0m"
)

// clear appends what removes the progress line.
func (s *screen) clear(b []byte) []byte {
	if s.drawn {
		s.drawn = false
		b = append(b, eraseLine...)
	}
	return b
}

// paint appends d as text in the colour of its level.
func (s *screen) paint(b []byte, d envcheck.Diagnostic) []byte {
	if !s.colour {
		return d.AppendText(b)
	}
	colour := "\x1b[36m"
	switch {
	case d.Severity() == envcheck.Error:
		colour = "\x1b[31m"
	case d.Severity() == envcheck.Warn:
		colour = "\x1b[33m"
	case d.Code == envcheck.Ready || d.Code == envcheck.Exec:
		colour = "\x1b[32m"
	}
	return append(d.AppendText(append(b, colour...)), reset...)
}

// draw appends d as the progress line, cut to the terminal's width: a line
// that wraps cannot be written over.
func (s *screen) draw(b []byte, d envcheck.Diagnostic) []byte {
	now := time.Now()
	if s.drawn && now.Sub(s.last) < redraw {
		return b
	}
	s.drawn, s.last = true, now
	b = append(b, eraseLine...)
	start := len(b)
	b = d.AppendText(b)
	if width, _, err := term.GetSize(s.fd); err == nil && width > 1 && len(b)-start >= width {
		b = b[:start+width-1]
	}
	return b
}
