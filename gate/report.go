package gate

import (
	"bytes"
	"io"
	"os"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// maxTermination bounds the termination message. Kubernetes keeps 4,096 bytes
// of it, and all containers of a pod share 12 KiB.
const maxTermination = 2000

// report writes diagnostics, one line each. Only the main goroutine does.
type report struct {
	w           io.Writer
	json        bool
	screen      *screen       // nil when w is no terminal
	termination string        // path of the termination message
	failed      envcheck.Code // of the last line of a failure
	buf         []byte
}

// say writes d as a line.
func (r *report) say(d envcheck.Diagnostic) {
	r.buf = r.buf[:0]
	if r.screen != nil {
		r.buf = r.screen.clear(r.buf)
	}
	switch {
	case r.json:
		r.buf = d.AppendJSON(r.buf, time.Now())
	case r.screen != nil:
		r.buf = r.screen.paint(r.buf, d)
	default:
		r.buf = d.AppendText(r.buf)
	}
	r.w.Write(append(r.buf, '\n'))
}

// fact writes f as a line.
func (r *report) fact(f envcheck.Fact) {
	r.buf = r.buf[:0]
	if r.json {
		r.buf = f.AppendJSON(r.buf, time.Now())
	} else {
		r.buf = f.AppendText(r.buf)
	}
	r.w.Write(append(r.buf, '\n'))
}

// progress shows d on a terminal's one line that is written over and over, and
// reports whether there is one.
func (r *report) progress(d envcheck.Diagnostic) bool {
	if r.screen == nil {
		return false
	}
	r.buf = r.screen.draw(r.buf[:0], d)
	r.w.Write(r.buf)
	return true
}

// fail says why the gate ends with exit: warnings, then errors, the last with
// what the code means. The errors are also the termination message.
func (r *report) fail(exit int, diagnostics ...envcheck.Diagnostic) int {
	var errs []envcheck.Diagnostic
	for _, d := range diagnostics {
		if d.Severity() == envcheck.Error {
			errs = append(errs, d)
		} else {
			r.say(d)
		}
	}
	if n := len(errs); n > 0 {
		errs[n-1].Exit = exit
		r.failed = errs[n-1].Code
	}
	var message []byte
	for _, d := range errs {
		r.say(d)
		message = append(d.AppendText(message), '\n')
	}
	r.terminate(message)
	return exit
}

// terminate leaves message for kubectl describe. The file is there when the
// kubelet wants one, so it is never created. Of a long message the last lines
// stay, or the end of the last one, since it has the exit code.
func (r *report) terminate(message []byte) {
	if over := len(message) - maxTermination; over > 0 {
		message = message[over:]
		if _, whole, _ := bytes.Cut(message, []byte("\n")); len(whole) > 0 {
			message = whole
		}
	}
	// Something else than a file there, such as a FIFO, could block.
	if info, err := os.Stat(r.termination); err == nil && info.Mode().IsRegular() {
		_ = os.WriteFile(r.termination, message, 0)
	}
}
