package envcheck

import "strings"

// A dialect is in what one family's client differs from the others when it
// reads a URL. Everything else is the parser's.
type dialect struct {
	client  Client
	schemes []scheme

	bareHost, barePath bool // HOST, HOST:PORT, //HOST and /PATH, unix:/PATH
	rawSocket          bool // all that follows unix: is the path
	lists              bool // URLs with ; between
	needsPort          bool // there is no default port
	plainInCapitals    bool // some client speaks no TLS for Rediss://
	lax                bool // without parameters TLS is not verified
	guarded            bool // the password is that of the Sentinels

	// literal reports whether a character of user and password may stand for
	// itself.
	literal func(rune) bool
	// login reads user and password. Without a colon there is only a user.
	login func(p *RedisParts, user, password string, colon bool) Reason
	// number is a path's database number without what the client skips.
	number func(path string) string
	// param reads a parameter of the query.
	param func(p *RedisParts, q param) Reason
}

type scheme struct {
	name string // in lower case
	form form
}

// form is the kind of place that a URL leads to.
type form uint8

const (
	tcpForm form = iota
	tlsForm
	socketForm
	sentinelForm
)

// dialects has Generic first.
var dialects = [...]dialect{
	{
		client:          Generic,
		schemes:         []scheme{{"redis", tcpForm}, {"rediss", tlsForm}},
		plainInCapitals: true,
		literal:         literalInURI, login: genericLogin, number: afterSlash, param: genericParam,
	},
	{
		client:  RQ,
		schemes: []scheme{{"redis", tcpForm}, {"rediss", tlsForm}, {"unix", socketForm}},
		literal: literalInPython, login: pythonLogin, number: betweenSlashes, param: rqParam,
	},
	{
		client:  Celery,
		schemes: []scheme{{"redis", tcpForm}, {"rediss", tlsForm}, {"redis+socket", socketForm}, {"sentinel", sentinelForm}},
		lists:   true, lax: true,
		literal: literalInPython, login: pythonLogin, number: afterSlashes, param: celeryParam,
	},
	{
		client:   Sidekiq,
		schemes:  []scheme{{"redis", tcpForm}, {"rediss", tlsForm}, {"unix", socketForm}},
		barePath: true,
		literal:  literalInURI, login: sidekiqLogin, number: afterSlash, param: sidekiqParam,
	},
	{
		client:   BullMQ,
		schemes:  []scheme{{"redis", tcpForm}, {"rediss", tlsForm}, {"unix", socketForm}},
		bareHost: true, barePath: true, rawSocket: true, plainInCapitals: true,
		literal: literalInNode, login: bullmqLogin, number: beforeSlash, param: bullmqParam,
	},
	{
		client:    Asynq,
		schemes:   []scheme{{"redis", tcpForm}, {"rediss", tlsForm}, {"redis-socket", socketForm}, {"redis-sentinel", sentinelForm}},
		needsPort: true, guarded: true,
		literal: literalInGo, login: asynqLogin, number: firstSegment, param: asynqParam,
	},
}

func dialectOf(c Client) *dialect {
	for i := range dialects {
		if dialects[i].client == c {
			return &dialects[i]
		}
	}
	return &dialects[0]
}

// Clients lists the families, generic first.
func Clients() []Client {
	clients := make([]Client, len(dialects))
	for i := range dialects {
		clients[i] = dialects[i].client
	}
	return clients
}

// What follows reads /9 from the path of a URL. Each skips only what its client
// skips, so that what is left of anything else is no number.

// afterSlash is the rule, and what redis-client does.
func afterSlash(path string) string { return strings.TrimPrefix(path, "/") }

// afterSlashes: kombu takes //9 too.
func afterSlashes(path string) string { return afterSlash(afterSlash(path)) }

// betweenSlashes: redis-py removes every slash. That makes 91 of /9/1, which is
// left alone here.
func betweenSlashes(path string) string { return strings.Trim(path, "/") }

// beforeSlash: ioredis reads the digits in front, and // is not a number.
func beforeSlash(path string) string {
	path = afterSlash(path)
	if s := strings.TrimRight(path, "/"); s != "" {
		return s
	}
	return path
}

// firstSegment: asynq fails at / without a number.
func firstSegment(path string) string {
	if s := strings.Trim(path, "/"); s != "" {
		return s
	}
	return path
}
