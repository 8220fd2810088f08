package gate

import (
	"bytes"
	"path"
	"strings"

	"github.com/startgate/startgate/envcheck"
)

// parseShebang reads the first line of a script as the kernel does: head is
// the file's first 256 bytes, filled up with zeros. All that follows the
// interpreter is one argument. The kernel takes an empty name for one where a
// NUL ends it, as it does in a file that is no more than #!.
func parseShebang(head []byte) (interpreter, arg string, reason envcheck.Reason) {
	const (
		blank      = " \t"
		terminator = " \t\x00"
	)
	line, _, whole := bytes.Cut(head[len("#!"):], []byte("\n"))
	if !whole {
		line = line[:len(line)-1] // the kernel keeps its last byte to itself
	}
	line = bytes.Trim(line, blank)
	end := bytes.IndexAny(line, terminator)
	switch {
	case len(line) == 0:
		return "", "", envcheck.ShebangEmpty
	case end < 0 && !whole:
		return "", "", envcheck.ShebangTooLong
	case end < 0:
		return string(line), "", ""
	}
	rest, _, _ := bytes.Cut(line[end:], []byte{0})
	return string(line[:end]), string(bytes.Trim(rest, blank)), ""
}

// envProgram returns the program that env is to run, or "" when that cannot be
// told at a glance.
func envProgram(interpreter, arg string) string {
	if path.Base(interpreter) != "env" {
		return ""
	}
	if split, ok := strings.CutPrefix(arg, "-S"); ok {
		arg, _, _ = strings.Cut(strings.TrimLeft(split, " \t"), " ")
	}
	if strings.HasPrefix(arg, "-") || strings.ContainsAny(arg, "=\"'\\$") {
		return ""
	}
	return arg
}
