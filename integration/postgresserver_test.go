package integration

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// What every cluster has. None of it is a word that the gate says by itself.
const (
	superuser = "shopkeeper"
	clerk     = "shopclerk"
	database  = "shopdata"
)

// A postgresServer is a real PostgreSQL on a port of its own.
type postgresServer struct {
	t       testing.TB
	dir     string // of the cluster
	port    string
	standby bool // it takes no sessions
	process *exec.Cmd
	log     *lockedBuffer
	done    chan struct{} // closed when the process has ended
}

// postgresOptions say how a cluster is made. The zero value lets everybody in
// from loopback, without TLS.
type postgresOptions struct {
	rules    []string         // of pg_hba.conf
	settings []string         // NAME=VALUE
	identity *tls.Certificate // ssl is on when there is one
	standby  bool             // of no primary, that takes no sessions
}

// postgresBin is the directory of PostgreSQL's programs, "" for none. Debian
// has them outside of PATH, since there can be several versions.
var postgresBin = sync.OnceValue(func() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[0])
})

// postgresVersion is what the server says of itself, as in "postgres 15.16".
var postgresVersion = sync.OnceValue(func() string {
	out, _ := postgresCommand("postgres", "--version").Output()
	if m := regexp.MustCompile(`[0-9.]+`).Find(out); m != nil {
		return "postgres " + string(m)
	}
	return "postgres"
})

// postgresCommand is one of PostgreSQL's programs, as the cluster's user.
func postgresCommand(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(postgresBin(), name), args...)
	cmd.Dir = "/"
	asNobody(cmd)
	return cmd
}

// emptyCluster makes one cluster, which all others are copies of.
var emptyCluster = sync.OnceValues(func() (dir string, err error) {
	dir = filepath.Join(built, "cluster")
	if err := os.Chmod(built, 0o711); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	if err := giveToNobody(dir); err != nil {
		return "", err
	}
	err = postgresCommand("initdb", "-D", dir, "-U", superuser, "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C").Run()
	if err != nil {
		return "", err
	}
	create := postgresCommand("postgres", "--single", "-D", dir, "postgres")
	create.Stdin = strings.NewReader("CREATE DATABASE " + database + "\nCREATE ROLE " + clerk + " LOGIN\n")
	return dir, create.Run()
})

// startPostgres starts a cluster of its own and returns when it takes sessions,
// or, of a standby, says that it does not. The server is killed at the end of t.
func startPostgres(t testing.TB, o postgresOptions) *postgresServer {
	t.Helper()
	s := newPostgres(t, o)
	s.launch()
	s.awaitAnswer()
	return s
}

// newPostgres makes a cluster that has its port and is not started.
func newPostgres(t testing.TB, o postgresOptions) *postgresServer {
	t.Helper()
	need(t, "PostgreSQL's server", postgresBin() != "")
	template, err := emptyCluster()
	if err != nil {
		t.Fatalf("initdb: %v", err)
	}
	parent, err := os.MkdirTemp("", "startgate-postgres-") // t.TempDir's parents are for their owner alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(parent) })
	if err := os.Chmod(parent, 0o711); err != nil {
		t.Fatal(err)
	}
	s := &postgresServer{t: t, dir: filepath.Join(parent, "cluster"), port: freePort(t), standby: o.standby}
	t.Cleanup(s.kill)
	if out, err := exec.Command("cp", "-a", template, s.dir).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
	settings := append([]string{
		"port=" + s.port, "listen_addresses='127.0.0.1'", "unix_socket_directories=''", "fsync=off", "autovacuum=off",
		"max_connections=10", "max_wal_senders=0", "wal_level=minimal", "shared_buffers='16MB'",
	}, o.settings...)
	if o.identity != nil {
		settings = append(settings, "ssl=on")
		s.write("server.crt", certificatePEM(o.identity))
		s.write("server.key", keyPEM(t, o.identity))
	}
	if o.standby {
		settings = append(settings, "wal_level=replica", "hot_standby=off")
		s.write("standby.signal", "")
	}
	s.write("postgresql.auto.conf", strings.Join(settings, "\n")+"\n")
	if o.rules != nil {
		s.write("pg_hba.conf", strings.Join(o.rules, "\n")+"\n")
	}
	return s
}

