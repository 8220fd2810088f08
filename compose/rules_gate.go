package compose

import (
	"slices"
	"strings"
)

// ungated finds workers that do not start through the gate (SG401).
func ungated(c *check, v *service) {
	if v.clearsGate() {
		return
	}
	switch v.gating() {
	case notGated:
		f := c.say(v.start(), "the worker is not started through the gate")
		if v.waitsThroughAnother() {
			f.as(Warn)
			f.Message = "the gate stands in another service, which is not run again when the engine restarts the worker"
		}
	case perhapsGated:
		c.say(v.start(), "the worker is not started through the gate, unless its image does that").as(Warn).
			fixed("write entrypoint: [/startgate, --] here, or say in startgate.compose.yaml what entrypoint the image has")
	}
}

// waitsThroughAnother reports whether the worker is started after another
// service of which the gate is all.
func (v *service) waitsThroughAnother() bool {
	return slices.ContainsFunc(v.dependencies(), func(d node) bool {
		o := v.stack.service(d.path[len(d.path)-1])
		if o == nil || d.at("condition").text().effective != "service_completed_successfully" {
			return false
		}
		args, _ := o.argv()
		call, ok := gateIn(args)
		return ok && call.verb == "wait"
	})
}

// idleGate finds gates that get no worker (SG402).
func idleGate(c *check, v *service) {
	args, complete := v.argv()
	call, ok := gateIn(args)
	_, help := call.flags["h"]
	switch {
	case !ok || call.verb != "run" || help:
	case len(call.rest) > 0 && !call.dashes:
		c.say(v.start(), "-- is missing between the gate and the worker: the gate does not start").fixed("entrypoint: [/startgate, --]")
	case len(call.rest) > 0 || !complete:
	case v.entrypoint.written:
		c.say(v.entrypoint.node, "the gate gets no worker: with an entrypoint here, the image's command is not used")
	default:
		c.say(v.start(), "the gate gets no worker")
	}
}

// gateInShell finds gates that a shell keeps from their work (SG403).
func gateInShell(c *check, v *service) {
	start, ok := v.shellStart()
	if !ok {
		return
	}
	errexit := start.errexit
	calls, places := start.gates()
	for n, i := range places {
		each := start.commands[i]
		for _, before := range start.commands[:i] {
			errexit = errexit || before.words[0] == "set" && exitsOnError(before.words[1:])
		}
		last := i == len(start.commands)-1
		piped := each.after == "|" || each.after == "&" || i > 0 && start.commands[i-1].after == "|"
		switch verb := calls[n].verb; {
		case verb != "run" && verb != "wait" && verb != "probe" && verb != "check":
		case verb != "run" && (!start.plain || last || each.after == "&&"):
		case verb != "run" && !piped && (each.after == ";" && errexit || each.after == "||" && endsScript(start.commands[i+1])):
		case verb != "run":
			c.say(start.at, "the shell goes on to the worker whatever the gate says").fixed("startgate wait && exec the worker, or better entrypoint: [/startgate, --]")
		case piped:
			c.say(start.at, "a shell runs the gate beside others: signals and exit codes of the worker are lost")
		case each.execs():
		case !last:
			c.say(start.at, "the shell goes on behind the gate, whatever the gate says")
		case start.becomes(i), onlyShell(start) && strings.Contains(v.tag(), "alpine"):
		case onlyShell(start) && start.shell == "sh":
			c.say(start.at, "with some shells a shell stays in front of the gate, and passes no signal on").as(Warn)
		default:
			c.say(start.at, "a shell stays in front of the gate, and passes no signal on")
		}
	}
}

// onlyShell reports whether all that the shell does is start one program.
func onlyShell(s shellStart) bool {
	return s.plain && len(s.commands) == 1 && !s.commands[0].redirected
}

// endsScript reports whether a command is exit with something else than 0.
func endsScript(c simple) bool {
	return c.words[0] == "exit" && exitStatus(c.words, fails) == fails
}

