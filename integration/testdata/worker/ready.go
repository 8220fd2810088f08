package main

import (
	"bufio"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"
)

// ready says when it was started and asks the Redis of REDIS_URL, before
// anything else, whether it is ready: whether it answers PING and has loaded
// its data. It exits with 9 when it is not, with 8 when there is no answer.
func ready() int {
	fmt.Println("worker: started", time.Now().UTC().Format(time.RFC3339Nano))
	broker, err := url.Parse(os.Getenv("REDIS_URL"))
	if err != nil {
		fmt.Println("worker: no URL")
		return 8
	}
	conn, err := net.Dial("tcp", broker.Host)
	if err != nil {
		fmt.Println("worker: no connection")
		return 8
	}
	defer conn.Close()
	ask, want := "PING\r\nINFO persistence\r\n", []string{"+PONG", "loading:0"}
	if password, has := broker.User.Password(); has {
		ask, want = "AUTH "+password+"\r\n"+ask, append([]string{"+OK"}, want...)
	}
	fmt.Fprint(conn, ask)
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		switch line := lines.Text(); {
		case line == want[0]:
			if want = want[1:]; len(want) == 0 {
				fmt.Println("worker: ready")
				return 0
			}
		case line == "loading:1", line[:min(len(line), 1)] == "-":
			fmt.Println("worker: not ready:", line)
			return 9
		}
	}
	fmt.Println("worker: no answer")
	return 8
}
