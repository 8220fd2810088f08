// Package resp is the little that a measurement needs to talk to Redis behind
// the gate's back: one command, one answer. It shares no code with the gate.
package resp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Conn is a connection to Redis.
type Conn struct {
	conn net.Conn
	r    *bufio.Reader
	w    *bufio.Writer
}

// Dial connects to addr, and logs in when there is a password.
func Dial(addr, password string) (*Conn, error) {
	conn, err := net.DialTimeout("tcp", addr, 3*time.Second)
	if err != nil {
		return nil, err
	}
	c := &Conn{conn, bufio.NewReader(conn), bufio.NewWriter(conn)}
	if password != "" {
		if _, err := c.Do("AUTH", password); err != nil {
			conn.Close()
			return nil, err
		}
	}
	return c, nil
}

// Close ends the connection.
func (c *Conn) Close() { c.conn.Close() }

// Do sends a command and returns its answer. An error answer is an error.
func (c *Conn) Do(args ...string) (string, error) {
	c.Send(args...)
	return c.Receive()
}

// Send writes a command into the buffer that Receive empties.
func (c *Conn) Send(args ...string) {
	fmt.Fprintf(c.w, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(c.w, "$%d\r\n%s\r\n", len(arg), arg)
	}
}

// Receive returns the next answer, a line or a string.
func (c *Conn) Receive() (string, error) {
	if err := c.w.Flush(); err != nil {
		return "", err
	}
	line, err := c.r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	switch {
	case line == "":
		return "", errors.New("an empty answer")
	case line[0] == '-':
		return "", errors.New(line[1:])
	case line[0] != '$':
		return line[1:], nil
	}
	n, err := strconv.Atoi(line[1:])
	if err != nil || n < 0 {
		return "", err
	}
	b := make([]byte, n+len("\r\n"))
	_, err = io.ReadFull(c.r, b)
	return string(b[:n]), err
}

// Loading asks whether Redis is still loading its data set.
func (c *Conn) Loading() (bool, error) {
	info, err := c.Do("INFO", "persistence")
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(info) {
		switch strings.TrimRight(line, "\r\n") { // whole lines: there is async_loading:0 too
		case "loading:0":
			return false, nil
		case "loading:1":
			return true, nil
		}
	}
	return false, errors.New("INFO persistence says nothing about loading")
}
