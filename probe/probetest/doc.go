// Package probetest is a scripted Redis for tests: a server that speaks RESP
// on a real socket and is, on demand, healthy, loading, full, read-only,
// silent, slow, or not Redis at all.
//
// Start with [New] in a test, or with [Start] in a program:
//
//	s := probetest.New(t, probetest.Behaviour{Loading: &probetest.Loading{Percent: 61}})
//	go client(s.URL())
//	<-s.Await(probetest.Commands("PING", 3)) // the third PING has arrived
//	s.Set(probetest.Behaviour{})             // the data set is loaded
//
// A [Behaviour] says what the server does and can be replaced while clients
// are connected. [Server.Traffic] and [Server.Sessions] say what clients did,
// so that a test can assert "one connection, one write"; [Server.Await] lets
// it wait for such a fact instead of sleeping. [CA] issues certificates.
//
// Answers, their texts and the order of checks are those of Redis 7.0.15. The
// data set is empty and stays empty: reads find nothing, and the few writes
// that are known are those that change nothing on an empty server, such as
// LPUSHX. Whatever else a test needs is scripted with [Behaviour.Replies].
//
// The server does not store, replicate, expire or publish anything. It imports
// the standard library only, keeps no global state, and remembers names and
// numbers of commands, never their arguments. It is no stand-in for Redis in
// production.
package probetest
