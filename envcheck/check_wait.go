package envcheck

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A Target is a wait that the environment gives an address to.
type Target struct {
	WaitSpec
	Key Key // the key that was taken for the address
	// URL is the Redis of a redis wait, put together from all its keys.
	URL RedisURL
	// Address is where a wait of another kind leads, with a host and a port.
	Address Sealed[URLParts]
	// Header is the value of the header that an http wait sends, if any.
	Header Secret
	// CAFile and ServerName are what the wait's TLS keys hold, if anything.
	CAFile, ServerName Secret
}

// takeWaits makes targets of the waits that are to be done.
func (j *judge) takeWaits() {
	for _, w := range j.contract.Waits {
		if w.When != nil {
			switch w.When.eval(j) {
			case isFalse:
				j.result.NotDone = append(j.result.NotDone, w.Name)
				continue
			case unknown:
				continue
			}
		}
		if t, ok := j.target(w); ok {
			j.result.Targets = append(j.result.Targets, t)
		}
	}
}

// target puts a wait's keys together. It is not ok when one has a fault, which
// was said of the key itself.
func (j *judge) target(w WaitSpec) (Target, bool) {
	for _, k := range w.keys() {
		if j.readings[k].status == faulty {
			return Target{}, false
		}
	}
	r := j.readings[w.address()]
	if r.status != present {
		return Target{}, false
	}
	t := Target{WaitSpec: w, Key: r.from, CAFile: j.secret(w.TLS.CA), ServerName: j.secret(w.TLS.ServerName)}
	if w.Kind != "redis" {
		if reason := j.address(r, &t); reason != "" {
			j.say(r.spec.invalid(r.from, reason))
			return Target{}, false
		}
		return t, true
	}
	p, part, reason := j.redis(w)
	if reason != "" {
		r := j.readings[part]
		j.say(r.spec.invalid(r.from, reason))
		return Target{}, false
	}
	t.URL = Seal(p)
	return t, true
}

// redis puts the parts of a Redis's address together, or says which key has the
// part that does not fit.
func (j *judge) redis(w WaitSpec) (p RedisParts, _ Key, _ Reason) {
	k := w.Redis
	switch {
	case k.URL != "":
		p = j.readings[k.URL].value.redis.Reveal()
	case k.Sentinels != "":
		for s := range strings.SplitSeq(j.word(k.Sentinels), ",") {
			sentinel, reason := sentinelAddress(strings.TrimSpace(s))
			if reason != "" {
				return p, k.Sentinels, reason
			}
			p.Sentinels = append(p.Sentinels, sentinel)
		}
	default:
		if reason := p.setHost(j.word(k.Host)); reason != "" {
			return p, k.Host, reason
		}
	}
	if port := j.word(k.Port); port != "" {
		if reason := p.setPort(port); reason != "" {
			return p, k.Port, reason
		}
	}
	if p.setDB(j.word(k.DB)) != "" {
		return p, k.DB, OutOfRange
	}
	if k.TLS != "" {
		p.TLS = p.TLS || j.isTrue(k.TLS) == isTrue
	}
	j.complete(&p, w)
	p.Others = slices.Clone(p.Others) // they are the reading's
	for i := range p.Others {
		j.complete(&p.Others[i], w)
	}
	if p.Sentinels != nil {
		p.Master = cmp.Or(p.Master, k.Master)
		if p.Master == "" {
			return p, w.address(), MasterMissing
		}
	}
	return p, "", ""
}

// complete gives p what the wait has for it and its URL has not. What a client
// does for want of a word is not the URL's.
func (j *judge) complete(p *RedisParts, w WaitSpec) {
	p.User = cmp.Or(p.User, j.word(w.Redis.User))
	p.Password = cmp.Or(p.Password, j.word(w.Redis.Password))
	if p.lax {
		p.Verify = cmp.Or(w.TLS.Verify, p.Verify)
	}
	p.Verify = cmp.Or(p.Verify, w.TLS.Verify)
}

// word is what the worker reads from k: its value or its default.
func (j *judge) word(k Key) string {
	if k == "" {
		return ""
	}
	r := j.readings[k]
	switch {
	case r.status == present:
		return r.value.text
	case r.spec.Default != nil:
		return r.spec.preset.text
	}
	return ""
}

func (j *judge) secret(k Key) Secret {
	if text := j.word(k); text != "" {
		return Seal(text)
	}
	return Secret{}
}

// A Setting is a setting of the gate that a key of the worker gives.
type Setting struct {
	Name    Word
	Key     Key
	Default bool   // the key is unset and counts with its declared default
	Text    Secret // as the gate reads the setting
}

// takeSettings reads the settings. A key that is unset and has no default
// gives none.
func (j *judge) takeSettings() {
	settings := j.contract.Settings
	if listen := j.contract.Health.Listen; listen != "" {
		settings = append(slices.Clip(settings), SettingKey{"health_listen", listen})
	}
	for _, s := range settings {
		r := j.readings[s.Key]
		text := j.word(s.Key)
		if r.status == faulty || text == "" {
			continue
		}
		if r.spec.Type == TypeMillis {
			text += "ms"
		}
		j.result.Settings = append(j.result.Settings, Setting{s.Setting, s.Key, r.status == unset, Seal(text)})
	}
}

// takeHealth reads the keys of the contract's health. What is said of a revision
// is what names a commit, a version or an image: no other value gets through.
func (j *judge) takeHealth() {
	h := j.contract.Health
	j.result.HeartbeatFile = j.secret(h.HeartbeatFile)
	switch {
	case h.HTTP == nil:
	case h.HTTP.Number != 0:
		j.result.HealthPort = Seal(strconv.Itoa(h.HTTP.Number))
	default:
		j.result.HealthPort = j.secret(h.HTTP.Port)
	}
	if revision := j.word(h.Revision); len(revision) <= 64 && only(revision, lowers+uppers+numerals+"._+-") {
		j.result.Revision = Word(revision)
	}
}

// export is a secret that the worker gets as a value.
type export struct {
	key   Key
	value Secret
}

func (j *judge) takeExports() {
	for _, k := range j.contract.Keys {
		if r := j.readings[k.Key]; k.Export && r.file && r.via == nil && r.status == present {
			j.result.exports = append(j.result.exports, export{k.Key, Seal(r.text)})
		}
	}
}

// WorkerEnviron is the environment that the worker gets: env, but for secrets
// that the contract exports from their files. It is env itself when there is
// none.
func (r Result) WorkerEnviron(env []string) []string {
	if len(r.exports) == 0 {
		return env
	}
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(r.exports, func(e export) bool { return name == string(e.key) || name == string(e.key)+fileSuffix })
	})
	for _, e := range r.exports {
		env = append(env, string(e.key)+"="+e.value.Reveal())
	}
	return env
}
