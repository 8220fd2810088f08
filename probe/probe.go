// Package probe finds out whether what a worker needs is ready.
//
// A [Prober] makes one attempt and judges it; [Wait] repeats attempts inside
// one budget until the answer is final. [NewRedis] is the prober for Redis.
// Nothing that a prober returns holds a value of the environment or a text of
// the peer: an [Outcome] is a code of package envcheck and closed facts.
//
// The package neither prints nor exits, and keeps no state between waits.
package probe

import (
	"context"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// Verdict says what an attempt means for the worker's start.
type Verdict uint8

const (
	// Retry: not ready, and waiting may cure it.
	Retry Verdict = iota
	// Ready: the worker may start.
	Ready
	// Refuse: not ready, and waiting cannot cure it.
	Refuse
)

// An Outcome is the result of one attempt.
type Outcome struct {
	Verdict  Verdict
	Code     envcheck.Code   // why, or [envcheck.Ready]
	Warnings []envcheck.Code // of a server that is ready all the same
	Facts    Facts

	// Loading tells how far a loading server is.
	Loading Progress
	// Clients is the number of clients the server counts, 0 when unknown.
	Clients int
	// Connected reports whether a connection to the peer came about.
	Connected bool
	// Cut reports that the budget ended the attempt before the peer could
	// answer, so that the attempt says nothing about the peer.
	Cut bool
}

// Progress is what a loading server says of itself. Its estimate is a hint:
// Redis says 0 s at 88 % of a load.
type Progress struct {
	Known   bool
	Percent int           // 0 to 100
	ETA     time.Duration // 0 when the server has none
}

// Facts say about an address what is no value, each a word of a fixed list.
type Facts struct {
	Address  envcheck.Word // loopback, private, public, socket or unresolved
	TLS      envcheck.Word // yes or no
	Roots    envcheck.Word // that TLS trusts: file, system or embedded, "" for none
	Password envcheck.Word // set or empty
	Port     envcheck.Word // default or other
}

// A Prober makes attempts at one thing that must be ready.
type Prober interface {
	// Probe makes one attempt. It may keep a connection for the next one. It
	// honours ctx's deadline, but not always its cancellation.
	Probe(ctx context.Context) Outcome
	// Close drops the connection, if there is one. Probe can be called again.
	Close()
}
