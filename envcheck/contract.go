package envcheck

import (
	"math/big"
	"regexp"
)

// A Contract declares what a worker needs of its environment. [Load] reads one
// from a file, [Builtin] is the one without a file, [Contract.Check] judges an
// environment by it. It is not changed after it was made, so that goroutines
// may share it.
type Contract struct {
	Name       Word
	Doc        string
	Policy     Policy
	Owns       []string // globs of the names that the contract claims
	Conditions []Condition
	SkipWhen   *Expr // nil: the contract always applies
	SkipKey    Key   // named by the diagnostic then; "" for those in SkipWhen
	SkipCode   Code
	SkipExits  bool // the gate exits 0 then, instead of becoming the worker
	Keys       []*KeySpec
	Rules      []*Rule
	Waits      []WaitSpec
	Settings   []SettingKey
	Queues     []string // names that a queue inspection may print
	Health     Health

	groups [][]Key // of the built-in contract: each is one wait
}

// A Condition is a named expression.
type Condition struct {
	Name string
	Expr *Expr
}

// A Policy says what counts as a fault in every key that does not say it
// itself. The zero value is the default.
type Policy struct {
	Empty        Handling // of an empty value; AsUnset unless said
	Whitespace   Handling // around a value; AsError unless said
	Placeholders Handling // AsError unless said: for required and secret keys, else a warning
	References   Handling // that nothing has expanded; AsError unless said
	Quotes       Handling // around a value; AsError unless said
	Duplicates   Handling // of a name with two values; AsError unless said
	Unknown      Handling // of an owned name that is not declared; AsWarn unless said
	AnySpelling  bool     // of a bool: Python's True, yes, on
	NoReasons    bool     // diagnostics have no reason, since one says a little of a value
}

// Handling says what happens about something.
type Handling Word

// The handlings. A policy takes only some of them for each of its fields.
const (
	AsUnset  Handling = "unset" // the same as no value
	AsError  Handling = "error"
	AsWarn   Handling = "warn"
	Trim     Handling = "trim" // judged without it
	Keep     Handling = "keep" // a value like others
	NotAtAll Handling = "off"
	Retry    Handling = "retry" // of a full Redis: not ready
)

// A KeySpec declares one environment variable.
type KeySpec struct {
	Key             Key
	Type            Type
	Required        *Expr // nil: never
	Forbidden       *Expr // nil: never
	ForbiddenLevel  Level
	Fallback        []Key // tried in order when Key is unset
	FallbackWhen    *Expr // nil: always permitted
	Default         *string
	Enum            []string
	Min, Max        *big.Rat // of a number; of a duration in seconds
	MinLen          int      // in characters
	Pattern         *regexp.Regexp
	Export          bool
	AnySpelling     bool // of a bool
	Secret          bool
	File            bool // KEY_FILE is taken
	Expose          bool // facts show the value, re-rendered
	Topic           Code // stem of the codes about the key
	Purpose         Word
	Use             Key // deprecated in favour of it
	DeprecatedLevel Level
	Policy          Policy // the contract's, with the key's own
	Doc, DocWhen    string

	rule         *typeRule
	client       Client // whose dialect reads a redis_url; "" is generic
	preset       value  // Default, read
	fallbackOnly bool   // nothing but fallbacks names it: its faults count when it is taken
	said         saidKey
}

// saidKey is what the file says of a key where the rest depends on it.
type saidKey struct {
	secret, file    *bool
	min, max, topic string
}

// A Rule relates keys to each other.
type Rule struct {
	Code   Code
	Level  Level
	When   *Expr // nil: always
	Kind   Word
	Keys   []Key
	Ignore []string // parts that the kind aligned does not compare
	Assert *Expr
	Fix    Word
	Doc    string

	kind *ruleKind
}

// A WaitSpec declares something that must be ready before the worker starts.
type WaitSpec struct {
	Name      Word
	Kind      Word  // redis, postgres, http or tcp
	When      *Expr // nil: always
	Redis     RedisKeys
	Address   Key // of postgres, http and tcp
	Client    Client
	Require   Require
	Checks    []Check  // that Redis must pass
	Prefer    []Check  // that are only warned about
	KeyPrefix string   // where the no-effect write test may look
	OOM       Handling // of a full Redis: "" is the family's, else retry or warn
	Topology  Word     // standalone, sentinel or cluster
	TLS       TLSKeys
	Path      string    // of http: "" is the URL's own
	Status    []int     // of http: those that are ready; none is any 2xx
	Header    HeaderKey // of http
}

// HeaderKey is a header of an HTTP request whose value a key holds.
type HeaderKey struct {
	Name string
	Key  Key
}

// RedisKeys are the keys that name a Redis: one URL, with user and password in
// keys of their own where the URL has none, or parts, or Sentinels.
type RedisKeys struct {
	URL, User, Password Key
	Host, Port, DB, TLS Key
	Sentinels           Key
	Master              string // the name that Sentinels know the master by
}

// TLSKeys say how a wait verifies its server.
type TLSKeys struct {
	CA         Key // path of a file of trusted authorities
	ServerName Key
	Verify     TLSVerify // "" for what the gate is set to
}

// A SettingKey is a key of the worker that steers the gate.
type SettingKey struct {
	Setting Word // as in STARTGATE_*, in lower case
	Key     Key
}

// Health says what the gate's health command asks of a running worker.
type Health struct {
	Listen, Revision Key
	Redis            bool     // Redis must be ready too
	Heartbeats       []Client // of the families that keep one in Redis
	HeartbeatFile    Key      // path of a file that the worker touches
	MaxAge           *big.Rat // of a heartbeat, in seconds; nil is the family's
	HTTP             *HTTPCheck
}

// HTTPCheck is a path of the worker that must be answered with a 2xx, at a
// port of this machine.
type HTTPCheck struct {
	Port   Key
	Number int // of the port, where no key has it
	Path   string
}

// Client is a family of Redis clients: whose URL dialect and needs apply.
type Client Word

// Generic takes what redis-py, ioredis, redis-client and go-redis read alike.
const Generic Client = "generic"

// The families of workers.
const (
	RQ      Client = "rq"
	Celery  Client = "celery"
	Sidekiq Client = "sidekiq"
	BullMQ  Client = "bullmq"
	Asynq   Client = "asynq"
)

// Require says what Redis must be able to do before it counts as ready.
type Require Word

// The levels of readiness; each includes the ones before it.
const (
	RequireReachable Require = "reachable" // answers anything; credentials and database are not judged
	RequirePing      Require = "ping"      // answers, and has loaded its data set
	RequireWrite     Require = "write"     // would accept a queue's writes
)

// A Check is something of a Redis that may matter beside its readiness.
type Check struct {
	NoEviction  bool
	Persistence bool   // it last managed to save
	Version     string // at least this one
}
