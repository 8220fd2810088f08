package probetest_test

import (
	"bufio"
	"fmt"
	"net"

	"github.com/startgate/startgate/probe/probetest"
)

// A Redis that loads its data set, until the test says that it has.
func Example() {
	s, err := probetest.Start(probetest.Behaviour{Loading: &probetest.Loading{Percent: 61}})
	if err != nil {
		panic(err)
	}
	defer s.Close()

	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		panic(err)
	}
	defer c.Close()
	answers := bufio.NewScanner(c)
	ping := func() {
		fmt.Fprint(c, "PING\r\n")
		answers.Scan()
		fmt.Println(answers.Text())
	}

	ping()
	s.Set(probetest.Behaviour{})
	ping()

	t := s.Traffic()
	fmt.Println(t.Accepted, "connection,", t.Commands["PING"], "times PING")
	// Output:
	// -LOADING Redis is loading the dataset in memory
	// +PONG
	// 1 connection, 2 times PING
}

// A password that a client shows to a server too old for HELLO comes back in
// an error text, here with bytes that a terminal obeys.
func ExampleEcho() {
	s, err := probetest.Start(probetest.Behaviour{Replies: map[string]probetest.Reply{
		"HELLO": probetest.Echo(probetest.TerminalEscapes),
	}})
	if err != nil {
		panic(err)
	}
	defer s.Close()

	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		panic(err)
	}
	defer c.Close()
	fmt.Fprint(c, "HELLO 2 AUTH default s3cret\r\n")
	answer, _ := bufio.NewReader(c).ReadString('\n')
	fmt.Printf("%q\n", answer[len(answer)-27:])
	// Output:
	// "from a peer\a\x1b[31ms3cret' \r\n"
}
