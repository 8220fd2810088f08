package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/startgate/startgate/probe/probetest"
)

// TestOnATerminal has the gate write to a terminal, where it draws a line of
// its own and uses colours: those escapes and no others.
func TestOnATerminal(t *testing.T) {
	t.Parallel()
	peer := probetest.New(t, probetest.Behaviour{
		Loading: &probetest.Loading{Percent: 61, ETA: time.Second},
		Replies: map[string]probetest.Reply{"AUTH": probetest.Echo(probetest.TerminalEscapes)},
	})
	for _, args := range [][]string{{"wait", "--timeout=0.5"}, {"run", "--", "/nonexistent"}, {"check"}, {"-h"}} {
		canary := newCanary()
		master, terminal := openTerminal(t)
		shown := make(chan []byte)
		go func() {
			b, _ := io.ReadAll(master) // ends with an error once nobody has the terminal
			shown <- b
		}()
		p := process{
			label: args[0] + " on a terminal", canary: canary, args: append(args, canary), exit: anyExit, terminal: terminal,
			env: []string{"REDIS_URL=redis://" + canary + ":" + canary + "@" + peer.Addr() + "/0", "TERM=xterm", "STARTGATE_" + canary + "=\x1b[2J"},
		}
		if args[0] == "wait" || args[0] == "check" {
			p.args = args
		}
		out, err := p.run()
		terminal.Close()
		out.stderr = <-shown
		if err != nil {
			t.Fatal(err)
		}
		if args[0] == "wait" && !bytes.Contains(out.stderr, []byte("\x1b[K")) {
			t.Error("the gate does not know that it is on a terminal")
		}
		for _, ours := range []string{"\r\x1b[K", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m", "\x1b[0m"} {
			out.stderr = bytes.ReplaceAll(out.stderr, []byte(ours), nil)
		}
		evaluations.Add(1)
		for _, fault := range p.faults(out) {
			t.Errorf("%s: %s", p.label, fault)
		}
	}
}

// openTerminal returns the two ends of a pseudo-terminal.
func openTerminal(t *testing.T) (master, terminal *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	var locked, number int32
	control := func(request uintptr, value *int32) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	control(syscall.TIOCSPTLCK, &locked)
	control(syscall.TIOCGPTN, &number)
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, terminal
}
