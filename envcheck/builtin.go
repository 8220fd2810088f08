package envcheck

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Keys that the built-in contract treats in ways of their own.
const (
	// hostKey is the host of a Redis by parts.
	hostKey     Key = "REDIS_HOST"
	portKey     Key = "REDIS_PORT"
	userKey     Key = "REDIS_USERNAME"
	passwordKey Key = "REDIS_PASSWORD"
	dbKey       Key = "REDIS_DB"
	// providerKey holds the name of the key that Sidekiq reads instead of
	// REDIS_URL.
	providerKey Key = "REDIS_PROVIDER"
	urlKey      Key = "REDIS_URL"
)

// Builtin returns the contract that applies when there is no file. Each group
// of keys is one wait: the first key that is set counts. They hold Redis URLs,
// but REDIS_HOST, which goes with REDIS_PORT, REDIS_USERNAME, REDIS_PASSWORD
// and REDIS_DB. Where Sidekiq would read REDIS_URL, REDIS_PROVIDER may name
// another key.
//
// client says whose dialect reads the URLs. "" is that of the key's name, such
// as RQ_REDIS_URL, else that of the worker's command, else generic.
func Builtin(groups [][]Key, client Client, require Require, keyPrefix string) Contract {
	c := Contract{Name: "builtin", groups: groups, Policy: Policy{}.over(Policy{})}
	for i, keys := range groups {
		name := Word("redis")
		if i > 0 {
			name += Word(strconv.Itoa(i + 1))
		}
		for _, key := range keys {
			c.declare(key, TypeRedis)
			if key == hostKey {
				c.Keys[len(c.Keys)-1].Type = TypeString
				c.declare(portKey, TypePort)
				c.declare(userKey, TypeString)
				c.declare(passwordKey, TypeString)
				c.declare(dbKey, TypeInt)
			}
		}
		c.Waits = append(c.Waits, WaitSpec{
			Name: name, Kind: "redis", Redis: RedisKeys{URL: keys[0]}, Client: client, Require: require,
			KeyPrefix: keyPrefix, Topology: "standalone",
		})
	}
	for _, k := range c.Keys {
		k.rule = k.Type.rule()
		k.client = cmp.Or(client, clientOfKey(k.Key))
		k.Secret = k.rule.is(secret) || k.Key == passwordKey
		k.File = k.Secret
	}
	return c
}

func (c *Contract) declare(key Key, t Type) {
	topic := Code("redis")
	if t != TypeRedis {
		topic = Code(strings.ToLower(string(key)))
	}
	if key == dbKey {
		topic = "env_redis_db" // redis_db_invalid is what a server says
	}
	c.Keys = append(c.Keys, &KeySpec{Key: key, Type: t, Topic: topic, Purpose: "queue config", Policy: c.Policy})
}

// judgeGroups judges an environment by the built-in contract.
func (j *judge) judgeGroups() {
	c := j.contract
	j.readings = make(map[Key]*reading, len(c.Keys))
	for _, k := range c.Keys {
		spec := *k // the contract is shared, the worker's command is not
		spec.client = cmp.Or(k.client, clientOfCommand(j.args), Generic)
		j.readings[k.Key] = j.read(&spec)
	}
	for i, keys := range c.groups {
		if t, ok := j.judgeGroup(c.Waits[i], keys); ok {
			j.result.Targets = append(j.result.Targets, t)
		}
	}
	for _, k := range c.Keys {
		if r := j.readings[k.Key]; k.Secret && r.status == present {
			j.inArgs(r)
		}
	}
	j.takeFacts()
}

// judgeGroup takes the first of keys that is set. It is not ok when there is
// none, or one with a fault.
func (j *judge) judgeGroup(w WaitSpec, keys []Key) (Target, bool) {
	target := func(key Key, p RedisParts, ok bool) (Target, bool) {
		return Target{WaitSpec: w, Key: key, URL: Seal(p)}, ok
	}
	worker := cmp.Or(w.Client, clientOfCommand(j.args), Generic)
	for _, key := range keys {
		if provider := j.env.first[string(providerKey)]; provider != "" && key == beforeProvider(worker, keys) {
			// Sidekiq falls back to REDIS_URL where nothing has the name.
			if _, set := j.env.first[provider]; set || j.env.first[string(urlKey)] == "" || !ValidKey(strings.ToUpper(provider)) {
				w.Client = worker
				return target(j.provider(worker))
			}
			j.say(Diagnostic{Code: RedisMissing, Level: Warn, Keys: []Key{providerKey}, Purpose: "queue config", Fix: "set the variable that it names"})
		}
		r := j.readings[key]
		if r.status == unset && !r.repeated {
			continue
		}
		w.Client = r.spec.client
		if key == hostKey {
			return target(j.hostAndParts())
		}
		if len(keys) > 1 && otherBroker(r.text) && len(r.found) == 0 {
			j.say(Diagnostic{Code: BrokerNotRedis, Keys: []Key{key}})
			r.status, r.fault = unset, nil
			continue
		}
		return target(j.sayURL(r))
	}
	d := Diagnostic{Code: RedisMissing, Keys: keys, Purpose: "queue config"}
	for _, key := range keys {
		d.Near = cmp.Or(d.Near, j.nearName(key))
	}
	j.say(d)
	return Target{}, false
}

