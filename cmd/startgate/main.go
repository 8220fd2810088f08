// Startgate is the ENTRYPOINT of a queue worker's container. It checks the
// environment, waits until Redis is truly ready, and becomes the worker:
//
//	ENTRYPOINT ["/startgate", "--"]
//
// Run startgate -h for its commands. The line from here to execve is
// [gate.Gate.Run].
package main

import (
	"context"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/gate"
)

// The exec must be done by the main thread: from another one the kernel
// forgets PR_SET_PDEATHSIG.
func init() { runtime.LockOSThread() }

func main() {
	signals := gate.CatchSignals()
	signals.Exit = os.Exit
	environ := os.Environ()
	// GODEBUG=netdns=2 of a container's environment would have the runtime
	// print host names. The worker gets it back with the rest.
	os.Unsetenv("GODEBUG")
	logging.Disable() // go-redis prints addresses
	os.Exit(run(os.Args[1:], environ, os.Stdout, os.Stderr, signals))
}

// run does what args say and returns the exit code.
func run(args, environ []string, stdout, stderr io.Writer, signals *gate.Signals) (code int) {
	fail := func(d envcheck.Diagnostic) int {
		line := d.AppendText(nil)
		if format, _ := envcheck.Environ(environ).Lookup("STARTGATE_FORMAT"); format.Reveal() == "json" {
			line = d.AppendJSON(nil, time.Now())
		}
		stderr.Write(append(line, '\n'))
		return d.Exit
	}
	defer func() {
		// What a panic says may quote a value.
		if recover() != nil {
			code = fail(envcheck.Diagnostic{Code: envcheck.InternalError, Exit: gate.ExitInternal})
		}
	}()
	c, fault := parse(args)
	if fault != nil {
		return fail(*fault)
	}
	g := &gate.Gate{Environ: environ, Raw: gate.KernelEnviron(), Flags: c.flags, Stdout: stdout, Stderr: stderr, Signals: signals}
	ctx := signals.Context(context.Background())
	switch {
	case c.help:
		io.WriteString(stdout, help(c.verb))
		return gate.ExitOK
	case c.verb == "check":
		return g.Check(ctx)
	case c.verb == "wait":
		return g.Wait(ctx)
	case c.verb == "probe":
		return g.Probe(ctx, c.args)
	case c.verb == "explain":
		if !g.Explain(c.args[0]) {
			return fail(usage(envcheck.CodeUnknown, "type the code of a line that startgate printed"))
		}
		return gate.ExitOK
	case c.verb == "contract":
		return g.Contract(c.args[0], append(c.args, "")[1])
	case c.verb == "version":
		io.WriteString(stdout, version())
		return gate.ExitOK
	}
	return g.Run(ctx, c.args)
}
