// Package gate is the straight line from a container's start to its worker:
// settings, contract, environment, the worker's file, Redis, delay, execve.
//
// Start with [Gate.Run]. The other methods are parts of the same line. The
// package supervises nothing and leaves nothing running: after Run there is
// only the worker.
package gate

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/startgate/startgate/envcheck"
)

// A Gate stands in front of one worker.
type Gate struct {
	// Environ is the process's environment, as [os.Environ] had it at the
	// start. It is judged, and handed to the worker unchanged.
	Environ []string
	// Raw is the environment as [KernelEnviron] has it, nil when that is not
	// known. Names that stand twice are found in it.
	Raw envcheck.Environ
	// Flags are the settings given on the command line, by name.
	Flags map[string]string
	// Stdout takes the result of a command that has one. Run never writes to
	// it: it is the worker's.
	Stdout io.Writer
	// Stderr takes the diagnostics.
	Stderr io.Writer
	// Signals are given back to the kernel when the worker takes over. The
	// contexts given to the methods are to be of [Signals.Context].
	Signals *Signals
	// MainThread runs what it is sent on the process's first thread, which is
	// where the exec belongs. nil runs it where it is.
	MainThread chan<- func()
	// Final is for a command whose failure ends the container: its last lines
	// are the termination message too. A probe's are not.
	Final bool

	judges bool // mode observe does not apply to the command
}

// terminationLog is where Kubernetes looks for a container's last words.
const terminationLog = "/dev/termination-log"

// lastWords is where the termination message goes, "" for nowhere.
func (g *Gate) lastWords() string {
	if g.Final {
		return terminationLog
	}
	return ""
}

// line is a gate under way.
type line struct {
	*Gate
	report   report // diagnostics
	result   report // of a command that is asked for one; else the same
	settings Settings
	contract envcheck.Contract
	fromFile bool // contract is from a file
	judged   envcheck.Result
	targets  []envcheck.Target
	tls      map[envcheck.Word]tlsFiles // by the name of the wait
	waits    []*waiting
	clock    clock
	state    *stateFile
	found    state // of the worker, by health
	listener *listener
}

// Run checks, waits and becomes worker, its argument vector. It returns the
// exit code when it could not.
func (g *Gate) Run(ctx context.Context, worker []string) int {
	l, code := g.begin()
	l.state = &stateFile{setting: l.settings.StateFile.Reveal()}
	code = l.run(ctx, worker, code)
	l.listener.close()
	_ = l.state.set(failed, l.report.failed, "", 0) // said already, or else after the last line
	return code
}

// run is Run from where settings and contract have been read, which ended with
// code.
func (l *line) run(ctx context.Context, worker []string, code int) int {
	// In mode observe the line goes on after a fault.
	if code == ExitOK || !l.enforces() {
		code = cmp.Or(code, l.check(worker))
	}
	switch {
	case code != ExitOK && l.enforces():
		return code
	case l.judged.Skipped && l.contract.SkipExits:
		l.observed(code)
		return ExitOK
	}
	path, missing := l.lookUp(ctx, worker)
	if missing != ExitOK {
		return missing
	}
	l.listen()
	waited := l.wait(ctx)
	code = cmp.Or(code, waited)
	switch {
	case ctx.Err() != nil && waited == ExitOK:
		return l.interrupted(ctx) // the signal has come after readiness
	case ctx.Err() != nil:
		return waited
	case code != ExitOK && l.enforces():
		return code
	}
	l.observed(code)
	l.report.say(l.execLine())
	l.listener.close()
	l.state.now.Skipped = l.judged.Skipped
	l.setState(running, "", "", 0)
	return l.become(ctx, path, worker)
}

// Check judges the environment and says what would be waited for.
func (g *Gate) Check(context.Context) int {
	l, code := g.checked()
	l.toStdout()
	l.sayFacts()
	if code == ExitOK && !l.judged.Skipped {
		l.sayPlan()
	}
	return code
}

// Wait does all that Run does before the worker starts.
func (g *Gate) Wait(ctx context.Context) int {
	l, code := g.begin()
	if code == ExitOK || !l.enforces() {
		code = cmp.Or(code, l.check(nil))
	}
	if code == ExitOK || !l.enforces() {
		waited := l.wait(ctx)
		if ctx.Err() != nil {
			return waited
		}
		code = cmp.Or(code, waited)
	}
	if l.enforces() {
		return code
	}
	l.observed(code)
	return ExitOK
}

// Probe makes one attempt at every wait, or at those that are named.
func (g *Gate) Probe(ctx context.Context, names []string) int {
	l, code := g.checked()
	if code == ExitOK && l.judged.Skipped {
		return code
	}
	if code == ExitOK {
		code = l.only(names)
	}
	if code == ExitOK {
		l.toStdout()
		code = l.probe(ctx)
	}
	return code
}

// checked is the start of a command whose exit code is its result, also in
// mode observe.
func (g *Gate) checked() (*line, int) {
	g.judges = true
	l, code := g.begin()
	if code == ExitOK {
		code = l.check(nil)
	}
	return l, code
}

// Fail says d, the reason why a command cannot be run at all, where failures
// are said. The settings are not read for it.
func (g *Gate) Fail(d envcheck.Diagnostic) int {
	format, _ := envcheck.Environ(g.Environ).Lookup(envPrefix + "_FORMAT")
	r := report{w: g.Stderr, json: cmp.Or(g.Flags["format"], format.Reveal()) == "json", termination: g.lastWords()}
	return r.fail(d.Exit, d)
}

