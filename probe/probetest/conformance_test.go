package probetest_test

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startgate/startgate/probe/probetest"
)

const (
	unauthenticated = "-NOAUTH Authentication required.\r\n"
	wrongPass       = "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
	badIndex        = "-ERR DB index is out of range\r\n"
	readOnly        = "-READONLY You can't write against a read only replica.\r\n"
	masterDown      = "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.\r\n"
	loading         = "-LOADING Redis is loading the dataset in memory\r\n"
	busy            = "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.\r\n"
	misconf         = "-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the data set are disabled, because this instance is configured to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB error.\r\n"
)

// helloReply is the answer to HELLO 2 on the first connection.
func helloReply(mode, role string) string {
	fields := []string{"server", "redis", "version", "7.0.15", "proto", "", "id", "", "mode", mode, "role", role}
	if role == "" {
		fields = fields[:10]
	}
	text := request(append(fields, "modules")...)
	text = strings.Replace(text, "$0\r\n\r\n", ":2\r\n", 1)
	text = strings.Replace(text, "$0\r\n\r\n", ":3\r\n", 1)
	count, rest, _ := strings.Cut(text, "\r\n")
	count = map[string]string{"*13": "*14", "*11": "*12"}[count]
	return count + "\r\n" + rest + "*0\r\n"
}

// A dialogue is what Redis 7.0.15 answered, on one connection, in one state.
// With flags it can be had from redis-server again; the others need more than
// a flag (a big data set, a script that hangs, a lost disk, a port).
type dialogue struct {
	name      string
	behaviour probetest.Behaviour
	flags     []string
	lines     [][2]string // command, answer
}