// workerInShell finds workers that a shell stays in front of (SG404).
func workerInShell(c *check, v *service) {
	args, _ := v.argv()
	end := unwrap(args)
	behind, gate := gateIn(args)
	if gate {
		end = unwrap(behind.rest)
	}
	start, ok := v.shellStartIn(args, end)
	if !ok || len(start.commands) == 0 {
		return
	}
	if calls, _ := start.gates(); slices.ContainsFunc(calls, func(c gateCall) bool { return c.verb == "run" }) {
		return
	}
	for _, each := range start.commands {
		if each.execs() || each.words[0] == "trap" {
			return
		}
	}
	if start.becomes(len(start.commands)-1) || onlyShell(start) && strings.Contains(v.tag(), "alpine") {
		return
	}
	message := phrase("a shell stays in front of the worker: a signal to stop reaches the shell only")
	if gate {
		message = "the gate becomes a shell that stays in front of the worker: a signal to stop reaches the shell only"
	}
	c.say(start.at, message)
}

// forks reports whether the worker's program starts processes of its own.
func (v *service) forks() bool {
	args, _ := v.argv()
	all := words(args)
	if v.scheduler {
		return false
	}
	switch {
	case startsWith(all, []string{"rq", "worker"}), startsWith(all, []string{"rq", "worker-pool"}), startsWith(all, []string{"rqworker"}):
		return !slices.ContainsFunc(all, func(w string) bool { return strings.Contains(w, "SimpleWorker") })
	case startsWith(all, []string{"celery", "worker"}):
		for i, w := range all {
			pool, ok := strings.CutPrefix(w, "--pool=")
			if (w == "-P" || w == "--pool") && i+1 < len(all) {
				pool, ok = all[i+1], true
			}
			if ok && pool != "prefork" && pool != "processes" {
				return false
			}
		}
		return true
	}
	return slices.ContainsFunc([][]string{{"resque:work"}, {"resque:workers"}, {"artisan", "horizon"}, {"dramatiq"}}, func(w []string) bool { return startsWith(all, w) })
}

// reaper finds forking workers without an init, and ones with two (SG405).
func reaper(c *check, v *service) {
	args, complete := v.argv()
	init, known := v.at("init").truth()
	own := len(args) > 0 && slices.Contains(inits, program(args[0]))
	switch {
	case !known || v.at("pid").exists():
	case init && own && v.entrypoint.written:
		c.say(v.at("init"), "there are two inits: this one, and the one that the command line starts with").fixed("leave out one of them")
	case !init && !own && complete && v.forks():
		c.say(v.node, "this worker forks, and nothing reaps processes that lose their parent")
	}
}

// clearsGate reports whether the service does without its image's entrypoint,
// in which the gate is said to be.
func (v *service) clearsGate() bool {
	if !v.entrypoint.written || len(v.entrypoint.args) > 0 {
		return false
	}
	_, ok := gateIn(v.image.Entrypoint)
	return ok && v.gating() != gated
}

// clearedGate finds workers that do (SG406).
func clearedGate(c *check, v *service) {
	if v.clearsGate() {
		c.say(v.entrypoint.node, "an empty entrypoint takes away the image's, and the gate with it")
	}
}

// unenforced finds gates that let a worker start whatever is wrong (SG412).
func unenforced(c *check, v *service) {
	if v.gating() == notGated {
		return
	}
	if args, _ := v.argv(); v.gating() == gated {
		if call, ok := gateIn(args); ok {
			if _, flag := call.flags["mode"]; flag {
				c.say(v.start(), "the gate has no such flag, and does not start").as(Error).fixed("set STARTGATE_MODE instead")
			}
		}
	}
	e := v.variables["STARTGATE_MODE"]
	if !e.set() {
		return
	}
	switch e.effective {
	case "enforce":
	case "observe":
		c.sayOf(v, e, "the gate only observes: the worker starts also when its environment or Redis is not right")
	case "off":
		c.sayOf(v, e, "the gate is off: nothing is checked and nothing is waited for")
	default:
		c.sayOf(v, e, "the gate has no such mode, and does not start").as(Error)
	}
}
