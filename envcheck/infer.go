package envcheck

import (
	"cmp"
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
func (l *loader) giveClients() {
	var all Client
	own, fallback := map[Key]Client{}, map[Key]Client{}
	for _, w := range l.contract.Waits {
		if w.Kind == "redis" {
			own[w.Redis.URL] = agree(own[w.Redis.URL], w.Client)
			all = agree(all, w.Client)
		}
	}
	for _, k := range l.contract.Keys {
		if client := own[k.Key]; client != "" {
			for _, f := range k.Fallback {
				fallback[f] = agree(fallback[f], client)
			}
		}
	}
	for _, k := range l.contract.Keys {
		if k.Type == TypeRedis {
			k.client = cmp.Or(own[k.Key], fallback[k.Key], all)
		}
	}
}

// agree is the client of one more wait beside those before it, generic when it
// is another one.
func agree(before, c Client) Client {
	if before == "" || before == c {
		return c
	}
	return Generic
}
