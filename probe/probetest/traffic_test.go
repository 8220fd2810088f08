package probetest_test

import (
	"context"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/startgate/startgate/probe/probetest"
)

func TestOneWriteIsOneBatch(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{})
	c := dial(t, s)
	c.send(request("HELLO", "2", "AUTH", "default", "secret") + request("ping") + request("LPUSHX", "k", "v"))
	for range 3 {
		c.reply()
	}
	want := probetest.Session{Open: true, Batches: 1, Commands: []probetest.Command{{"HELLO", 4}, {"PING", 0}, {"LPUSHX", 2}}}
	if got := s.Sessions()[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	c.ask("PING")
	check(t, "batches after one more", s.Sessions()[0].Batches, 2)
}

func TestCommandInPiecesIsOneBatch(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{})
	c := dial(t, s)
	whole := request("ECHO", "piece")
	c.send(whole[:20])
	wait(t, s, func(t probetest.Traffic) bool { return t.Batches == 1 }) // the first piece has been read
	c.send(whole[20:])
	check(t, "answer", c.reply(), "$5\r\npiece\r\n")
	check(t, "batches", s.Traffic().Batches, 1)
}

func TestAwait(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{})
	third := s.Await(probetest.Commands("ping", 3))
	both := s.Await(probetest.Connections(2))
	gone := s.Await(probetest.Disconnected(1))
	c := dial(t, s)
	c.ask("PING")
	c.ask("PING")
	select {
	case <-third:
		t.Error("met after two commands")
	case <-both:
		t.Error("met after one connection")
	case <-gone:
		t.Error("met while the connection is open")
	default:
	}
	c.ask("PING")
	<-third
	dial(t, s)
	<-both
	c.Close()
	<-gone
	<-s.Await(probetest.Connections(2)) // holds already

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Wait(ctx, probetest.Commands("PING", 4))
	check(t, "Wait", err.Error(), "probetest: context canceled after 2 connections, 1 of them open, and commands map[PING:3]")
}

func TestMemoryOfTrafficIsBounded(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{})
	c := dial(t, s)
	const n = 70_000
	var sending sync.WaitGroup
	sending.Go(func() { c.send(strings.Repeat("PING\n", n)) })
	for range n {
		c.reply()
	}
	sending.Wait()
	check(t, "counted", s.Traffic().Commands["PING"], n)
	check(t, "kept", len(s.Sessions()[0].Commands), 65536)
	c.ask(strings.Repeat("n", 1000))
	check(t, "a long name", s.Traffic().Commands[strings.Repeat("N", 64)], 1)
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	s := probetest.New(t, probetest.Behaviour{Replies: map[string]probetest.Reply{
		"INFO":   probetest.Endless("+"),
		"LPUSHX": probetest.Never(),
	}})
	idle := dial(t, s)
	idle.ask("PING")
	dial(t, s).send(request("LPUSHX", "k", "v"))
	dial(t, s).send(request("INFO")) // nobody reads the answer
	dial(t, s).send("*1\r\n$4\r\nPI")
	wait(t, s, func(t probetest.Traffic) bool { return t.Batches == 4 && t.Commands["INFO"] == 1 })

	config, err := newCA(t).ServerConfig("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range []probetest.Behaviour{
		{TLS: config}, // a handshake that does not come
		{Accept: probetest.AcceptSilent},
		{ByteInterval: 1 << 40},
		{Loading: &probetest.Loading{Window: 1 << 40}},
	} {
		s.Set(b)
		dial(t, s).send("PING\n")
		wait(t, s, probetest.Connections(5+i))
	}
	s.Close()
	s.Close()

	stack := make([]byte, 1<<20)
	stack = stack[:runtime.Stack(stack, true)]
	for line := range strings.Lines(string(stack)) {
		if strings.Contains(line, "/probetest.(*") && !strings.HasPrefix(line, "created by") {
			t.Errorf("still running: %s", line)
		}
	}
	check(t, "open connections", s.Traffic().Open, 0)
}
