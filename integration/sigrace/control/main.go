// Control does what the gate does, as everybody writes it: Notify, select,
// Exec. It is what sigrace compares the gate with, and no example to follow.
package main

import (
	"bufio"
	"net"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)

	ready := make(chan struct{})
	go func() {
		for !pong(os.Getenv("REDIS_ADDRESS")) {
		}
		close(ready)
	}()
	select {
	case <-stop:
		os.Exit(128 + int(syscall.SIGTERM))
	case <-ready:
	}
	syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	os.Exit(126)
}

// pong reports whether a Redis answers.
func pong(address string) bool {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	defer c.Close()
	if _, err := c.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	return err == nil && line == "+PONG\r\n"
}
