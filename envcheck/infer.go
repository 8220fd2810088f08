package envcheck

import (
	"path"
	"strings"
)

// clientOfKey is the family whose workers read key, "" when any may.
func clientOfKey(key Key) Client {
	switch key {
	case "BULLMQ_REDIS_URL":
		return BullMQ
	case "RQ_REDIS_URL":
		return RQ
	case "CELERY_BROKER_URL":
		return Celery
	}
	return ""
}

// clientOfCommand is the family of a worker's command line, "" when it does not
// say. BullMQ and asynq are libraries, without a command of their own.
func clientOfCommand(args []string) Client {
	if len(args) == 0 {
		return ""
	}
	name, args := path.Base(args[0]), args[1:]
	switch {
	case name == "bundle" && len(args) > 1 && args[0] == "exec":
		name = path.Base(args[1])
	case strings.HasPrefix(name, "python") && len(args) > 1 && args[0] == "-m":
		name = args[1]
	}
	switch name {
	case "rq":
		return RQ
	case "celery":
		return Celery
	case "sidekiq":
		return Sidekiq
	}
	return ""
}

// giveClients says of each key that holds a Redis URL which family reads it:
// that of the waits for it, else of the waits for a key that it is a fallback
// of, else the one that all waits share. Where waits differ it is generic,
// which is what all of them read alike.
func (c *Contract) giveClients() {
	for _, k := range c.Keys {
		if k.Type != TypeRedis {
			continue
		}
		var own, fallback, all agreed
		for _, w := range c.Waits {
			if w.Kind != "redis" {
				continue
			}
			all.add(w.Client)
			if w.Redis.URL == k.Key {
				own.add(w.Client)
			} else if c.fallsBack(w.Redis.URL, k.Key) {
				fallback.add(w.Client)
			}
		}
		for _, a := range [...]agreed{own, fallback, all} {
			if a != "" {
				k.client = Client(a)
				break
			}
		}
	}
}

// fallsBack reports whether key has other among its fallbacks.
func (c *Contract) fallsBack(key, other Key) bool {
	for _, k := range c.Keys {
		if k.Key != key {
			continue
		}
		for _, f := range k.Fallback {
			if f == other {
				return true
			}
		}
	}
	return false
}

// agreed is the one client that was added, or generic when they differ.
type agreed Client

func (a *agreed) add(c Client) {
	switch *a {
	case "", agreed(c):
		*a = agreed(c)
	default:
		*a = agreed(Generic)
	}
}
