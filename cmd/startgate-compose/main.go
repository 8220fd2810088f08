// Startgate-compose judges compose files by the contract of the workers in
// them, for CI: no engine is asked, and no value is printed.
//
//	startgate-compose check -f compose.yaml --contract contract.yaml
//
// Run startgate-compose -h for its commands. All it finds comes from
// [compose.Check].
package main

import (
	"context"
	"io"
	"os"
	"runtime/debug"

	"github.com/sirupsen/logrus"
	"golang.org/x/term"

	"github.com/startgate/startgate/compose"
)

// The exit codes are API.
const (
	exitClean = iota
	exitFound
	exitUnjudged // also a wrong command line, and a fault of the program
)

func main() {
	// Of all percentages the one with which 1,000 lines take the least time: the
	// default collects more often, above it new memory costs more than that.
	debug.SetGCPercent(200)
	// compose-go warns through the global logger, with values in the text.
	logrus.SetOutput(io.Discard)
	p := program{
		environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		color: term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == "",
	}
	os.Exit(p.run(context.Background(), os.Args[1:]))
}

// program is all that the command has of the process around it, but the files.
type program struct {
	environ        []string
	stdin          io.Reader
	stdout, stderr io.Writer
	color          bool
}

// run does what args say and returns the exit code.
func (p program) run(ctx context.Context, args []string) (code int) {
	defer func() {
		// What a panic says may quote a value.
		if recover() != nil {
			code = p.fail("internal", "a fault of startgate-compose itself; please report it with the compose file's shape")
		}
	}()
	c, mistake := parse(args)
	switch {
	case mistake != "":
		return p.fail("usage", mistake)
	case c.help:
		return p.print(help(c.verb))
	case c.verb == "version":
		return p.print(versions())
	case c.verb == "explain":
		page, ok := compose.Explain(c.args[0])
		if !ok {
			return p.fail("usage", "there is no such rule; type startgate-compose --list-rules")
		}
		return p.print(page)
	case c.list:
		return p.listRules(c)
	}
	return p.check(ctx, c)
}

func (p program) print(text string) int {
	if _, err := io.WriteString(p.stdout, text); err != nil {
		return p.fail("output", "the standard output cannot be written")
	}
	return exitClean
}

// sentence is a constant text of the program, or one with names that the user
// typed or that are the program's own.
type sentence string

// fail says in one line why nothing was judged.
func (p program) fail(kind, why sentence) int {
	io.WriteString(p.stderr, "startgate-compose: error "+string(kind)+": "+string(why)+"\n")
	return exitUnjudged
}
