package compose

import (
	"regexp"
	"slices"
	"strings"
)

// state is one in which a broker can be when its healthcheck asks.
type state uint8

const (
	ready state = iota
	loading
	unauthenticated // ready, to those who authenticate
	down            // the port is closed
)

// outcome is what a healthcheck makes of a state.
type outcome uint8

const (
	unsure outcome = iota
	passes
	fails
)

func whether(yes bool) outcome {
	if yes {
		return passes
	}
	return fails
}

// asked is a broker that a healthcheck asks in a state.
type asked struct {
	state state
	hosts []string // its own names
	port  string   // that it listens on, "" when it is not known
	keydb bool     // it says PONG while it loads
	async bool     // its INFO has async_loading (Redis 7.0)
	old   bool     // its redis-cli is one before 6.2 and knows no -e
	// script is what the shell of the healthcheck was given. The shell is a
	// process of the container, with that in its command line. "" is no shell.
	script string
}

// of is what a healthcheck says.
func (a asked) of(h healthcheck) outcome {
	if !h.shell && h.script == "" {
		if len(h.args) == 0 {
			return unsure
		}
		_, o := a.command(h.args)
		return o
	}
	a.script = h.script
	return a.run(h.script)
}

// run is what the status of a script says: that of its last and-or list, or of
// the exit that it comes to.
func (a asked) run(script string) outcome {
	commands, plain := shellCommands(script)
	if !plain || len(commands) == 0 {
		return unsure
	}
	result, operator, errexit := passes, ";", false
	var exits []outcome // that the script may come to before its end
	for len(commands) > 0 {
		n := 1
		for n < len(commands) && commands[n-1].after == "|" {
			n++
		}
		group := commands[:n]
		commands = commands[n:]
		switch words := group[0].words; {
		case operator == "&&" && result == fails, operator == "||" && result == passes:
		case words[0] == "set":
			errexit = len(words) == 2 && words[1] == "-e"
			if !errexit {
				return unsure
			}
			result = passes
		case words[0] == "exit":
			status := exitStatus(words, result)
			if operator == ";" || result != unsure {
				return agreed(status, exits)
			}
			exits = append(exits, exitStatus(words, whether(operator == "&&")))
			result = whether(operator == "||") // since it went on
		default:
			result = joined(result, operator, a.pipeline(group))
		}
		operator = group[n-1].after
		switch {
		case operator == "&":
			return unsure
		case operator == ";" && errexit && result == fails:
			return agreed(fails, exits)
		case operator == ";" && errexit && result == unsure:
			exits = append(exits, fails)
		}
	}
	return agreed(result, exits)
}

// agreed is what a script says that may have come to exits before.
func agreed(last outcome, exits []outcome) outcome {
	for _, o := range exits {
		if o != last {
			return unsure
		}
	}
	return last
}

// joined is what two parts of a list say together.
func joined(left outcome, operator string, right outcome) outcome {
	switch {
	case operator == "&&" && left == unsure && right != fails:
		return unsure
	case operator == "||" && left == unsure && right != passes:
		return unsure
	}
	return right
}

// exitStatus is what exit says, before being what the last command said.
func exitStatus(words []string, before outcome) outcome {
	switch {
	case len(words) < 2:
		return before
	case strings.ContainsAny(words[1], "$`"):
		if words[1] == "$?" {
			return before
		}
		return unsure
	}
	return whether(words[1] == "0")
}

// pipeline is what the status of a pipeline says: that of its last command.
func (a asked) pipeline(group []simple) outcome {
	last := unwrap(group[len(group)-1].words)
	if len(group) == 1 {
		_, o := a.command(group[0].words)
		return o
	}
	if len(last) == 0 {
		return unsure
	}
	switch program(last[0]) {
	case "grep", "egrep", "fgrep":
		if a.matchesShell(group) {
			return passes
		}
		if text, known := a.output(group[:len(group)-1]); known {
			return grep(last, text)
		}
	case "true", "cat", "tee", "echo":
		return passes
	}
	return unsure
}

// matchesShell reports whether a pipeline looks for a process and finds the
// shell that it runs in, as in ps aux | grep worker.
func (a asked) matchesShell(group []simple) bool {
	first := unwrap(group[0].words)
	return len(group) == 2 && len(first) > 1 && program(first[0]) == "ps" && a.script != "" &&
		grep(unwrap(group[1].words), a.script) == passes
}

// output is what a pipeline prints.
func (a asked) output(group []simple) (text string, known bool) {
	text, o := a.command(group[0].words)
	if o == unsure || text == notKnown {
		return "", false
	}
	return filtered(text, group[1:])
}

// filtered is a text behind tr -d '\r' and the like.
func filtered(text string, group []simple) (string, bool) {
	for _, each := range group {
		words := unwrap(each.words)
		switch {
		case len(words) == 0:
			return "", false
		case program(words[0]) == "cat" && len(words) == 1:
		case program(words[0]) == "tr" && len(words) == 3 && words[1] == "-d" && (words[2] == `\r` || words[2] == `\r\n` || words[2] == `[:space:]`):
			text = strings.ReplaceAll(text, "\r", "")
			if words[2] != `\r` {
				text = strings.ReplaceAll(text, "\n", "")
			}
		default:
			return "", false
		}
	}
	return text, true
}

