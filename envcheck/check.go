package envcheck

// A Process is what a contract judges: an environment, and what there is of
// the process around it.
type Process struct {
	Environ Environ
	// Raw is the environment as the kernel has it, from [ParseEnviron], in
	// which names can stand twice. nil when that cannot be known.
	Raw Environ
	// Args is the worker's command line, which secrets must not stand in.
	Args []string
	// Unknown are names of variables that are or may be set to what cannot be
	// known, as where only the files of a deployment are there. Nothing is said
	// about them, and what depends on them counts as neither true nor false.
	Unknown []string

	readFile func(path string) (string, Reason) // nil: readSecret
}

// A Result is what an environment says to a contract.
type Result struct {
	// Diagnostics are all faults, warnings and remarks in contract order:
	// keys, rules, names that the contract does not know, a skip.
	Diagnostics []Diagnostic
	// Skipped reports that skip_when holds: the contract does not apply, and
	// nothing but the values' hygiene was looked at.
	Skipped bool
	// Facts say of each key what it was found to be.
	Facts []Fact
	// Targets are the waits to be done whose keys are good.
	Targets []Target
	// NotDone are the waits whose condition is not true.
	NotDone []Word
	// Settings are the gate's settings that the worker's keys give.
	Settings []Setting
	// Revision is that of the worker, where the contract says which key has
	// it, and it looks like one.
	Revision Word
	// HeartbeatFile is the path of the file that the worker touches.
	HeartbeatFile Secret
	// HealthPort is the port that the worker must answer at, "" for none.
	HealthPort Secret

	exports []export
}

// OK reports whether the environment meets the contract: there is no error.
func (r Result) OK() bool {
	for _, d := range r.Diagnostics {
		if d.Severity() == Error {
			return false
		}
	}
	return true
}

// Codes lists the diagnostics to be compared, as CODE[KEY,KEY]/REASON, a warning
// with ~ in front of it and a remark with i:.
func (r Result) Codes() []string {
	codes := make([]string, len(r.Diagnostics))
	for i, d := range r.Diagnostics {
		mark := map[Level]string{Warn: "~", Info: "i:"}[d.Severity()]
		codes[i] = mark + string(d.Code) + "[" + joinWords(d.Keys, ",") + "]"
		if d.Reason != "" {
			codes[i] += "/" + string(d.Reason)
		}
	}
	return codes
}

// Check judges env by the contract, all faults at once. It looks nothing up
// and connects nowhere; it reads the files that KEY_FILE variables name.
func (c *Contract) Check(env Environ) Result { return c.CheckProcess(Process{Environ: env}) }

// CheckProcess is [Contract.Check] with what can be known of the process
// beside its environment.
func (c *Contract) CheckProcess(p Process) Result {
	j := &judge{contract: c, env: indexOf(p.Environ), readFile: p.readFile, args: p.Args, unknown: p.Unknown}
	j.env.differs = append(j.env.differs, indexOf(p.Raw).differs...)
	if j.readFile == nil {
		j.readFile = readSecret
	}
	if c.groups != nil {
		j.judgeGroups()
		return j.result
	}
	j.readAll()
	if c.SkipWhen.eval(j) == isTrue {
		j.skip()
	} else {
		j.judgeKeys()
		j.judgeRules()
		j.judgeNames()
		j.takeWaits()
		j.takeSettings()
		j.takeExports()
		j.takeHealth()
	}
	j.takeFacts()
	return j.result
}

// judge is one check under way.
type judge struct {
	contract *Contract
	env      index
	args     []string
	unknown  []string
	readFile func(path string) (string, Reason)
	readings map[Key]*reading
	result   Result
}

// say adds a diagnostic. Without reasons it also loses the advice that would
// tell one.
func (j *judge) say(d Diagnostic) {
	if j.contract.Policy.NoReasons && d.Reason != "" {
		d.Reason, d.Fix = "", ""
	}
	j.result.Diagnostics = append(j.result.Diagnostics, d)
}

// readAll reads each key, and then the fallbacks of those that are unset.
func (j *judge) readAll() {
	c := j.contract
	j.readings = make(map[Key]*reading, len(c.Keys))
	for _, k := range c.Keys {
		j.readings[k.Key] = j.read(k)
	}
	for _, k := range c.Keys {
		j.takeFallback(j.readings[k.Key])
	}
}

// takeFallback gives r the value of its first fallback that has one of its own,
// where that is permitted. Fallbacks that the condition asks for come first. Of
// keys whose conditions ask for each other, the one asked last counts as unset.
func (j *judge) takeFallback(r *reading) {
	if r.status != unset || r.via != nil {
		return
	}
	for _, f := range r.spec.Fallback {
		if other := j.readings[f]; other.via == nil && other.status != unset {
			r.via = other
			break
		}
	}
	if r.via == nil {
		return
	}
	if r.spec.FallbackWhen != nil {
		for _, k := range r.spec.FallbackWhen.keys(nil) {
			j.takeFallback(j.readings[k])
		}
		switch r.spec.FallbackWhen.eval(j) {
		case isFalse:
			return
		case unknown:
			r.status = faulty
			return
		}
	}
	r.from, r.text, r.file, r.stands = r.via.from, r.via.text, r.via.file, r.via.stands
	r.status = r.via.status
	if r.status != present {
		return
	}
	text, _ := clean(r.text, r.spec.rule, r.spec.Policy)
	v, reason := r.spec.rule.read(text, r.spec)
	if reason != "" {
		r.fail(r.spec.invalidText(r.from, text, reason))
	}
	r.value = v
}

// taken reports whether a fallback stands in for r, as is permitted.
func (r *reading) taken() bool { return r.via != nil && r.status != unset }

// skip says that the contract does not apply, and what is wrong with the
// values all the same: as warnings, since nothing needs them.
func (j *judge) skip() {
	c := j.contract
	j.result.Skipped = true
	for _, k := range c.Keys {
		for _, d := range j.readings[k.Key].found {
			d.Level = Warn
			j.say(d)
		}
	}
	keys := unique(c.SkipWhen.keys(nil))
	if c.SkipKey != "" {
		keys = []Key{c.SkipKey}
	}
	d := Diagnostic{Code: c.SkipCode, Level: Info, Keys: keys, Text: "worker disabled"}
	if len(keys) > 0 {
		d.Text += Word(" by " + joinWords(keys, " and "))
	}
	for _, k := range keys {
		if j.readings[k].status == unset {
			d.Level = Warn
		}
		if name := j.nearName(k); name != "" {
			d.Level, d.Near = Warn, name
		}
	}
	j.say(d)
}
