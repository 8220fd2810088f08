package probe

import (
	"cmp"

	"github.com/startgate/startgate/envcheck"
)

// family is what workers of one kind need of a Redis beside its being ready.
type family struct {
	client     envcheck.Client
	atLeast    string           // refuses to work with an older one
	wants      []envcheck.Check // warns about by itself, or should
	scripts    bool             // cannot work without EVAL
	standalone bool             // cannot work on a Redis Cluster
	drains     bool             // empties a full Redis
	plainAuth  bool             // is refused with a password where there is none
}

// families are the ones with needs of their own.
//
// Sidekiq 7 refuses a Redis before 6.2, BullMQ 5 one before 5.0; both want that
// nothing is evicted. RQ may use redis-py 8, which speaks RESP3 unless told
// otherwise, and so wants HELLO. Celery 5 sends AUTH alone.
//
// Workers with queued jobs were started on a full Redis: Sidekiq 6.4 and 7.3
// emptied their queues, RQ 1.13 and 2.3 and Celery 5.2 and 5.5 ended at once,
// asynq 0.26 ran and took nothing.
var families = [...]family{
	{client: envcheck.RQ, wants: []envcheck.Check{{Version: "6.0"}}, standalone: true},
	{client: envcheck.Celery, standalone: true, plainAuth: true},
	{client: envcheck.Sidekiq, atLeast: "6.2", wants: []envcheck.Check{{NoEviction: true}}, scripts: true, standalone: true, drains: true},
	{client: envcheck.BullMQ, atLeast: "5.0", wants: []envcheck.Check{{NoEviction: true}, {Version: "6.2"}}, scripts: true},
	{client: envcheck.Asynq, scripts: true},
}

func familyOf(client envcheck.Client) family {
	for _, f := range families {
		if f.client == client {
			return f
		}
	}
	return family{}
}

// oom is what a full Redis means: not ready, unless the worker is the one that
// empties it.
func (o RedisOptions) oom() envcheck.Handling {
	byFamily := envcheck.Retry
	if familyOf(o.Client).drains {
		byFamily = envcheck.AsWarn
	}
	return cmp.Or(o.OOM, byFamily)
}
