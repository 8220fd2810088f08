//go:build unix

// Yardstick is the gate's ready path written by hand: it asks the Redis that
// REDIS_URL names for PONG and for loading:0, over TLS when the URL says
// rediss (trusting what CA_FILE has, or the system's roots), and becomes its
// argument. It judges and explains nothing.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"time"
)

const timeout = 3 * time.Second

func main() {
	if !ready(os.Getenv("REDIS_URL"), os.Getenv("CA_FILE")) {
		os.Exit(75)
	}
	syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	os.Exit(127)
}

func ready(rawURL, caFile string) bool {
	u, err := url.Parse(rawURL)
	if err != nil {
		return false
	}
	conn, err := dial(u, caFile)
	if err != nil {
		return false
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(timeout))
	request := "*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nINFO\r\n$11\r\npersistence\r\n"
	if password, ok := u.User.Password(); ok {
		request = "*2\r\n$4\r\nAUTH\r\n$" + strconv.Itoa(len(password)) + "\r\n" + password + "\r\n" + request
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return false
	}
	r := bufio.NewReader(conn)
	for pong := false; ; {
		line, err := r.ReadString('\n')
		switch {
		case err != nil || line[0] == '-' || line == "loading:1\r\n":
			return false
		case line == "+PONG\r\n":
			pong = true
		case line == "loading:0\r\n":
			return pong
		}
	}
}

func dial(u *url.URL, caFile string) (net.Conn, error) {
	d := net.Dialer{Timeout: timeout}
	conn, err := d.Dial("tcp", u.Host)
	if err != nil || u.Scheme != "rediss" {
		return conn, err
	}
	c := &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		c.RootCAs.AppendCertsFromPEM(pem)
	}
	secure := tls.Client(conn, c)
	return secure, secure.Handshake()
}
