package probetest

import (
	"cmp"
	"crypto/tls"
	"maps"
	"time"
)

// A Behaviour says what a [Server] does. The zero value is a healthy Redis
// 7.0.15, standalone, without a password. Fields combine as the conditions of a
// real server do: the first check that fails, in Redis's own order, answers.
type Behaviour struct {
	// What a new connection meets. Open connections keep what they met.

	Accept     Accept      // after Banner; zero is AcceptServe
	Banner     string      // sent in clear at once, before any TLS handshake
	MaxClients int         // connections beyond it are turned away as Redis does; 0 is 10000
	TLS        *tls.Config // for the server's side; nil is plain TCP. See [CA.ServerConfig]

	// Credentials. As in Redis, a connection that was accepted while there was
	// no password stays authenticated when one is set.

	Password string            // of the user "default"; empty is none configured
	Users    map[string]string // passwords of further users, all with every right

	// The state of the server.

	Mode       Mode              // zero is Standalone
	Version    string            // of HELLO and INFO; empty is 7.0.15. It changes no behaviour
	Databases  int               // 0 is 16
	Masters    map[string]string // in mode Sentinel: host:port by master name
	Loading    *Loading          // nil is not loading
	Busy       bool              // a script runs for too long: almost everything gets BUSY
	OOM        bool              // memory is full, policy noeviction: writes get OOM
	Misconf    bool              // snapshots fail: writes, and PING, get MISCONF
	NoReplicas bool              // too few replicas are connected: writes get NOREPLICAS
	Replica    bool              // a read-only replica with its link up: writes get READONLY
	MasterDown bool              // a replica with its link down that serves no stale data; implies Replica
	WritePause bool              // a write is never answered, nor is what follows it on that connection

	// Exceptions from all of the above.

	// Info replaces the values of INFO fields, by name. A field that no section
	// has is appended to every reply to INFO.
	Info map[string]string

	// Replies takes precedence over the server's own answers and checks. The
	// key is a command in capitals, "PING", or with its first argument,
	// "INFO PERSISTENCE"; "*" stands for every command without an entry.
	Replies map[string]Reply

	// ByteInterval, when not zero, is the pause before every single byte sent.
	ByteInterval time.Duration

	// OnCommand, when not nil, is called before a command is answered, with the
	// number of its connection (from 0, in order of acceptance). It may call
	// [Server.Set], which then decides this answer, but neither [Server.Down]
	// nor [Server.Close], which would wait for it. Calls for different
	// connections can overlap.
	OnCommand func(connection int, c Command)
}

// Accept is what happens to a new connection.
type Accept int

const (
	AcceptServe  Accept = iota // shake hands if TLS is configured, then answer commands
	AcceptSilent               // read everything, answer nothing, not even a TLS handshake
	AcceptClose                // close at once; the client reads the end of the stream
	AcceptReset                // close with a RST; the client gets "connection reset"
)

// Mode is what HELLO and INFO call the mode of the server.
type Mode string

const (
	Standalone Mode = "standalone"
	Cluster    Mode = "cluster"  // one node that owns all slots
	Sentinel   Mode = "sentinel" // knows a sentinel's commands only; see Behaviour.Masters
)

// Loading is the state of a server that still loads its data set.
type Loading struct {
	Percent float64       // loading_loaded_perc, 0 to 100
	ETA     time.Duration // loading_eta_seconds; the fraction of a second is dropped
	Total   int64         // loading_total_bytes; 0 is 1 GiB
	Start   time.Time     // loading_start_time; zero is a minute ago

	// End, when set, is the moment from which the server is ready. Percent and
	// ETA then follow the clock between Start and End.
	End time.Time

	// Async is a replica that goes on to serve its old data meanwhile:
	// loading is 0, async_loading is 1, PING says PONG, writes get READONLY.
	Async bool

	// Window, when set, is the time between the moments at which the loader
	// stops to answer clients: an answer waits for the next one.
	Window time.Duration
}

// LoadFor returns the state of a server that begins to load now and is ready
// after d.
func LoadFor(d time.Duration) *Loading {
	now := time.Now()
	return &Loading{Start: now, End: now.Add(d)}
}

// clone lets the caller go on changing what it has given to, or got from, a
// Server.
func (b Behaviour) clone() Behaviour {
	b.Users = maps.Clone(b.Users)
	b.Masters = maps.Clone(b.Masters)
	b.Info = maps.Clone(b.Info)
	b.Replies = maps.Clone(b.Replies)
	if b.Loading != nil {
		l := *b.Loading
		b.Loading = &l
	}
	return b
}

// loading returns the load in progress, nil when there is none (any more).
func (b *Behaviour) loading() *Loading {
	l := b.Loading
	if l == nil || !l.End.IsZero() && !time.Now().Before(l.End) {
		return nil
	}
	return l
}

func (b *Behaviour) replica() bool {
	return b.Replica || b.MasterDown || b.Loading != nil && b.Loading.Async && b.loading() != nil
}

func (b *Behaviour) mode() Mode      { return cmp.Or(b.Mode, Standalone) }
func (b *Behaviour) version() string { return cmp.Or(b.Version, "7.0.15") }
func (b *Behaviour) databases() int  { return cmp.Or(b.Databases, 16) }
func (b *Behaviour) maxClients() int { return cmp.Or(b.MaxClients, 10000) }
