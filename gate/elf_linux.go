package gate

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/startgate/startgate/envcheck"
)

const elfMagic = "\x7fELF"

// elfLayout says where the fields of a header are that execve looks at.
// debug/elf would add 300 KB.
type elfLayout struct {
	header                  int64 // sizes
	word, entry             int
	phoff, phentsize, phnum int // in the file's header
	offset, filesz          int // in the header of a segment
}

var (
	elf64 = elfLayout{header: 64, word: 8, entry: 56, phoff: 32, phentsize: 54, phnum: 56, offset: 8, filesz: 32}
	elf32 = elfLayout{header: 52, word: 4, entry: 32, phoff: 28, phentsize: 42, phnum: 44, offset: 4, filesz: 16}
)

// elfImage is what a program needs of its surroundings.
type elfImage struct {
	arch   string // as GOARCH has it, "" when it has not
	loader string
	end    uint64 // of what is mapped from the file
}

// readELF reads an ELF file's headers and finds what execve finds wrong with
// them, other than the architecture.
func readELF(f io.ReaderAt) (image elfImage, r refusal) {
	bad := func(reason envcheck.Reason) (elfImage, refusal) { return image, refusal{syscall.ENOEXEC, reason} }

	h := make([]byte, elf64.header)
	n, _ := f.ReadAt(h, 0)
	l, order := elf64, binary.ByteOrder(binary.LittleEndian)
	if h[4] == 1 {
		l = elf32
	}
	if h[5] == 2 {
		order = binary.BigEndian
	}
	word := func(b []byte, at int) uint64 {
		if l.word == 4 {
			return uint64(order.Uint32(b[at:]))
		}
		return order.Uint64(b[at:])
	}
	if bytes.HasPrefix(h, []byte(elfMagic)) {
		image.arch = architecture(order.Uint16(h[18:]), h[4], h[5])
	}
	if int64(n) < l.header {
		return bad(envcheck.Truncated)
	}
	const executable, shared = 2, 3
	if kind := order.Uint16(h[16:]); kind != executable && kind != shared {
		return bad(envcheck.NotAProgram)
	}
	entries := int(order.Uint16(h[l.phnum:]))
	if int(order.Uint16(h[l.phentsize:])) != l.entry || entries == 0 || entries*l.entry > 1<<16 {
		return bad(envcheck.FormatUnknown)
	}
	table := make([]byte, entries*l.entry)
	if n, _ := f.ReadAt(table, int64(word(h, l.phoff))); n < len(table) {
		return bad(envcheck.Truncated)
	}
	for p := range slices.Chunk(table, l.entry) {
		const load, interp, pathMax = 1, 3, 4096
		offset, size := word(p, l.offset), word(p, l.filesz)
		switch kind := order.Uint32(p); {
		case kind == load && size > 0:
			image.end = max(image.end, offset+size)
		case kind == interp && image.loader == "":
			if size < 2 || size > pathMax {
				return bad(envcheck.FormatUnknown)
			}
			path := make([]byte, size)
			if n, _ := f.ReadAt(path, int64(offset)); n < len(path) {
				return image, refusal{syscall.EIO, envcheck.Truncated}
			}
			name, _, _ := bytes.Cut(path, []byte{0})
			if image.loader = string(name); path[size-1] != 0 {
				return bad(envcheck.FormatUnknown)
			}
		}
	}
	return image, refusal{}
}

// loaderReason goes by the name of a missing loader.
func loaderReason(loader string) envcheck.Reason {
	switch {
	case strings.Contains(loader, "/ld-musl-"):
		return envcheck.LoaderMissingMusl
	case strings.Contains(loader, "/ld-linux"), strings.Contains(loader, "/ld64.so."), strings.HasSuffix(loader, "/ld.so.1"):
		return envcheck.LoaderMissingGlibc
	}
	return envcheck.LoaderMissing
}
