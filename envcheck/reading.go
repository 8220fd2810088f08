package envcheck

import (
	"cmp"
	"math/big"
	"slices"
)

// keyStatus is what a key is found to be.
type keyStatus uint8

const (
	unset keyStatus = iota
	present
	faulty // it has a fault, which is said once: its conditions are unknown
)

// reading is one key as it stands in an environment.
type reading struct {
	spec   *KeySpec
	status keyStatus
	from   Key // KEY, KEY_FILE, or the fallback that was taken
	via    *reading
	text   string // as the worker reads it
	value  value
	file   bool // text comes from KEY_FILE

	found    []Diagnostic // warnings, or as the last one an error
	fault    []Diagnostic // of the value itself
	stands   standIn      // whether the value only stands for one
	repeated bool         // it is set twice, to different values
}

// read reads a key, each by itself: fallbacks and conditions come later.
func (j *judge) read(k *KeySpec) *reading {
	r := &reading{spec: k, from: k.Key}
	if slices.Contains(j.unknown, string(k.Key)) {
		r.status = faulty
		return r
	}
	text, set := j.env.first[string(k.Key)]
	r.repeated = slices.Contains(j.env.differs, string(k.Key))
	if k.File {
		if path, ok := j.env.first[string(k.Key)+fileSuffix]; ok && path != "" && path != "/dev/null" {
			if text != "" {
				r.fail(Diagnostic{Code: SecretSourceConflict, Keys: []Key{k.Key, k.Key + fileSuffix}})
				return r
			}
			return j.readSecretFile(r, path)
		}
	}
	if set {
		r.judge(text)
	}
	if r.repeated && k.Policy.Duplicates == AsError {
		r.status = faulty
	}
	return r
}

// fileSuffix makes the name of the key that holds a secret's path.
const fileSuffix = "_FILE"

func (j *judge) readSecretFile(r *reading, path string) *reading {
	r.from, r.file = r.spec.Key+fileSuffix, true
	text, reason := j.readFile(path)
	if reason != "" {
		r.fail(Diagnostic{Code: SecretFileUnreadable, Keys: []Key{r.from}, Reason: reason})
		return r
	}
	if r.spec.Export && len(r.spec.Key)+1+len(text) >= maxEnvString {
		r.fail(Diagnostic{Code: EnvValueTooLong, Keys: []Key{r.spec.Key}})
		return r
	}
	r.judge(text)
	return r
}

// judge reads a text that is there.
func (r *reading) judge(text string) {
	k := r.spec
	clean, found := clean(text, k.rule, k.Policy)
	r.text, r.found = text, found
	for i := range found {
		found[i].Keys = []Key{r.from}
	}
	if n := len(found); n > 0 && found[n-1].Level == Error {
		r.status = faulty
		return
	}
	if clean == "" {
		switch k.Policy.Empty {
		case AsUnset:
			return
		case AsError:
			r.fail(Diagnostic{Code: EnvEmpty, Keys: []Key{r.from}})
			return
		}
	}
	v, reason := k.rule.read(clean, k)
	r.value = v
	if k.Policy.Placeholders != NotAtAll && !(reason == "" && (k.Type == TypeEnum || k.Pattern != nil)) {
		r.stands = placeholder(clean)
	}
	switch {
	case reason == "":
		r.status = present
	case len(found) > 0:
		// What it is warned of is why the value cannot be read.
		r.status = faulty
		found[len(found)-1].Level = Error
	default:
		r.fail(k.invalidText(r.from, clean, reason))
	}
}

func (r *reading) fail(d Diagnostic) {
	r.status = faulty
	r.fault = append(r.fault, d)
}

// invalid is the diagnostic for a text that is not of the key's type.
func (k *KeySpec) invalid(key Key, reason Reason) Diagnostic {
	d := Diagnostic{Code: k.Topic + k.rule.suffix, Keys: []Key{key}, Reason: reason}
	d.Text, d.Fix = "the value is not what the contract asks for", "give "+k.rule.doc
	if k.rule.suffix == "_parse_failed" {
		d.Text = "the value cannot be read as " + k.rule.doc
		if k.Type == TypeRedis {
			d.Text = "the Redis URL cannot be read"
		}
	}
	d.Fix = cmp.Or(reasonFix(reason), d.Fix)
	if (reason == SchemeMissing || reason == SchemeUnsupported) && k.Type != TypeRedis {
		d.Fix = "start it with " + cmp.Or(k.rule.schemes, "a scheme and ://")
	}
	return d
}

// invalidText is invalid for text, and says which family's clients take it.
func (k *KeySpec) invalidText(key Key, text string, reason Reason) Diagnostic {
	d := k.invalid(key, reason)
	if hint := k.otherClient(text, reason); hint != "" {
		d.Fix = hint
	}
	return d
}

// otherClient is the advice to name the worker's family, where one would take
// the URL that generic does not. It is made of the families' names alone.
func (k *KeySpec) otherClient(s string, refused Reason) Word {
	if k.Type != TypeRedis || dialectOf(k.client).client != Generic {
		return ""
	}
	var families []Client
	for _, c := range Clients() {
		if _, reason := ParseRedisURL(c, s); reason == "" {
			families = append(families, c)
		}
	}
	if len(families) == 0 {
		return ""
	}
	return reasonFix(refused) + Word("; or set STARTGATE_CLIENT, or client in the contract, to "+orList(families)+" if the worker is that")
}

// sayDoubt says what of a Redis URL its client reads in a way that may not be
// meant.
func (j *judge) sayDoubt(r *reading) {
	if doubt := r.value.redis.Reveal().Doubt; doubt != "" {
		j.say(Diagnostic{Code: RedisURLDoubtful, Keys: []Key{r.from}, Reason: doubt})
	}
}

// isSet is the truth of set(k). A default does not count as set.
func (j *judge) isSet(k Key) truth {
	switch j.readings[k].status {
	case unset:
		return isFalse
	case faulty:
		return unknown
	}
	return isTrue
}

// isTrue is the truth of k by itself: an unset bool is its default, else false.
func (j *judge) isTrue(k Key) truth {
	text, ok, known := j.text(k)
	if !known {
		return unknown
	}
	return truthOf(ok && text == "true")
}

// text is k's value as it compares with a literal; known is false when the key
// has a fault, ok when it has neither value nor default.
func (j *judge) text(k Key) (_ string, ok, known bool) {
	r := j.readings[k]
	switch {
	case r.status == faulty:
		return "", false, false
	case r.status == present:
		return r.value.text, true, true
	case r.spec.Default != nil:
		return r.spec.preset.text, true, true
	case r.spec.Type == TypeBool:
		return "false", true, true
	}
	return "", false, true
}

// number is a key's number, or its default's; of a time in seconds.
func (j *judge) number(k Key) (*big.Rat, bool) {
	r := j.readings[k]
	v := r.value
	switch {
	case r.status == faulty:
		return nil, false
	case r.status == unset:
		v = r.spec.preset
	}
	if v.number == nil {
		return nil, false
	}
	return r.spec.seconds(v), true
}
