package compose

import (
	"regexp"
	"slices"
	"strings"
)

// shellVariable is what a shell would replace.
var shellVariable = regexp.MustCompile(`\$[A-Za-z_{(]`)

// fault is what is wrong with the form of a test, "" for nothing.
func (h healthcheck) fault() phrase {
	test := h.node.at("test")
	if !h.node.has("test") || !test.exists() {
		return ""
	}
	texts := test.texts()
	if test.isText() {
		switch strings.TrimSpace(h.script) {
		case "NONE":
			return "NONE as a string is a command that no image has: the service is never healthy"
		case "":
			return "the test is empty, and a shell that runs nothing says that all is well"
		}
		return ""
	}
	if len(texts) == 0 {
		return "the test is an empty list: the image's own test is used, if it has one"
	}
	switch texts[0].effective {
	case "NONE":
		return ""
	case "CMD":
		return h.argsFault()
	case "CMD-SHELL":
		switch {
		case len(h.args) == 0 || strings.TrimSpace(h.args[0]) == "":
			return "there is nothing behind CMD-SHELL"
		case len(h.args) > 1:
			return "CMD-SHELL runs the one text behind it: the items after that are not part of the command"
		}
		return ""
	}
	if marked(texts[0].effective) {
		return ""
	}
	return "the list begins with none of CMD, CMD-SHELL and NONE: the engine runs no check"
}

// argsFault is what is wrong with a list behind CMD.
func (h healthcheck) argsFault() phrase {
	switch {
	case len(h.args) == 0 || h.args[0] == "":
		return "there is nothing behind CMD"
	case len(h.args) == 1 && strings.ContainsAny(strings.TrimSpace(h.args[0]), " \t"):
		return "CMD takes the program and each of its arguments as an item of its own: there is no program of this name"
	case slices.ContainsFunc(h.args, isOperator):
		return "CMD starts no shell: an operator in its list is an argument like others"
	}
	if h.script == "" && slices.ContainsFunc(h.args, shellVariable.MatchString) && !runsShell(h.args) {
		return "CMD starts no shell: a variable in its list stays as it is written"
	}
	return ""
}

// isOperator reports whether an argument is one of a shell's operators.
func isOperator(arg string) bool {
	switch arg {
	case "|", "||", "&&", ";", "&", ">", ">>", "<":
		return true
	}
	for _, start := range [...]string{"|| ", "| ", "&& ", "; ", ">/", "> /", "2>", "1>", "&>", ">&"} {
		if strings.HasPrefix(arg, start) {
			return true
		}
	}
	return false
}

// runsShell reports whether a program among the arguments expands variables by
// itself.
func runsShell(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		return slices.Contains([]string{"sh", "bash", "ash", "dash", "zsh", "python", "python3", "node", "ruby", "perl", "php", "awk", "envsubst"}, program(arg))
	})
}

// healthcheckForm finds tests that are not what they look like (SG506).
func healthcheckForm(c *check) {
	for _, v := range c.concerned() {
		h := v.healthcheck()
		if fault := h.fault(); fault != "" && !h.node.at("disable").exists() {
			c.say(h.node.at("test"), fault)
		}
	}
}

// builtin are commands that a shell has itself.
var builtin = []string{"[", "test", "echo", "exit", "true", "false", ":", "cd", "export", "set", "printf", "kill", "exec", "read", "command", "eval", "unset", "trap", "wait", "[["}

// missingTool finds checks by programs that the image is said not to have
// (SG508).
func missingTool(c *check) {
	for _, v := range c.concerned() {
		h := v.healthcheck()
		if v.image.Tools == nil || !h.tested() {
			continue
		}
		commands := []simple{{words: h.args}}
		if h.script != "" {
			commands, _ = shellCommands(h.script)
		}
		has := func(tool string) bool {
			return marked(tool) || tool == gate || slices.ContainsFunc(v.image.Tools, func(t string) bool { return program(t) == tool })
		}
		shell := "sh"
		if !h.shell {
			shell = program(h.args[0])
		}
		missing := h.script != "" && !has(shell)
		for _, command := range commands {
			words := unwrap(command.words)
			if len(words) == 0 || strings.ContainsAny(words[0], "$(){}") || h.script != "" && slices.Contains(builtin, words[0]) {
				continue
			}
			missing = missing || !has(program(words[0]))
		}
		if missing {
			c.say(h.node.at("test"), "this check runs a program that the image is said not to have")
		}
	}
}

// inheritedHealthcheck finds workers that are checked by what their image has
// for a service of another kind (SG509).
func inheritedHealthcheck(c *check, v *service) {
	h := v.healthcheck()
	if h.disabled || h.node.has("test") || v.image.Healthcheck == nil || !*v.image.Healthcheck {
		return
	}
	image := v.at("image").text()
	if image.effective == "" {
		return
	}
	for _, o := range c.of(other) {
		if o.at("image").text().effective == image.effective && o.gating() != gated {
			c.say(v.node, "this worker is checked by what the image has for %s", nameOf(o.name))
			return
		}
	}
}