// begin reads the settings and the contract. In mode off there is none.
func (g *Gate) begin() (*line, int) {
	s, faults := LoadSettings(g.Flags)
	l := &line{Gate: g, settings: s, report: report{w: g.Stderr, json: s.JSON, termination: g.lastWords()}}
	if !s.JSON {
		l.report.screen = newScreen(g.Stderr)
	}
	l.result = l.report
	l.sayAll(unknownSettings(g.Environ))
	if s.Mode == Off {
		l.report.say(envcheck.Diagnostic{Code: envcheck.ModeOff})
		return l, ExitOK
	}
	more, code := l.loadContract()
	if len(faults) > 0 {
		code = ExitEnvironment
	}
	if code != ExitOK {
		code = l.fault(code, append(more, faults...)...)
	}
	return l, code
}

// toStdout sends results where a command's result belongs.
func (l *line) toStdout() { l.result = report{w: l.Stdout, json: l.settings.JSON} }

// enforces reports whether a fault ends the line.
func (l *line) enforces() bool { return l.settings.Mode == Enforce || l.judges }

// fault says why the line ends with code here, or would if it were enforced.
func (l *line) fault(code int, diagnostics ...envcheck.Diagnostic) int {
	if l.enforces() {
		return l.report.fail(code, diagnostics...)
	}
	l.sayAll(diagnostics)
	return code
}

// check judges the environment by the contract, and the worker's command line
// when there is one.
func (l *line) check(worker []string) int {
	r := l.contract.CheckProcess(envcheck.Process{Environ: l.Environ, Raw: l.Raw, Args: worker})
	l.judged, l.targets = r, r.Targets
	code := ExitOK
	if !r.OK() {
		code = l.fault(ExitEnvironment, r.Diagnostics...)
	} else {
		l.sayAll(r.Diagnostics)
	}
	if code != ExitOK && l.enforces() {
		return code
	}
	if faults := append(l.applySettings(r.Settings), l.readTLSFiles()...); len(faults) > 0 {
		code = l.fault(ExitEnvironment, faults...)
	}
	return code
}

// lookUp finds the worker's file and says what would keep it from running.
func (l *line) lookUp(ctx context.Context, worker []string) (path string, code int) {
	path, warnings, fault := lookUp(ctx, worker[0], l.Environ)
	l.sayAll(warnings)
	if fault != nil {
		return "", l.report.fail(fault.Exit, *fault)
	}
	if path == "" {
		return "", l.interrupted(ctx)
	}
	if isShellCommand(worker) {
		l.report.say(envcheck.Diagnostic{Code: envcheck.WorkerInShell})
	}
	return path, ExitOK
}

// observed says, in mode observe, which fault would have ended the line.
func (l *line) observed(code int) {
	if code != ExitOK && l.settings.Mode == Observe {
		l.report.say(envcheck.Diagnostic{
			Code: envcheck.Observed, Fields: []envcheck.Field{envcheck.Int("would_exit", code)},
		})
	}
}

// become replaces the process. It returns when that failed.
func (l *line) become(ctx context.Context, path string, worker []string) int {
	var fault *envcheck.Diagnostic
	var err error
	l.onMainThread(func() { fault, err = become(ctx, l.Signals, path, worker, l.judged.WorkerEnviron(l.Environ)) })
	if stopped, ok := errors.AsType[Stopped](err); ok {
		return l.stopped(stopped)
	}
	if fault == nil {
		return ExitInternal // ctx was ended by something else than a signal
	}
	return l.report.fail(fault.Exit, *fault)
}

// onMainThread runs f there and returns when it has.
func (l *line) onMainThread(f func()) {
	if l.MainThread == nil {
		f()
		return
	}
	done := make(chan bool)
	l.MainThread <- func() {
		defer func() { done <- recover() == nil }()
		f()
	}
	if !<-done {
		panic("on the main thread") // whose own panic may quote a value
	}
}

// stopped says that a signal ended the gate.
func (l *line) stopped(s Stopped) int {
	l.report.say(envcheck.Diagnostic{
		Code: envcheck.Stopped, Exit: s.ExitCode(),
		Fields: []envcheck.Field{envcheck.Is("signal", signalName(s.Signal))},
	})
	return s.ExitCode()
}

func (l *line) sayAll(diagnostics []envcheck.Diagnostic) {
	for _, d := range diagnostics {
		l.report.say(d)
	}
}

// setState keeps the state that `startgate health` reads.
func (l *line) setState(to phase, code envcheck.Code, wait envcheck.Word, attempts int) {
	if l.state.set(to, code, wait, attempts) != nil {
		l.report.say(envcheck.Diagnostic{Code: envcheck.StateUnwritable})
	}
}

// listen begins to answer probes, where a setting or the contract says at
// which port. A port that is taken is the worker's problem, not the gate's.
func (l *line) listen() {
	address := l.settings.HealthListen.Reveal()
	if address == "" || l.judged.Skipped {
		return
	}
	l.setState(gating, "", "", 0)
	var err error
	if l.listener, err = listen(address, &l.state.text); err != nil {
		l.report.say(envcheck.Diagnostic{Code: envcheck.ListenFailed})
	}
}