var dialogues = []dialogue{
	{"healthy", probetest.Behaviour{Databases: 4}, []string{"--databases", "4"}, [][2]string{
		{"HELLO 2", helloReply("standalone", "master")},
		{"HELLO 4", "-NOPROTO unsupported protocol version\r\n"},
		{"HELLO x", "-ERR Protocol version is not an integer or out of range\r\n"},
		{"HELLO 2 AUTH default any", helloReply("standalone", "master")},
		{"HELLO 2 AUTH bob any", wrongPass},
		{"HELLO 2 AUTH x", "-ERR Syntax error in HELLO option 'AUTH'\r\n"},
		{"HELLO 2 FOO", "-ERR Syntax error in HELLO option 'FOO'\r\n"},
		{"AUTH any", "-ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?\r\n"},
		{"AUTH default any", "+OK\r\n"},
		{"AUTH bob any", wrongPass},
		{"AUTH", "-ERR wrong number of arguments for 'auth' command\r\n"},
		{"AUTH a b c", "-ERR syntax error\r\n"},
		{"SELECT 3", "+OK\r\n"},
		{"SELECT 4", badIndex},
		{"SELECT -1", badIndex},
		{"SELECT x", "-ERR value is not an integer or out of range\r\n"},
		{"SELECT 99999999999", "-ERR value is out of range, value must between -2147483648 and 2147483647\r\n"},
		{"SELECT", "-ERR wrong number of arguments for 'select' command\r\n"},
		{"PING", "+PONG\r\n"},
		{"ping hi", "$2\r\nhi\r\n"},
		{"PING a b", "-ERR wrong number of arguments for 'ping' command\r\n"},
		{"LPUSHX k v", ":0\r\n"},
		{"LPUSHX k", "-ERR wrong number of arguments for 'lpushx' command\r\n"},
		{"GET k", "$-1\r\n"},
		{"EXISTS k l", ":0\r\n"},
		{"ECHO x", "$1\r\nx\r\n"},
		{"ROLE", "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n"},
		{"INFO nosuch", "$0\r\n\r\n"},
		{"CLIENT ID", ":3\r\n"},
		{"CLIENT SETNAME me", "+OK\r\n"},
		{"CLIENT GETNAME", "$2\r\nme\r\n"},
		{"CLIENT SETINFO LIB-NAME x", "-ERR unknown subcommand 'SETINFO'. Try CLIENT HELP.\r\n"},
		{"CLIENT", "-ERR wrong number of arguments for 'client' command\r\n"},
		{"SUBSCRIBE a b", "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n"},
		{"", "*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n"},
		{"RESET", "+RESET\r\n"},
		{"NoSuch one t\nwo", "-ERR unknown command 'NoSuch', with args beginning with: 'one' 't wo' \r\n"},
		{"N" + strings.Repeat("n", 150) + " " + strings.Repeat("x", 100) + " yyyy" + strings.Repeat("z", 100),
			"-ERR unknown command 'N" + strings.Repeat("n", 127) + "', with args beginning with: '" + strings.Repeat("x", 100) + "' 'yyyy" + strings.Repeat("z", 21) + "' \r\n"},
		{"SENTINEL MASTERS", "-ERR unknown command 'SENTINEL', with args beginning with: 'MASTERS' \r\n"},
		{"CLUSTER INFO", "-ERR This instance has cluster support disabled\r\n"},
		{"QUIT", "+OK\r\n"},
	}},
	{"password", probetest.Behaviour{Password: "pw"}, []string{"--requirepass", "pw"}, [][2]string{
		{"PING", unauthenticated},
		{"HELLO 2", "-NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time\r\n"},
		{"NOSUCH", "-ERR unknown command 'NOSUCH', with args beginning with: \r\n"},
		{"SELECT", "-ERR wrong number of arguments for 'select' command\r\n"},
		{"SELECT 99", unauthenticated},
		{"AUTH bad", wrongPass},
		{"AUTH default bad", wrongPass},
		{"HELLO 2 AUTH default bad", wrongPass},
		{"HELLO 2 AUTH default pw", helloReply("standalone", "master")},
		{"SELECT 99", badIndex},
		{"PING", "+PONG\r\n"},
		{"RESET", "+RESET\r\n"},
		{"PING", unauthenticated},
		{"AUTH pw", "+OK\r\n"},
		{"PING", "+PONG\r\n"},
	}},
	{"password, loading", probetest.Behaviour{Password: "pw", Databases: 4, Loading: &probetest.Loading{Percent: 46.7}}, nil, [][2]string{
		{"PING", unauthenticated},
		{"AUTH bad", wrongPass},
		{"AUTH pw", "+OK\r\n"},
		{"SELECT 9", badIndex},
		{"SELECT 1", "+OK\r\n"},
		{"PING", loading},
		{"PING a b", loading},
		{"LPUSHX k v", loading},
		{"LPUSHX k", "-ERR wrong number of arguments for 'lpushx' command\r\n"},
		{"EVAL return\u00a01 0", loading},
		{"NOSUCH", "-ERR unknown command 'NOSUCH', with args beginning with: \r\n"},
		{"HELLO 2", helloReply("standalone", "master")},
		{"CLIENT ID", ":3\r\n"},
		{"ECHO x", "$1\r\nx\r\n"},
		{"ROLE", "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n"},
	}},
	{"out of memory", probetest.Behaviour{OOM: true}, []string{"--maxmemory", "1"}, [][2]string{
		{"PING", "+PONG\r\n"},
		{"LPUSHX k v", "-OOM command not allowed when used memory > 'maxmemory'.\r\n"},
		{"GET k", "$-1\r\n"},
		{"EVAL return\u00a01 0", ":1\r\n"},
	}},
	{"not enough replicas", probetest.Behaviour{NoReplicas: true}, []string{"--min-replicas-to-write", "1"}, [][2]string{
		{"PING", "+PONG\r\n"},
		{"LPUSHX k v", "-NOREPLICAS Not enough good replicas to write.\r\n"},
		{"GET k", "$-1\r\n"},
	}},
	{"replica", probetest.Behaviour{Replica: true}, []string{"--replicaof", "127.0.0.1", "1"}, [][2]string{
		{"HELLO 2", helloReply("standalone", "replica")},
		{"PING", "+PONG\r\n"},
		{"LPUSHX k v", readOnly},
		{"GET k", "$-1\r\n"},
	}},
	{"replica without its master", probetest.Behaviour{MasterDown: true}, []string{"--replicaof", "127.0.0.1", "1", "--replica-serve-stale-data", "no"}, [][2]string{
		{"HELLO 2", helloReply("standalone", "replica")},
		{"PING", masterDown},
		{"LPUSHX k v", readOnly},
		{"GET k", masterDown},
		{"EVAL return\u00a01 0", masterDown},
		{"SELECT 1", "+OK\r\n"},
	}},
	{"busy", probetest.Behaviour{Busy: true}, nil, [][2]string{
		{"HELLO 2", helloReply("standalone", "master")},
		{"PING", busy},
		{"INFO persistence", busy},
		{"LPUSHX k v", busy},
		{"SELECT 99", busy},
		{"CLIENT ID", busy},
		{"QUIT", "+OK\r\n"},
	}},
	{"snapshots fail", probetest.Behaviour{Misconf: true}, nil, [][2]string{
		{"PING", misconf},
		{"LPUSHX k v", misconf},
		{"GET k", "$-1\r\n"},
		{"EVAL return\u00a01 0", ":1\r\n"},
	}},
	{"cluster", probetest.Behaviour{Mode: probetest.Cluster}, nil, [][2]string{
		{"HELLO 2", helloReply("cluster", "master")},
		{"SELECT 0", "+OK\r\n"},
		{"SELECT 1", "-ERR SELECT is not allowed in cluster mode\r\n"},
		{"INFO cluster", "$30\r\n# Cluster\r\ncluster_enabled:1\r\n\r\n"},
	}},
	{"sentinel", probetest.Behaviour{Mode: probetest.Sentinel}, []string{"--sentinel"}, [][2]string{
		{"HELLO 2", helloReply("sentinel", "")},
		{"PING", "+PONG\r\n"},
		{"SELECT 0", "-ERR unknown command 'SELECT', with args beginning with: '0' \r\n"},
		{"LPUSHX k v", "-ERR unknown command 'LPUSHX', with args beginning with: 'k' 'v' \r\n"},
		{"INFO persistence", "$0\r\n\r\n"},
		{"ROLE", "*2\r\n$8\r\nsentinel\r\n*0\r\n"},
		{"SENTINEL get-master-addr-by-name mymaster", "*-1\r\n"},
		{"SENTINEL sentinels mymaster", "-ERR No such master with that name\r\n"},
		{"QUIT", "-ERR unknown command 'QUIT', with args beginning with: \r\n"},
	}},
}

