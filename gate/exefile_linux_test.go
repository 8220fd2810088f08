package gate

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// write makes a file of the given mode whatever the umask, and returns its
// path.
func write(t *testing.T, path, content string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// publicDir is a temporary directory that every user can search. Those of
// testing are in one that is closed to others.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// elfFile makes an ELF file by hand: a header, the headers of its segments and
// the loader's path. The zero value is an empty program for this machine.
type elfFile struct {
	arch     string // "" is this machine's
	machine  uint16 // instead of arch
	kind     uint16 // 0 is executable, 1 an object file, 3 shared
	entry    int    // size of a segment's header, 0 is the right one
	interp   string // as it stands in the file, with its NUL
	segments int    // 0 is one
	filesz   uint64 // of the segment that is loaded
}

func (e elfFile) String() string {
	a := architectures[0]
	for _, candidate := range architectures {
		if candidate.arch == cmp.Or(e.arch, runtime.GOARCH) {
			a = candidate
		}
	}
	a.machine = cmp.Or(e.machine, a.machine)
	l, order := elf64, binary.ByteOrder(binary.LittleEndian)
	if a.class == 1 {
		l = elf32
	}
	if a.data == 2 {
		order = binary.BigEndian
	}
	word := func(b []byte, at int, v uint64) {
		if l.word == 4 {
			order.PutUint32(b[at:], uint32(v))
		} else {
			order.PutUint64(b[at:], v)
		}
	}
	header := make([]byte, l.header)
	copy(header, "\x7fELF")
	header[4], header[5], header[6] = a.class, a.data, 1
	order.PutUint16(header[16:], cmp.Or(e.kind, 2))
	order.PutUint16(header[18:], a.machine)
	order.PutUint32(header[20:], 1)
	word(header, l.phoff, uint64(l.header))
	order.PutUint16(header[l.phentsize:], uint16(cmp.Or(e.entry, l.entry)))

	var table bytes.Buffer
	segment := func(kind uint32, offset, size uint64) {
		p := make([]byte, l.entry)
		order.PutUint32(p, kind)
		word(p, l.offset, offset)
		word(p, l.filesz, size)
		word(p, l.filesz+l.word, size) // in memory
		table.Write(p)
	}
	segments := max(e.segments, 1)
	if e.interp != "" {
		segments++
		segment(3, uint64(l.header)+uint64(segments*l.entry), uint64(len(e.interp)))
	}
	for table.Len() < segments*l.entry {
		segment(1, 0, e.filesz)
	}
	order.PutUint16(header[l.phnum:], uint16(segments))
	return string(header) + table.String() + e.interp
}

func mkdir(t *testing.T, elem ...string) string {
	t.Helper()
	dir := filepath.Join(elem...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// makeFile makes an executable file in a directory that also has a directory
// x and a file.
func makeFile(t *testing.T, file any) string {
	t.Helper()
	dir := t.TempDir()
	mkdir(t, dir, "x")
	write(t, filepath.Join(dir, "file"), "", 0o755)
	switch file := file.(type) {
	case string:
		return write(t, filepath.Join(dir, "worker"), file, 0o755)
	case func(*testing.T, string) string:
		return file(t, dir)
	}
	t.Fatalf("%T", file)
	return ""
}

func at(name string) func(*testing.T, string) string {
	return func(_ *testing.T, dir string) string { return dir + "/" + name }
}

func link(target string) func(*testing.T, string) string {
	return func(t *testing.T, dir string) string {
		path := filepath.Join(dir, "worker")
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

func makeFIFO(t *testing.T, dir string) string {
	path := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func plainFile(t *testing.T, dir string) string {
	return write(t, filepath.Join(dir, "plain"), "#!/bin/sh\n", 0o644)
}

// scriptChain is a file and n scripts that name one another.
func scriptChain(n int, file string) func(*testing.T, string) string {
	return func(t *testing.T, dir string) string {
		path := "/bin/true"
		if file != "" {
			path = write(t, filepath.Join(dir, "end"), file, 0o755)
		}
		for i := range n {
			path = write(t, filepath.Join(dir, strconv.Itoa(i)), "#!"+path+"\n", 0o755)
		}
		return path
	}
}

func scriptLoop(t *testing.T, dir string) string {
	path := filepath.Join(dir, "worker")
	return write(t, path, "#!"+path+"\n", 0o755)
}

func withLoader(content string) func(*testing.T, string) string {
	return func(t *testing.T, dir string) string {
		loader := write(t, filepath.Join(dir, "ld"), content, 0o755)
		return write(t, filepath.Join(dir, "worker"), elfFile{interp: loader + "\x00"}.String(), 0o755)
	}
}