// notKnown is the output of a command that cannot be told, though its status
// can.
const notKnown = "\x00"

// command is what one command prints and what its status says.
func (a asked) command(given []string) (output string, o outcome) {
	words := unwrap(given)
	if len(words) == 0 {
		return notKnown, unsure
	}
	switch name := program(words[0]); name {
	case "true", ":", "sleep":
		return "", passes
	case "false":
		return "", fails
	case "echo", "printf":
		return notKnown, passes
	case "test", "[", "[[":
		return "", a.test(words)
	case "redis-cli", "valkey-cli", "keydb-cli":
		return a.ask(readClient(words))
	case "redis-server", "valkey-server", "keydb-server":
		if slices.ContainsFunc(words[1:], func(w string) bool { return w == "--version" || w == "-v" }) {
			return notKnown, passes
		}
	case "nc", "ncat", "netcat":
		if slices.ContainsFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") && strings.Contains(w, "z") }) {
			return "", whether(a.state != down)
		}
	case "pidof":
		if len(words) == 2 && strings.HasSuffix(words[1], "-server") {
			return notKnown, whether(a.state != down)
		}
	case "pgrep":
		if a.script != "" && findsShell(words, a.script) {
			return notKnown, passes
		}
	case "kill":
		if len(words) == 3 && words[1] == "-0" && words[2] == "1" {
			return "", passes
		}
	case gate:
		if len(words) > 1 && words[1] == "health" {
			return notKnown, fails // nothing was ever gated there
		}
	}
	return notKnown, unsure
}

// test is what [ "$(redis-cli ping)" = PONG ] says.
func (a asked) test(words []string) outcome {
	if last := words[len(words)-1]; words[0] != "test" && (last == "]" || last == "]]") {
		words = words[:len(words)-1]
	}
	words = words[1:]
	if len(words) != 3 {
		return unsure
	}
	left, known := a.expand(words[0])
	right, also := a.expand(words[2])
	if !known || !also {
		return unsure
	}
	switch words[1] {
	case "=", "==":
		return whether(left == right)
	case "!=":
		return whether(left != right)
	}
	return unsure
}

// expand is a word with the output of the command in it.
func (a asked) expand(word string) (string, bool) {
	if !strings.ContainsAny(word, "$`") {
		return word, true
	}
	inner, ok := strings.CutPrefix(word, "$(")
	if !ok || closingParen(word) != len(word)-1 {
		return "", false
	}
	commands, plain := shellCommands(strings.TrimSuffix(inner, ")"))
	if !plain || len(commands) == 0 {
		return "", false
	}
	for _, c := range commands[:len(commands)-1] {
		if c.after != "|" {
			return "", false
		}
	}
	text, known := a.output(commands)
	return strings.TrimRight(text, "\n"), known
}

// grep is what grep says of a text.
func grep(words []string, text string) outcome {
	fixed := program(words[0]) == "fgrep"
	extended := program(words[0]) == "egrep"
	line, fold, invert := false, false, false
	patterns := words[1:]
	for len(patterns) > 0 && strings.HasPrefix(patterns[0], "-") {
		option := patterns[0]
		patterns = patterns[1:]
		if option == "--" || option == "-e" {
			break
		}
		if strings.HasPrefix(option, "--") {
			switch option {
			case "--quiet", "--silent":
			case "--line-regexp":
				line = true
			case "--ignore-case":
				fold = true
			case "--fixed-strings":
				fixed = true
			case "--extended-regexp":
				extended = true
			default:
				return unsure
			}
			continue
		}
		for _, c := range option[1:] {
			switch c {
			case 'q', 's', 'o', 'c', 'a':
			case 'x':
				line = true
			case 'i':
				fold = true
			case 'F':
				fixed = true
			case 'E', 'P':
				extended = true
			case 'v':
				invert = true
			default:
				return unsure
			}
		}
	}
	if len(patterns) != 1 || strings.ContainsAny(patterns[0], "$`") && !strings.HasSuffix(patterns[0], "$") {
		return unsure
	}
	re, ok := pattern(patterns[0], fixed, extended, line, fold)
	if !ok {
		return unsure
	}
	for each := range strings.Lines(text) {
		if re.MatchString(strings.TrimSuffix(each, "\n")) != invert {
			return passes
		}
	}
	if strings.HasPrefix(text, infoStart) && !strings.Contains(strings.ToLower(patterns[0]), "loading") {
		return unsure // it is not all of INFO
	}
	return fails
}

// pattern compiles a pattern of grep. Basic expressions are taken only where
// they mean the same as extended ones.
func pattern(p string, fixed, extended, line, fold bool) (*regexp.Regexp, bool) {
	switch {
	case fixed:
		p = regexp.QuoteMeta(p)
	case !extended && strings.ContainsAny(p, `\+?(){}|`):
		return nil, false
	}
	if line {
		p = "^(?:" + p + ")$"
	}
	if fold {
		p = "(?i)" + p
	}
	re, err := regexp.Compile(p)
	return re, err == nil
}
