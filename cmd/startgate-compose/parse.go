package main

import (
	"errors"
	"flag"
	"io"
	"slices"
	"strings"

	"github.com/startgate/startgate/compose"
)

// command is a command line, taken apart.
type command struct {
	verb     string
	help     bool
	list     bool
	files    []string
	config   string
	contract string
	outputs  []output
	failOn   compose.Severity
	quiet    bool
	partial  bool
	envFiles []string
	stub     string
	args     []string
}

// output is a format and where it goes: to a file, or "" for the standard
// output.
type output struct{ format, file string }

var formats = []string{"text", "json", "sarif", "junit", "github"}

// parse reads the command line. check is implied before a flag. A mistake is
// one sentence that says what to type, and quotes nothing.
func parse(args []string) (command, sentence) {
	c := command{verb: "check", failOn: compose.Warn}
	named := false
	switch {
	case len(args) == 0:
		return c, "type startgate-compose check, or startgate-compose -h"
	case slices.Contains([]string{"check", "explain", "version"}, args[0]):
		c.verb, args, named = args[0], args[1:], true
	case args[0] == "help" && len(args) == 1:
		return command{help: true}, ""
	case args[0] == "--version" && len(args) == 1:
		return command{verb: "version"}, ""
	case !strings.HasPrefix(args[0], "-"):
		return c, "there is no such command; type startgate-compose check, explain or version"
	}
	mistake := sentence("startgate-compose check -h shows the flags")
	flags := c.flags(&mistake)
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		c.help = true
		if !named {
			c.verb = ""
		}
		return c, ""
	case err != nil && strings.HasPrefix(err.Error(), "flag needs an argument"):
		return c, "a flag lacks its value; startgate-compose check -h shows what each takes"
	case err != nil && strings.HasPrefix(err.Error(), "invalid value"):
		return c, mistake
	case err != nil:
		return c, "there is no such flag; " + mistake
	}
	c.args = flags.Args()
	return c, c.judge()
}

// flags are those of the command. What is wrong with a value is said in
// mistake: the package's own messages quote it.
func (c *command) flags(mistake *sentence) *flag.FlagSet {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	if c.verb != "check" {
		return flags
	}
	several := func(to *[]string) func(string) error {
		return func(v string) error { *to = append(*to, v); return nil }
	}
	for _, name := range [...]string{"f", "file"} {
		flags.Func(name, "", several(&c.files))
	}
	for _, name := range [...]string{"q", "quiet"} {
		flags.BoolVar(&c.quiet, name, false, "")
	}
	flags.StringVar(&c.config, "config", "", "")
	flags.StringVar(&c.contract, "contract", "", "")
	flags.BoolVar(&c.partial, "allow-partial", false, "")
	flags.BoolVar(&c.list, "list-rules", false, "")
	flags.Func("env-file", "", several(&c.envFiles))
	flags.StringVar(&c.stub, "env-file-stub", "", "")
	flags.Func("format", "", func(v string) error {
		format, file, named := strings.Cut(v, "=")
		if !slices.Contains(formats, format) || named && file == "" {
			*mistake = "type --format and then text, json, sarif, junit or github, or one of them with =FILE"
			return errors.New("")
		}
		c.outputs = append(c.outputs, output{format, file})
		return nil
	})
	flags.Func("fail-on", "", func(v string) error {
		c.failOn = compose.Severity(v)
		if !slices.Contains([]compose.Severity{compose.Error, compose.Warn, compose.Info}, c.failOn) {
			*mistake = "type --fail-on and then error, warning or info"
			return errors.New("")
		}
		return nil
	})
	return flags
}

// judge finds what does not go together.
func (c *command) judge() sentence {
	if len(c.outputs) == 0 {
		c.outputs = []output{{format: "text"}}
	}
	streams := 0
	for _, o := range c.outputs {
		if o.file == "" {
			streams++
		}
	}
	stdin := 0
	for _, f := range c.files {
		if f == "-" {
			stdin++
		}
	}
	switch {
	case c.verb == "explain" && len(c.args) != 1:
		return "type startgate-compose explain and then one rule, such as SG101"
	case c.verb == "check" && len(c.args) > 0:
		return "each file takes a flag of its own: type startgate-compose check -f FILE"
	case c.verb == "version" && len(c.args) > 0:
		return "startgate-compose version takes nothing"
	case streams > 1:
		return "one format goes to the standard output; type --format FORMAT=FILE for the others"
	case stdin > 1:
		return "the standard input is one file; type -f - once"
	case c.list && (len(c.outputs) > 1 || c.outputs[0].file != "" || c.outputs[0].format != "text" && c.outputs[0].format != "json"):
		return "type --list-rules alone, or with --format json"
	}
	return ""
}
