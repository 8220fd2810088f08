package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/startgate/startgate/probe/probetest"
)

// TestWorkersThatCannotRun has every sort of worker that execve refuses, in a
// directory that is named with the canary, with the canary for an argument
// and, where the kernel would read it, in the file.
func TestWorkersThatCannotRun(t *testing.T) {
	t.Parallel()
	good := probetest.New(t, probetest.Behaviour{}).Addr()
	var jobs []func()
	for _, w := range []struct {
		name, code string
		exit       int
		worker     func(dir, c string) string
	}{
		{"not in PATH", "exec_not_found", 127, func(_, c string) string { return c }},
		{"no such file", "exec_not_found", 127, func(dir, c string) string { return dir + "/" + c }},
		{"below a file", "exec_not_found", 127, func(dir, c string) string { return write(dir, "f", c) + "/" + c }},
		{"a long name", "exec_not_found", 127, func(dir, c string) string { return dir + "/" + strings.Repeat(c, 20) }},
		{"a link to nothing", "exec_not_found", 127, func(dir, c string) string { return link(dir, "/"+c) }},
		{"a script without its interpreter", "exec_not_found", 127, func(dir, c string) string { return write(dir, "s", "#!/"+c+"/sh "+c+"\n") }},
		{"a script with CRLF", "exec_not_found", 127, func(dir, c string) string { return write(dir, "s", "#!/bin/sh\r\n"+c) }},
		{"a program without its loader", "exec_not_found", 127, func(dir, c string) string { return write(dir, "p", program("/"+c+"/ld.so")) }},
		{"a program for musl", "exec_not_found", 127, func(dir, c string) string { return write(dir, "p", program("/"+c+"/ld-musl-x.so.1")) }},

		{"no right to execute", "exec_denied", 126, func(dir, c string) string { p := write(dir, "f", "#!/bin/sh\n"+c); os.Chmod(p, 0o644); return p }},
		{"a directory", "exec_denied", 126, func(dir, c string) string { return dir }},
		{"a FIFO", "exec_denied", 126, func(dir, c string) string { p := dir + "/" + c; syscall.Mkfifo(p, 0o755); return p }},
		{"a link to itself", "exec_denied", 126, func(dir, c string) string { return link(dir, dir+"/link") }},
		{"an empty file", "exec_denied", 126, func(dir, c string) string { return write(dir, "f", "") }},
		{"no program", "exec_denied", 126, func(dir, c string) string { return write(dir, "f", c) }},
		{"a script with a byte order mark", "exec_denied", 126, func(dir, c string) string { return write(dir, "f", "\ufeff#!/bin/"+c) }},
		{"a script that names nothing", "exec_denied", 126, func(dir, c string) string { return write(dir, "f", "#!\n"+c) }},
		{"a script with a long first line", "exec_denied", 126, func(dir, c string) string { return write(dir, "f", "#!/"+strings.Repeat(c, 30)) }},
		{"a program for Windows", "exec_denied", 126, func(dir, c string) string { return write(dir, "f", "MZ"+c) }},
		{"a program for another processor", "exec_denied", 126, func(dir, c string) string { return write(dir, "p", foreign(program("/"+c))) }},
		{"half a program", "exec_denied", 126, func(dir, c string) string { return write(dir, "p", program("/" + c)[:70]) }},

		{"a script for env", "exec_fragile", 127, func(dir, c string) string { return write(dir, "s", "#!/usr/bin/env "+c+"\n") }},
	} {
		for _, format := range []string{"--format=text", "--format=json"} {
			jobs = append(jobs, func() {
				canary := newCanary()
				p := process{
					label: w.name + " " + format, canary: canary, exit: w.exit,
					args: []string{format, "--timeout=0", "--", w.worker(secretDir(t, canary), canary), canary},
					env:  []string{"REDIS_URL=redis://:" + canary + "@" + good, "PATH=/" + canary + ":/usr/bin:/bin:" + canary},
				}
				if w.code == "exec_fragile" {
					p.judgeFragile(t, w.code)
					return
				}
				p.want(t, p.evaluate(t), w.code)
			})
		}
	}
	together(jobs)
}

// judgeFragile judges a gate whose worker fails: what env then prints is not
// the gate's.
func (p *process) judgeFragile(t *testing.T, code string) {
	out, err := p.run()
	if err != nil {
		t.Errorf("%s: %v", p.label, err)
		return
	}
	var own [][]byte
	for line := range bytes.Lines(out.stderr) {
		if !bytes.HasPrefix(line, []byte("env: ")) && !bytes.HasPrefix(line, []byte("/usr/bin/env: ")) {
			own = append(own, line)
		}
	}
	out.stderr = bytes.Join(own, nil)
	evaluations.Add(1)
	reached(out)
	p.want(t, out, code)
	for _, fault := range append(p.faults(out), grammarFaults(out)...) {
		t.Errorf("%s: %s", p.label, fault)
	}
}

// TestTooLargeForExec takes the room for environments away from a gate that
// waits: the kernel lets none start that would have too little of it.
func TestTooLargeForExec(t *testing.T) {
	t.Parallel()
	canary := newCanary()
	peer := probetest.New(t, probetest.Behaviour{Loading: &probetest.Loading{Percent: 9}})
	large := canary + strings.Repeat("x", longest)
	p := process{
		label: "too large an environment", canary: canary, exit: 126,
		args: []string{"--", secretWorker(t, canary), canary},
		env:  []string{"REDIS_URL=redis://:" + canary + "@" + peer.Addr(), "A=" + large, "B=" + large},
		// By then the worker was looked up.
		during: once(t, peer, "PING", 1, func(gate *os.Process) {
			stack := syscall.Rlimit{Cur: 256 << 10, Max: 256 << 10}
			const rlimitStack = 3
			if _, _, errno := syscall.Syscall6(syscall.SYS_PRLIMIT64, uintptr(gate.Pid), rlimitStack, uintptr(unsafe.Pointer(&stack)), 0, 0, 0); errno != 0 {
				t.Error(errno)
			}
			peer.Set(probetest.Behaviour{})
		}),
	}
	p.want(t, p.evaluate(t), "ready", "exec", "exec_too_large")
}

func write(dir, name, content string) string {
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		panic(err)
	}
	return path
}

func link(dir, to string) string {
	path := filepath.Join(dir, "link")
	if err := os.Symlink(to, path); err != nil {
		panic(err)
	}
	return path
}

// program is a program of this machine's own kind, that wants a loader.
func program(loader string) string {
	own, err := elf.Open(self)
	if err != nil {
		panic(err)
	}
	defer own.Close()
	loader += "\x00"
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(own.Class), byte(own.Data), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(own.Machine), Version: uint32(elf.EV_CURRENT),
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
	}
	segment := elf.Prog64{Type: uint32(elf.PT_INTERP), Off: 64 + 56, Filesz: uint64(len(loader)), Memsz: uint64(len(loader))}
	var b bytes.Buffer
	binary.Write(&b, own.ByteOrder, header)
	binary.Write(&b, own.ByteOrder, segment)
	b.WriteString(loader)
	return b.String()
}

// foreign is the program for a processor that no machine here has.
func foreign(program string) string {
	b := []byte(program)
	const machine = 18
	b[machine], b[machine+1] = byte(elf.EM_PARISC), 0
	return string(b)
}
