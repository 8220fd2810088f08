package compose

import "time"

// healthcheck is a service's healthcheck as the engine takes it. What is not
// written has the engine's defaults; a test that is not written is the image's.
type healthcheck struct {
	node     node     // healthcheck, be it there or not
	written  bool     // it is there and not null
	disabled bool     // by disable: true or a list with NONE
	shell    bool     // the engine starts a shell for it: CMD-SHELL, or a string
	args     []string // of the test, effective, without CMD and CMD-SHELL
	script   string   // what a shell runs, the engine's or one of its own

	interval, timeout, startPeriod time.Duration
	retries                        int

	known bool // no variable that is not known is in the test or the times
}

// The engine's defaults (moby, daemon/health.go).
const (
	checkInterval = 30 * time.Second
	checkTimeout  = 30 * time.Second
	checkRetries  = 3
)

// healthcheck reads the service's healthcheck.
func (v *service) healthcheck() healthcheck {
	n := v.at("healthcheck")
	h := healthcheck{node: n, written: n.exists()}
	h.disabled, h.known = n.at("disable").truth()
	h.readTest(n.at("test"))
	h.interval = h.duration("interval", checkInterval)
	h.timeout = h.duration("timeout", checkTimeout)
	h.startPeriod = h.duration("start_period", 0)
	retries, known := n.at("retries").integer(checkRetries)
	if retries <= 0 {
		retries = checkRetries // 0 is not set, to the engine
	}
	h.retries, h.known = retries, h.known && known
	return h
}

// readTest reads the test in its two spellings. A string is run by a shell,
// also the string NONE (compose-go, types.HealthCheckTest).
func (h *healthcheck) readTest(test node) {
	texts := test.texts()
	for _, t := range texts {
		h.known = h.known && t.known
		h.args = append(h.args, t.effective)
	}
	switch {
	case test.isText():
		h.shell, h.script = true, h.args[0]
		return
	case len(h.args) == 0:
		return
	}
	form := h.args[0]
	h.args = h.args[1:]
	switch form {
	case "NONE":
		h.disabled = true
	case "CMD-SHELL":
		h.shell = true
		if len(h.args) > 0 {
			h.script = h.args[0]
		}
	default:
		if i, ok := shellScript(h.args); ok {
			h.script = h.args[i]
		}
	}
}

// duration is one of the times. 0 is not set, to the engine.
func (h *healthcheck) duration(name string, otherwise time.Duration) time.Duration {
	value, known := h.node.at(name).duration(otherwise)
	h.known = h.known && known
	if value == 0 {
		return otherwise
	}
	return value
}

// tested reports whether there is a test that the engine runs, and that is what
// it looks like, as far as the files say: an image may bring one.
func (h *healthcheck) tested() bool {
	return h.written && !h.disabled && len(h.args) > 0 && h.fault() == ""
}

// withoutHealth reports whether the container has no health at all. It is not
// known where the image decides and nothing is said of it.
func (v *service) withoutHealth() (without, known bool) {
	h := v.healthcheck()
	switch {
	case h.disabled:
		return true, true
	case h.node.at("test").exists():
		return false, true
	}
	has, known := v.ownHealth()
	return !has, known
}
