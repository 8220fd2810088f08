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

	"github.com/redis/go-redis/v9/logging"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/gate"
)

// init keeps the main thread for main where the exec must come from it.
func init() {
	if gate.DeathSignal() {
		runtime.LockOSThread()
	}
}

// main leaves a main thread that is locked to the exec. Whatever waits on such
// a thread pays for it with two context switches each time.
func main() {
	// There is never work for two, and threads that look for some are dear.
	runtime.GOMAXPROCS(1)
	if !gate.DeathSignal() {
		os.Exit(start(nil))
	}
	execs := make(chan func())
	go func() { os.Exit(start(execs)) }()
	for exec := range execs {
		exec()
	}
}

// start is main beside the main thread, which does what it sends to execs.
func start(execs chan<- func()) int {
	signals := gate.CatchSignals()
	signals.Exit = os.Exit
	environ := os.Environ()
	// GODEBUG=netdns=2 of a container's environment would have the runtime
	// print host names. The worker gets it back with the rest.
	os.Unsetenv("GODEBUG")
	logging.Disable() // go-redis prints addresses
	return run(os.Args[1:], &gate.Gate{
		Environ: environ, Raw: gate.KernelEnviron(), Stdout: os.Stdout, Stderr: os.Stderr, Signals: signals, MainThread: execs,
	})
}

// run does what args say with g and returns the exit code.
func run(args []string, g *gate.Gate) (code int) {
	var c command
	defer func() {
		// What a panic says may quote a value.
		if recover() != nil {
			code = c.exit(g.Fail(envcheck.Diagnostic{Code: envcheck.InternalError, Exit: gate.ExitInternal}))
		}
	}()
	var fault *envcheck.Diagnostic
	c, fault = parse(args)
	g.Flags, g.Final = c.flags, c.verb == "run" || c.verb == "wait"
	if fault != nil {
		return c.exit(g.Fail(*fault))
	}
	ctx := g.Signals.Context(context.Background())
	switch {
	case c.help:
		io.WriteString(g.Stdout, help(c.verb))
		return gate.ExitOK
	case c.verb == "check":
		return g.Check(ctx)
	case c.verb == "wait":
		return g.Wait(ctx)
	case c.verb == "probe":
		return g.Probe(ctx, c.args)
	case c.verb == "health":
		return g.Health(ctx, c.live)
	case c.verb == "explain":
		if !g.Explain(c.args[0]) {
			return g.Fail(usage(envcheck.CodeUnknown, "type the code of a line that startgate printed"))
		}
		return gate.ExitOK
	case c.verb == "contract":
		return g.Contract(c.args[0], append(c.args, "")[1])
	case c.verb == "version":
		io.WriteString(g.Stdout, version())
		return gate.ExitOK
	}
	return g.Run(ctx, c.args)
}