// write writes a file of the cluster.
func (s *postgresServer) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	err := os.WriteFile(path, []byte(text), 0o600)
	if err == nil {
		err = giveToNobody(path)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func certificatePEM(c *tls.Certificate) string {
	var b strings.Builder
	for _, der := range c.Certificate {
		pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	return b.String()
}

func keyPEM(t testing.TB, c *tls.Certificate) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// launch starts the process and waits for nothing.
func (s *postgresServer) launch() {
	s.t.Helper()
	s.process, s.log = postgresCommand("postgres", "-D", s.dir), &lockedBuffer{}
	s.process.Stdout, s.process.Stderr = s.log, s.log
	dieWithParent(s.process)
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	process, done := s.process, make(chan struct{})
	s.done = done
	go func() {
		process.Wait()
		close(done)
	}()
}

// awaitAnswer polls until pg_isready, which is PostgreSQL's own judge, has an
// answer: 0 for a server that takes sessions, 1 for one that does not.
func (s *postgresServer) awaitAnswer() {
	s.t.Helper()
	eventually(s.t, "PostgreSQL answers", func() error {
		select {
		case <-s.done:
			s.t.Fatalf("PostgreSQL has ended:\n%s", s.log)
		default:
		}
		switch code := s.isReady(); {
		case code == 0, code == 1 && s.standby:
			return nil
		case code == 1, code == 2:
			return errNotYet
		default:
			s.t.Fatalf("pg_isready exits with %d", code)
			return nil
		}
	})
}

// isReady is the exit code of pg_isready.
func (s *postgresServer) isReady() int {
	where := "host=127.0.0.1 port=" + s.port + " user=" + superuser + " dbname=" + database + " sslmode=disable" // else it leaves lines in the log
	cmd := postgresCommand("pg_isready", "-q", "-d", where)
	cmd.Run()
	return cmd.ProcessState.ExitCode()
}

// promote makes a primary of a standby, as soon as it knows that it is one.
func (s *postgresServer) promote() {
	s.t.Helper()
	eventually(s.t, "the standby is promoted", func() error {
		return postgresCommand("pg_ctl", "promote", "-W", "-D", s.dir).Run()
	})
}

// stop ends the server once all of its sessions have ended by themselves.
func (s *postgresServer) stop() {
	s.process.Process.Signal(syscall.SIGTERM)
	<-s.done
}

// kill ends the server at once: the postmaster takes its children with it.
func (s *postgresServer) kill() {
	if s.process != nil && s.process.Process != nil {
		s.process.Process.Signal(os.Interrupt) // a fast shutdown
		<-s.done
	}
}

func (s *postgresServer) addr() string { return net.JoinHostPort("127.0.0.1", s.port) }

// url is the URL of the superuser and a tail, as in "postgres?sslmode=disable".
func (s *postgresServer) url(tail string) string {
	return "postgres://" + superuser + ":a-password-never-sent@" + s.addr() + "/" + tail
}

// hold takes one of the server's connections, as soon as there is one, until
// release is called.
func (s *postgresServer) hold() (release func()) {
	s.t.Helper()
	var conn net.Conn
	eventually(s.t, "there is a connection", func() (err error) {
		conn, err = s.login()
		return err
	})
	s.t.Cleanup(func() { conn.Close() })
	return func() { conn.Close() }
}

// login is a session of the superuser, who needs no password for it.
func (s *postgresServer) login() (net.Conn, error) {
	conn, err := net.Dial("tcp", s.addr())
	if err != nil {
		return nil, err
	}
	client := pgproto3.NewFrontend(conn, conn)
	client.Send(&pgproto3.StartupMessage{
		ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": superuser, "database": database},
	})
	err = client.Flush()
	for err == nil {
		var m pgproto3.BackendMessage
		if m, err = client.Receive(); err != nil {
			break
		}
		switch m := m.(type) {
		case *pgproto3.ErrorResponse:
			err = errors.New(m.Message)
		case *pgproto3.ReadyForQuery:
			return conn, nil
		}
	}
	conn.Close()
	return nil, err
}
