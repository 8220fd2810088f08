package envcheck

import "strings"

// A Target is a wait that the environment gives an address to.
type Target struct {
	WaitSpec
	Key Key // the key that was taken
	URL RedisURL
}

// A Result is what an environment says to a contract: every diagnostic, in
// contract order, and the waits whose key is good.
type Result struct {
	Diagnostics []Diagnostic
	Targets     []Target
}

// OK reports whether the environment meets the contract.
func (r Result) OK() bool {
	for _, d := range r.Diagnostics {
		if d.Severity() == Error {
			return false
		}
	}
	return true
}

// Check judges env by the contract. It looks nothing up and connects nowhere.
func (c *Contract) Check(env Environ) Result {
	var r Result
	urls := make([]Target, len(c.Keys))
	for i, spec := range c.Keys {
		urls[i] = r.checkKey(spec, env)
	}
	for _, w := range c.Waits {
		for i, spec := range c.Keys {
			if spec.Key == w.Redis && urls[i].Key != "" {
				urls[i].WaitSpec = w
				r.Targets = append(r.Targets, urls[i])
			}
		}
	}
	return r
}

// checkKey takes the first of the key and its fallbacks that is set and reads
// it. The target it returns has no key when there is a fault.
func (r *Result) checkKey(spec KeySpec, env Environ) Target {
	tried := append([]Key{spec.Key}, spec.Fallback...)
	for _, key := range tried {
		secret, set := env.Lookup(key)
		if !set {
			continue
		}
		value := secret.Reveal()
		if code, reason := hygiene(value); code != "" {
			r.add(Diagnostic{Code: code, Keys: []Key{key}, Reason: reason})
			return Target{}
		}
		if len(tried) > 1 && otherBroker(value) {
			r.add(Diagnostic{Code: BrokerNotRedis, Keys: []Key{key}})
			continue
		}
		url, reason := ParseRedisURL(value)
		if reason != "" {
			code := Code(spec.Topic + "_parse_failed")
			r.add(Diagnostic{Code: code, Keys: []Key{key}, Reason: reason})
			return Target{}
		}
		return Target{Key: key, URL: url}
	}
	r.add(Diagnostic{Code: Code(spec.Topic + "_missing"), Keys: tried, Purpose: spec.Purpose})
	return Target{}
}

func (r *Result) add(d Diagnostic) { r.Diagnostics = append(r.Diagnostics, d) }

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
