package compose

import (
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/types"
)

// command is an entrypoint or a command as compose understands it.
type command struct {
	node    node
	written bool     // it is there and not null: the image's is not used
	args    []string // effective, as compose splits them
	known   bool     // no variable that is not known is in them
}

// readCommand reads the command at n. A string is split as a shell would, and
// no shell is started for it (Compose specification, "command").
func readCommand(n node, there bool) command {
	c := command{node: n, written: there && n.value != nil, known: true}
	for _, t := range n.texts() {
		c.known = c.known && t.known
		c.args = append(c.args, t.effective)
	}
	if n.isText() {
		var words types.ShellCommand
		if err := words.DecodeMapstructure(n.text().effective); err != nil {
			c.known = false
			return c
		}
		c.args = words
	}
	return c
}

// argv is the command line of the service's process, with what is said of the
// image. complete is false when a part of it is the image's and not known.
func (v *service) argv() (args []string, complete bool) {
	entrypoint, cmd := v.entrypoint, v.command
	complete = entrypoint.known && cmd.known
	switch {
	case entrypoint.written && len(entrypoint.args) > 0:
		// The image's CMD is not inherited (moby, daemon/commit.go).
		return append(slices.Clone(entrypoint.args), cmd.args...), complete
	case entrypoint.written:
		args = nil
	case v.image.known():
		args = slices.Clone(v.image.Entrypoint)
	default:
		complete = false
	}
	switch {
	case cmd.written:
		args = append(args, cmd.args...)
	case v.image.known():
		args = append(args, v.image.Cmd...)
	default:
		complete = false
	}
	return args, complete
}

// shells are programs that run another command line.
var shells = []string{"sh", "bash", "ash", "dash", "zsh"}

// program is the name of the program that a path leads to.
func program(arg string) string { return arg[strings.LastIndexByte(arg, '/')+1:] }

// shellScript is where a command line has the script that a shell runs, as in
// sh -c SCRIPT, be -c among other options as in -euo pipefail -c.
func shellScript(args []string) (i int, ok bool) {
	if len(args) == 0 || !slices.Contains(shells, program(args[0])) {
		return 0, false
	}
	for i = 1; i < len(args); i++ {
		option := args[i]
		switch {
		case option == "--":
			return i + 1, ok && i+1 < len(args)
		case !strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "+"):
			return i, ok
		case !strings.HasPrefix(option, "--"):
			ok = ok || option[0] == '-' && strings.Contains(option, "c")
			if strings.ContainsAny(option, "oO") {
				i++ // they take a name
			}
		}
	}
	return 0, false
}

// exitsOnError reports whether options of a shell, or of its set, have it end
// with the first command that fails.
func exitsOnError(options []string) bool {
	return slices.ContainsFunc(options, func(o string) bool {
		return o == "errexit" || strings.HasPrefix(o, "-") && !strings.HasPrefix(o, "--") && strings.Contains(o, "e")
	})
}

// words are all words of a command line, those of a shell's script among them,
// be it behind an init or the gate.
func words(args []string) []string {
	for i, arg := range args {
		if !slices.Contains(shells, program(arg)) {
			continue
		}
		if n, ok := shellScript(args[i:]); ok {
			script := strings.FieldsFunc(args[i+n], func(r rune) bool { return strings.ContainsRune(" \t\n;|&()\"'", r) })
			return slices.Concat(args[:i+n], script, args[i+n+1:])
		}
	}
	return args
}

// gate is the name of the gate's binary.
const gate = "startgate"

// gating says whether a worker starts through the gate.
type gating uint8

const (
	notGated gating = iota
	gated
	perhapsGated // the image decides, and it is not known
)
