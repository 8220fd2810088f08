package integration

import (
	"crypto/tls"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"
)

// A redisServer is a real redis-server on a port of its own.
type redisServer struct {
	t    testing.TB
	o    redisOptions
	path string // of the program
	port string
	cmd  *exec.Cmd
	log  *lockedBuffer
	done chan struct{} // closed when the process has ended
}

// redisOptions say how a redis-server is started. The zero value is a healthy
// one on loopback that saves nothing.
type redisOptions struct {
	args       []string
	config     string      // a file; "" is none
	dir        string      // of its data; "" is a new one
	host       string      // to listen on; "" is 127.0.0.1
	everywhere bool        // it is not told where to listen
	port       string      // "" is a free one
	tls        *tls.Config // of a client; the server then listens with TLS alone
	through    []string    // a command that execs its arguments
	stalled    bool        // it will accept and not answer
}

// startRedis starts a server and returns when it answers, be it with an error.
// The server is killed at the end of t.
func startRedis(t testing.TB, o redisOptions) *redisServer {
	t.Helper()
	s := newRedis(t, o)
	s.start(o.args...)
	return s
}

// newRedis returns a server that has its port and is not started.
func newRedis(t testing.TB, o redisOptions) *redisServer {
	t.Helper()
	p := programOf(t)
	if o.dir == "" {
		o.dir = t.TempDir()
	}
	if o.host == "" {
		o.host = "127.0.0.1"
	}
	if o.port == "" {
		o.port = freePort(t)
	}
	s := &redisServer{t: t, o: o, path: p.path, port: o.port}
	t.Cleanup(s.kill) // after TempDir's, so before the directory is removed
	return s
}

// start starts the process anew, with other arguments in the same directory
// and on the same port.
func (s *redisServer) start(args ...string) {
	s.t.Helper()
	s.launch(args...)
	s.awaitAnswer()
}

// launch is start without waiting.
func (s *redisServer) launch(args ...string) {
	s.t.Helper()
	argv := []string{s.path}
	if s.o.config != "" {
		argv = append(argv, s.o.config)
	}
	argv = append(argv, "--dir", s.o.dir, "--save", "", "--loglevel", "warning")
	if !s.o.everywhere {
		argv = append(argv, "--bind", s.o.host)
	}
	if s.o.tls != nil {
		argv = append(argv, "--port", "0", "--tls-port", s.port)
	} else {
		argv = append(argv, "--port", s.port)
	}
	argv = append(append([]string(nil), s.o.through...), append(argv, args...)...)
	s.cmd = exec.Command(argv[0], argv[1:]...)
	s.log = &lockedBuffer{}
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	dieWithParent(s.cmd)
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	cmd, done := s.cmd, make(chan struct{})
	s.done = done
	go func() {
		cmd.Wait()
		close(done)
	}()
}

// awaitAnswer polls until the server answers at all.
func (s *redisServer) awaitAnswer() {
	s.t.Helper()
	eventually(s.t, "redis-server answers", func() error {
		select {
		case <-s.done:
			s.t.Fatalf("redis-server has ended:\n%s", s.log)
		default:
		}
		if s.o.stalled {
			conn, err := net.Dial("tcp", s.addr())
			if err == nil {
				conn.Close()
			}
			return err
		}
		_, err := s.try("PING")
		return err
	})
}

// kill ends the server as a crash does.
func (s *redisServer) kill() {
	if s.cmd != nil && s.cmd.Process != nil {
		s.cmd.Process.Kill()
		<-s.done
	}
}

func (s *redisServer) addr() string { return net.JoinHostPort(s.o.host, s.port) }

// url is the URL of the server with credentials, as in ":password@", and a
// tail, as in "/1".
func (s *redisServer) url(credentials, tail string) string {
	scheme := "redis://"
	if s.o.tls != nil {
		scheme = "rediss://"
	}
	return scheme + credentials + s.addr() + tail
}

// env is the environment with the URL of database 0 and no credentials.
func (s *redisServer) env() []string { return redisURL(s.url("", "")) }

// try sends one command on a connection of its own and returns the answer.
func (s *redisServer) try(args ...string) (string, error) {
	c, err := s.dial()
	if err != nil {
		return "", err
	}
	defer c.close()
	return c.ask(args...)
}

// dial connects to the server.
func (s *redisServer) dial() (*respConn, error) {
	conn, err := net.Dial("tcp", s.addr())
	if err != nil {
		return nil, err
	}
	if s.o.tls != nil {
		conn = tls.Client(conn, s.o.tls)
	}
	return newRESPConn(conn), nil
}

// do sends a command that must not fail and returns the answer.
func (s *redisServer) do(args ...string) string {
	s.t.Helper()
	reply, err := s.try(args...)
	if err != nil || strings.HasPrefix(reply, "-") {
		s.t.Fatalf("%s: %q, %v\n%s", args[0], reply, err, s.log)
	}
	return reply
}

// info returns a field of INFO.
func (s *redisServer) info(section, field string) string {
	s.t.Helper()
	return infoField(s.do("INFO", section), field)
}

// awaitInfo waits until a field of INFO has a value.
func (s *redisServer) awaitInfo(section, field, want string) {
	s.t.Helper()
	eventually(s.t, field+" is "+want, func() error {
		if got := s.info(section, field); got != want {
			return fmt.Errorf("it is %q", got)
		}
		return nil
	})
}

func infoField(info, field string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
