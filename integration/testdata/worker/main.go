// Worker is what the gate becomes in the tests. It says what it finds, so that
// a test can tell what has come through execve and when it has happened.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

func main() {
	switch os.Args[1] {
	case "loading":
		if code := loading(os.Args[2]); code != 0 || len(os.Args) == 3 {
			os.Exit(code)
		}
		awaitSignal()
	case "ready":
		if code := ready(); code != 0 || len(os.Args) == 2 {
			os.Exit(code)
		}
		awaitSignal()
	case "report":
		report()
	case "exit":
		code, _ := strconv.Atoi(os.Args[2])
		os.Exit(code)
	case "signal":
		awaitSignal()
	}
}

// loading asks the Redis at addr, before anything else, whether it is loading:
// it exits with 9 when it is, with 8 when there is no answer.
func loading(addr string) int {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		fmt.Println("worker: no connection")
		return 8
	}
	fmt.Fprint(conn, "INFO persistence\r\nLPUSHX no-such-key x\r\n")
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		switch line := lines.Text(); {
		case line == "loading:1", strings.HasPrefix(line, "-"):
			fmt.Println("worker:", line)
			return 9
		case line == ":0": // the answer to the write
			fmt.Println("worker: loaded")
			return 0
		}
	}
	fmt.Println("worker: no answer")
	return 8
}

// A Report is what a worker sees of itself. Its twin is in report_test.go.
type Report struct {
	PID     int
	Args    []string
	Environ []byte         // as the kernel has it
	Files   map[int]string // open descriptors
}

func report() {
	// Found by asking for each: to list /proc/self/fd would open one.
	files := map[int]string{}
	for fd := range 256 {
		if target, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil {
			files[fd] = target
		}
	}
	environ, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		panic(err)
	}
	json.NewEncoder(os.Stdout).Encode(Report{os.Getpid(), os.Args, environ, files})
}

// awaitSignal exits with 40 and the number of the first signal that comes.
func awaitSignal() {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	fmt.Println("worker: ready for signals")
	os.Exit(40 + int((<-ch).(syscall.Signal)))
}
