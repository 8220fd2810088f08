package compose

import (
	"slices"

	"github.com/startgate/startgate/envcheck"
)

// brokerImages are repositories of servers that speak Redis's protocol.
var brokerImages = []string{
	"redis", "redis-stack", "redis-stack-server", "valkey", "keydb", "dragonfly", "redis-alpine", "eqalpha-keydb",
}

// workerCommand is how a worker of a family is started: words that stand one
// behind the other in its command line, with others between them.
type workerCommand struct {
	words     []string
	client    envcheck.Client
	scheduler bool
}

// workerCommands are the command lines by which workers are known. Those of
// bullmq and asynq have none of their own.
var workerCommands = []workerCommand{
	{words: []string{"rq", "worker"}, client: envcheck.RQ},
	{words: []string{"rq", "worker-pool"}, client: envcheck.RQ},
	{words: []string{"rqworker"}, client: envcheck.RQ},
	{words: []string{"rqscheduler"}, client: envcheck.RQ, scheduler: true},
	{words: []string{"celery", "worker"}, client: envcheck.Celery},
	{words: []string{"celery", "beat"}, client: envcheck.Celery, scheduler: true},
	{words: []string{"sidekiq"}, client: envcheck.Sidekiq},
	{words: []string{"resque:work"}, client: envcheck.Generic},
	{words: []string{"resque:workers"}, client: envcheck.Generic},
	{words: []string{"resque:scheduler"}, client: envcheck.Generic, scheduler: true},
	{words: []string{"artisan", "horizon"}, client: envcheck.Generic},
	{words: []string{"artisan", "queue:work"}, client: envcheck.Generic},
	{words: []string{"dramatiq"}, client: envcheck.Generic},
}

// familyKeys are variables that only a worker of a family, or what enqueues
// for it, has. They tell the family of a worker, not that it is one.
var familyKeys = []struct {
	key    string
	client envcheck.Client
}{
	{"BULLMQ_REDIS_URL", envcheck.BullMQ}, {"RQ_REDIS_URL", envcheck.RQ}, {"CELERY_BROKER_URL", envcheck.Celery},
	{"ASYNQ_REDIS_URL", envcheck.Asynq}, {"REDIS_PROVIDER", envcheck.Sidekiq},
}

// discover tells what the service is: as configured, or else by its image, its
// command line and its keys.
func (v *service) discover() {
	v.client = envcheck.Generic
	args, _ := v.argv()
	all := words(args)
	switch {
	case startsServer(all), slices.Contains(brokerImages, v.repository()) && !runsBeside(all):
		v.role = broker
	default:
		v.role = other
	}
	for _, w := range workerCommands {
		if startsWith(all, w.words) {
			v.role, v.client, v.scheduler = worker, w.client, w.scheduler
			break
		}
	}
	if call, ok := gateIn(args); v.role == other && ok && call.startsWorker() {
		v.role = worker
	}
	if v.client == envcheck.Generic {
		for _, f := range familyKeys {
			if v.variables[f.key] != nil {
				v.client = f.client
				break
			}
		}
	}
	if v.config.Role != "" {
		v.role = role(v.config.Role)
	}
	if v.config.Client != "" {
		v.client = envcheck.Client(v.config.Client)
	}
}

// startsServer reports whether a command line starts a Redis.
func startsServer(args []string) bool {
	return !slices.Contains(args, "--sentinel") && slices.ContainsFunc(args, isServer)
}

// isServer reports whether an argument names a Redis's program.
func isServer(arg string) bool {
	return slices.Contains([]string{"redis-server", "valkey-server", "keydb-server"}, program(arg))
}

// runsBeside reports whether a command line starts what a broker's image has
// beside the server: a client, or a sentinel.
func runsBeside(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		p := program(arg)
		return slices.Contains(clientNames, p) || p == "redis-sentinel" || p == "valkey-sentinel" || arg == "--sentinel"
	})
}

// startsWorker reports whether the gate is called as for a worker, and not for
// one of its other commands.
func (g gateCall) startsWorker() bool {
	return g.verb == "run" && (g.dashes || len(g.flags) > 0 || len(g.rest) > 0)
}

// startsWith reports whether the words stand in args in their order. The first
// one is a program's name, or a word of its own. Celery's application may be
// called as one.
func startsWith(args, want []string) bool {
	i := 0
	for n, arg := range args {
		app := n > 0 && (args[n-1] == "-A" || args[n-1] == "--app")
		if i < len(want) && !app && (arg == want[i] || i == 0 && program(arg) == want[i]) {
			i++
		}
	}
	return i == len(want)
}