// hold compares the answers of a server with the record. A command is split at
// blanks; U+00A0 is a blank inside an argument. No command: the next answer.
func (d dialogue) hold(t *testing.T, c *client) {
	for _, line := range d.lines {
		if line[0] != "" {
			args := strings.Split(line[0], " ")
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "\u00a0", " ")
			}
			c.send(request(args...))
		}
		check(t, line[0], c.reply(), line[1])
	}
}

func TestAnswersAreThoseOfRedis(t *testing.T) {
	for _, d := range dialogues {
		t.Run(d.name, func(t *testing.T) {
			d.hold(t, dial(t, probetest.New(t, d.behaviour)))
		})
	}
}

// need skips t for want of something. In CI that is a failure.
func need(t *testing.T, what string, has bool) {
	t.Helper()
	switch {
	case has:
	case os.Getenv("CI") != "":
		t.Fatalf("CI without %s", what)
	default:
		t.Skipf("needs %s", what)
	}
}

// TestRecordIsTrue holds the same dialogues with the server that they were
// recorded from, on machines that have it.
func TestRecordIsTrue(t *testing.T) {
	version, err := exec.Command("redis-server", "--version").Output()
	need(t, "redis-server 7.0.15", err == nil && strings.Contains(string(version), "v=7.0.15 "))
	for _, d := range dialogues {
		if d.flags == nil {
			continue
		}
		t.Run(d.name, func(t *testing.T) { d.hold(t, redisServer(t, d.flags...)) })
	}
}

func TestInfoHasTheFieldsOfRedis(t *testing.T) {
	_, err := exec.LookPath("redis-server")
	need(t, "redis-server", err == nil)
	real, ours := redisServer(t, "--databases", "16"), dial(t, probetest.New(t, probetest.Behaviour{}))
	names := func(info string) (names string) {
		for line := range strings.SplitSeq(info, "\r\n") {
			name, _, _ := strings.Cut(line, ":")
			names += strings.TrimLeft(name, "$0123456789") + " "
		}
		return names
	}
	for _, section := range []string{"persistence", "clients"} {
		check(t, section, names(ours.ask("INFO", section)), names(real.ask("INFO", section)))
	}
}

// redisServer starts a real Redis on a unix socket and returns its first client.
func redisServer(t *testing.T, flags ...string) *client {
	t.Helper()
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	args := []string{"--port", "0", "--unixsocket", socket, "--dir", dir, "--save", ""}
	if flags[0] == "--sentinel" {
		// A sentinel insists on a file that it can rewrite.
		conf := filepath.Join(dir, "sentinel.conf")
		writeFile(t, conf, "port 0\nunixsocket "+socket+"\ndir "+dir+"\n")
		args = []string{conf}
	}
	cmd := exec.Command("redis-server", append(args, flags...)...)
	log, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if strings.Contains(lines.Text(), "now ready to accept") || strings.Contains(lines.Text(), "Sentinel ID is") {
			c, err := net.Dial("unix", socket)
			return newClient(t, c, err)
		}
	}
	t.Fatal("redis-server has ended")
	return nil
}
