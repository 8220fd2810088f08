package main

import (
	"errors"
	"flag"
	"io"
	"slices"
	"strings"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/gate"
)

// command is a command line, taken apart.
type command struct {
	verb  string
	help  bool
	live  bool              // health is asked for liveness
	flags map[string]string // settings by name
	args  []string          // what follows: the worker, names of waits, a code
}

var verbs = [...]string{"run", "check", "wait", "probe", "health", "explain", "contract", "version"}

// parse reads the command line. run is implied when there is no verb.
func parse(args []string) (command, *envcheck.Diagnostic) {
	c := command{verb: "run", flags: map[string]string{}}
	named := len(args) > 0 && slices.Contains(verbs[:], args[0])
	switch {
	case named:
		c.verb, args = args[0], args[1:]
	case len(args) == 1 && args[0] == "help":
		return command{help: true}, nil
	case len(args) == 1 && (args[0] == "--version" || args[0] == "-version"):
		return command{verb: "version"}, nil
	}
	if len(args) > 0 && args[0] == "--" {
		c.args = args[1:]
		return c, c.checkArgs(args)
	}
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // its messages quote what was typed
	if c.verb != "explain" && c.verb != "version" {
		for _, s := range gate.SettingInfos() {
			if s.Flag {
				flags.Func(s.Name, "", func(v string) error { c.flags[s.Name] = v; return nil })
			}
		}
	}
	if c.verb == "health" {
		flags.BoolVar(&c.live, "liveness", false, "")
		flags.Bool("readiness", true, "")
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		c.help = true
		if !named {
			c.verb = ""
		}
		return c, nil
	case err != nil && strings.HasPrefix(err.Error(), "flag needs an argument"):
		return c, fault(envcheck.FlagValue, "startgate -h shows the flags and what they take")
	case err != nil:
		return c, fault(envcheck.FlagUnknown, "startgate -h shows the flags; the worker's own come after --")
	}
	c.args = flags.Args()
	return c, c.checkArgs(args)
}

// checkArgs judges what follows the flags of given, the arguments after the
// verb.
func (c *command) checkArgs(given []string) *envcheck.Diagnostic {
	n := len(c.args)
	dashes := len(given) > n && given[len(given)-n-1] == "--"
	switch {
	case c.verb == "run" && n == 0 && len(given) == 0:
		return fault(envcheck.CommandMissing, "type startgate -- WORKER, or startgate -h")
	case c.verb == "run" && n == 0:
		return fault(envcheck.WorkerMissing, "type startgate -- and then the worker's command; an ENTRYPOINT drops the CMD of the base image, so repeat it")
	case c.verb == "run" && !dashes:
		return fault(envcheck.DashesMissing, "type "+suggest(c.args))
	case c.verb == "explain" && n == 0:
		return fault(envcheck.CodeUnknown, "type startgate explain and then a code")
	case c.verb == "contract" && (n == 0 || !slices.Contains(gate.ContractActions[:], envcheck.Word(c.args[0]))):
		return fault(envcheck.ActionUnknown, "type startgate contract lint, docs, example or schema")
	case c.verb == "contract":
		if n > 2 || n == 2 && c.args[0] == "schema" {
			return fault(envcheck.ExtraArgument, "startgate contract takes one file; flags stand before the action")
		}
	case c.verb == "explain" && n > 1, c.verb != "run" && c.verb != "probe" && c.verb != "explain" && n > 0:
		return fault(envcheck.ExtraArgument, "startgate -h shows what each command takes")
	}
	return nil
}

// workerWords are the parts of a worker's command that a suggestion may
// repeat. Other arguments are never printed: they can hold secrets.
var workerWords = [...]envcheck.Word{
	"rq", "worker", "worker-pool", "celery", "beat", "sidekiq", "bundle", "exec", "rake",
	"python", "python3", "node", "npm", "php", "ruby", "sh", "bash",
}

// suggest is the command line that was meant when -- is missing.
func suggest(args []string) envcheck.Word {
	line := envcheck.Word("startgate --")
	for n, arg := range args {
		i := slices.IndexFunc(workerWords[:], func(w envcheck.Word) bool { return string(w) == arg })
		switch {
		case i < 0 && n == 0:
			return line + " COMMAND ARG..."
		case i < 0:
			return line + " ARG..."
		}
		line += " " + workerWords[i]
	}
	return line
}

func usage(reason envcheck.Reason, fix envcheck.Word) envcheck.Diagnostic {
	return envcheck.Diagnostic{Code: envcheck.Usage, Reason: reason, Fix: fix, Exit: gate.ExitUsage}
}

func fault(reason envcheck.Reason, fix envcheck.Word) *envcheck.Diagnostic {
	d := usage(reason, fix)
	return &d
}

// exit is what a failure with that code ends the command with: health knows 0
// and 1 alone, as a HEALTHCHECK does.
func (c command) exit(code int) int {
	if c.verb == "health" {
		return 1
	}
	return code
}
