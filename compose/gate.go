package compose

import (
	"slices"
	"strconv"
	"strings"
)

// gateCall is how a command line calls the gate.
type gateCall struct {
	verb   string
	flags  map[string]string
	dashes bool     // -- stands between the flags and the rest
	rest   []string // what follows: of run, the worker
}

// gateVerbs are the gate's commands. run is the one that needs no name.
var gateVerbs = []string{"run", "check", "wait", "probe", "health", "explain", "contract", "version"}

// readGateCall reads the arguments of the gate as flag.FlagSet does.
func readGateCall(args []string) gateCall {
	g := gateCall{verb: "run", flags: map[string]string{}}
	if len(args) > 0 && slices.Contains(gateVerbs, args[0]) {
		g.verb, args = args[0], args[1:]
	}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			g.dashes = true
			break
		}
		flag, value, valued := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch flag {
		case "h", "help", "version", "liveness", "readiness":
			valued = true
		}
		if !valued && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		g.flags[flag] = value
	}
	g.rest = args
	return g
}

// gateIn finds the gate in a command line that no shell runs: what stands
// before it becomes it, as tini and wait-for-it.sh do.
func gateIn(args []string) (gateCall, bool) {
	if _, ok := shellScript(unwrap(args)); ok {
		return gateCall{}, false
	}
	first := len(args) - len(unwrap(args))
	for i, arg := range args {
		if program(arg) == gate && (i == first || i > 0 && args[i-1] == "--" || mayStart(args)) {
			return readGateCall(args[i+1:]), true
		}
	}
	return gateCall{}, false
}

// shellStart is a script that a container starts with, in a shell.
type shellStart struct {
	shell    string // its name
	commands []simple
	plain    bool
	errexit  bool // -e: the script ends with the first command that fails
	at       node // where the script is written
}

// shellStart is the script that the container starts with, if it does.
func (v *service) shellStart() (shellStart, bool) {
	args, _ := v.argv()
	return v.shellStartIn(args, unwrap(args))
}

// shellStartIn is the script that the end of the service's command line runs.
func (v *service) shellStartIn(args, end []string) (shellStart, bool) {
	i, ok := shellScript(end)
	if !ok {
		return shellStart{}, false
	}
	s := shellStart{shell: program(end[0]), errexit: exitsOnError(end[1:i]), at: v.argNode(len(args) - len(end) + i)}
	s.commands, s.plain = shellCommands(end[i])
	return s, true
}

// gates are the calls of the gate in a script, with their places in it.
func (s shellStart) gates() (calls []gateCall, at []int) {
	for i, c := range s.commands {
		if words := unwrap(c.words); len(words) > 0 && program(words[0]) == gate {
			calls = append(calls, readGateCall(words[1:]))
			at = append(at, i)
		}
	}
	return calls, at
}

// execs reports whether the shell becomes the command.
func (c simple) execs() bool { return slices.Contains(c.words, "exec") }

// becomes reports whether the shell becomes the last command of its script by
// itself. bash does (5.2, measured), dash never does (0.5.12, measured), of sh
// it depends on the image.
func (s shellStart) becomes(i int) bool {
	c := s.commands[i]
	return s.plain && i == len(s.commands)-1 && c.after == "" && !c.redirected && s.shell == "bash" && (i == 0 || s.commands[i-1].after != "|")
}

// argNode is where an argument of the service's command line is written.
func (v *service) argNode(i int) node {
	item := func(c command, i int) node {
		if _, list := c.node.value.([]any); list {
			return c.node.at(strconv.Itoa(i))
		}
		return c.node
	}
	before := len(v.entrypoint.args)
	if !v.entrypoint.written {
		before = len(v.image.Entrypoint)
	}
	switch {
	case i >= before && v.command.written:
		return item(v.command, i-before)
	case i < before && v.entrypoint.written:
		return item(v.entrypoint, i)
	}
	return v.node
}

// start is where it is written how the service starts.
func (v *service) start() node {
	switch {
	case v.entrypoint.written:
		return v.entrypoint.node
	case v.command.written:
		return v.command.node
	}
	return v.node
}

// mayStart reports whether a command line starts a program that may start the
// gate by itself: a script of the image, or something that starts others.
func mayStart(args []string) bool {
	args = unwrap(args)
	if len(args) == 0 {
		return false
	}
	p := program(args[0])
	return strings.HasSuffix(p, ".sh") || strings.Contains(p, "entrypoint") || p == "init" || p == "supervisord"
}

// gating tells whether the worker starts through the gate.
func (v *service) gating() gating {
	args, complete := v.argv()
	if call, ok := gateIn(args); ok && call.verb == "run" {
		return gated
	}
	start, shell := v.shellStart()
	calls, _ := start.gates()
	switch {
	case slices.ContainsFunc(calls, func(c gateCall) bool { return c.verb == "run" || c.verb == "wait" }):
		return gated
	case !complete && !v.entrypoint.written:
		return perhapsGated
	case !shell && mayStart(args):
		return perhapsGated
	case slices.ContainsFunc(start.commands, func(c simple) bool { return mayStart(c.words) }):
		return perhapsGated
	}
	return notGated
}