// sayReading says what is wrong with a key's value and reports whether that is
// nothing.
func (j *judge) sayReading(r *reading) bool {
	switch {
	case r.repeated:
		j.say(Diagnostic{Code: EnvDuplicateKey, Keys: []Key{r.spec.Key}})
	case r.stands == surely, r.stands == maybe && (r.spec.Key == hostKey || r.spec.Type == TypeRedis):
		j.say(Diagnostic{Code: EnvPlaceholderValue, Keys: []Key{r.from}})
		r.status = faulty
	default:
		for _, d := range slices.Concat(r.found, r.fault) {
			j.say(d)
		}
	}
	return r.status == present
}

// sayURL is sayReading for a URL. Sentinels have no master but by a contract,
// unless the URL names it.
func (j *judge) sayURL(r *reading) (Key, RedisParts, bool) {
	if !j.sayReading(r) {
		return r.from, RedisParts{}, false
	}
	p := r.value.redis.Reveal()
	if p.Sentinels != nil && p.Master == "" {
		d := r.spec.invalid(r.from, MasterMissing)
		d.Fix = "name the master in a contract, as in redis: {url: KEY, master: NAME}"
		j.say(d)
		return r.from, p, false
	}
	j.sayDoubt(r)
	return r.from, p, true
}

// beforeProvider is the key before which REDIS_PROVIDER is looked at: the first
// for Sidekiq, REDIS_URL in the list of well-known keys, else none.
func beforeProvider(client Client, keys []Key) Key {
	switch i := slices.Index(keys, urlKey); {
	case i < 0:
		return ""
	case client == Sidekiq:
		return keys[0]
	case client == Generic && i+1 < len(keys) && keys[i+1] == hostKey:
		return urlKey
	}
	return ""
}

// provider reads the key that REDIS_PROVIDER names. That name is a value: it is
// never said.
func (j *judge) provider(client Client) (Key, RedisParts, bool) {
	name := j.env.first[string(providerKey)]
	spec := &KeySpec{Key: providerKey, Type: TypeRedis, Topic: "redis", Policy: j.contract.Policy, rule: TypeRedis.rule(), client: client}
	r := &reading{spec: spec, from: providerKey}
	value := j.env.first[name]
	switch {
	case !ValidKey(strings.ToUpper(name)):
		d := spec.invalid(providerKey, NotAKey)
		d.Fix = "REDIS_PROVIDER holds the name of the variable that has the URL"
		j.say(d)
		return providerKey, RedisParts{}, false
	case value == "":
		j.say(Diagnostic{Code: RedisMissing, Keys: []Key{providerKey}, Purpose: "queue config", Fix: "set the variable that it names"})
		return providerKey, RedisParts{}, false
	}
	r.judge(value)
	return j.sayURL(r)
}

// hostAndParts reads a Redis by parts.
func (j *judge) hostAndParts() (_ Key, p RedisParts, ok bool) {
	host, port := j.readings[hostKey], j.readings[portKey]
	ok = j.sayReading(host)
	if ok {
		if reason := p.setHost(host.value.text); reason != "" {
			j.say(Diagnostic{Code: RedisParseFailed, Keys: []Key{host.from}, Reason: reason, Text: "the Redis host cannot be read"})
			ok = false
		}
	}
	for _, key := range [...]Key{portKey, userKey, passwordKey, dbKey} {
		r := j.readings[key]
		if r.status == unset {
			continue
		}
		if n := len(r.found); key == portKey && n > 0 && r.found[n-1].Code == EnvServiceLink {
			// Kubernetes sets it for a Service named redis.
			j.say(Diagnostic{Code: EnvServiceLink, Level: Warn, Keys: []Key{key}, Fix: "6379 is taken"})
			continue
		}
		ok = j.sayReading(r) && ok
	}
	if port.status == present {
		p.Port = port.value.text
	}
	p.User, p.Password = j.readings[userKey].value.text, j.readings[passwordKey].value.text
	if db := j.readings[dbKey]; db.status == present && p.setDB(db.value.text) != "" {
		j.say(db.spec.invalid(db.from, OutOfRange))
		ok = false
	}
	return hostKey, p, ok
}

// otherBroker reports whether v is a URL of a broker that Celery and the like
// take in the same variable as Redis.
func otherBroker(v string) bool {
	scheme, _, ok := strings.Cut(v, "://")
	if !ok {
		return false
	}
	switch strings.ToLower(scheme) {
	case "amqp", "amqps", "pyamqp", "librabbitmq", "sqs", "kafka", "confluentkafka", "memory", "filesystem", "mongodb", "gcpubsub", "azureservicebus":
		return true
	}
	return false
}
