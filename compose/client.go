package compose

import (
	"net/url"
	"slices"
	"strings"
)

// redisClient is how redis-cli, or one of its forks, is called.
type redisClient struct {
	host, port string // "" is its default
	auth       bool   // it gives a password
	exits      bool   // with 1 on an error reply: -e
	version    bool   // it only says who it is
	command    []string
	known      bool // all options are ones whose meaning is known
}

// clientValues are redis-cli's options that take an argument.
var clientValues = []string{
	"-h", "-p", "-s", "-a", "-u", "-n", "-r", "-i", "-t", "-d", "-D", "-X", "--user", "--pass", "--cacert", "--cacertdir", "--cert", "--key",
	"--sni", "--tls-ciphers", "--tls-ciphersuites", "--show-pushes",
}

// clientSwitches are those that take none and keep it asking a command.
var clientSwitches = []string{
	"-e", "-c", "-x", "-2", "-3", "-4", "-6", "--raw", "--no-raw", "--csv", "--json", "--quoted-json", "--tls", "--insecure", "--no-auth-warning", "--verbose",
}

// readClient reads a command line of redis-cli.
func readClient(words []string) redisClient {
	c := redisClient{known: true}
	words = words[1:]
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		option := words[0]
		words = words[1:]
		switch {
		case slices.Contains(clientValues, option):
			if len(words) == 0 {
				c.known = false
				return c
			}
			c.take(option, words[0])
			words = words[1:]
		case option == "-e":
			c.exits = true
		case option == "--version" || option == "-v":
			c.version = true
		case !slices.Contains(clientSwitches, option):
			c.known = false
		}
	}
	c.command = words
	if len(words) > 0 && strings.ContainsAny(words[0], "$`") {
		c.known = false // options may be in it, or nothing
	}
	return c
}

// take notes an option's argument.
func (c *redisClient) take(option, value string) {
	switch option {
	case "-h":
		c.host = value
	case "-p":
		c.port = value
	case "-s":
		c.port = notKnown
	case "-a", "--pass":
		c.auth = true
	case "-u":
		u, err := url.Parse(value)
		if err != nil {
			c.known = false
			return
		}
		c.host, c.port = u.Hostname(), u.Port()
		c.auth = c.auth || u.User != nil
	}
}

// elsewhere reports whether the client asks something else than the container
// it runs in. A variable of the shell is taken for the container's own name.
func (c redisClient) elsewhere(hosts []string) bool {
	switch c.host {
	case "", "localhost", "127.0.0.1", "::1", "0.0.0.0":
		return false
	}
	return !strings.Contains(c.host, "$") && !slices.Contains(hosts, strings.ToLower(c.host))
}

// otherPort reports whether the client asks a port on which nothing listens.
func (c redisClient) otherPort(port string) bool {
	asked := c.port
	if asked == "" {
		asked = "6379"
	}
	return port != "" && asked != port && strings.Trim(asked, "0123456789") == ""
}

// infoStart begins what is known of INFO's answer, which is not all of it.
const infoStart = "# "

// answersLoading are commands that a Redis answers while it loads (flag
// loading of COMMAND INFO, and measured).
var answersLoading = []string{"info", "echo", "hello", "role", "client", "auth"}

// writing are commands that change what the broker holds.
var writing = []string{
	"append", "decr", "decrby", "del", "expire", "flushall", "flushdb", "getdel", "getset", "hset", "incr", "incrby", "lpop", "lpush", "mset",
	"publish", "rpop", "rpush", "sadd", "set", "setex", "setnx", "unlink", "xadd", "zadd",
}

// reading are commands of data that change nothing.
var reading = []string{"dbsize", "exists", "get", "hget", "keys", "llen", "lrange", "scan", "ttl", "type"}

// ask is what a client prints in a state, and what its status says
// (redis-cli 7.0.15, measured).
func (a asked) ask(c redisClient) (output string, o outcome) {
	s := a.state
	switch {
	case c.exits && a.old:
		return "", fails // it knows no such option
	case c.version:
		return notKnown, passes
	case !c.known || c.elsewhere(a.hosts) || len(c.command) == 0:
		return notKnown, unsure
	case c.otherPort(a.port) || s == down:
		return "", fails
	case s == unauthenticated && c.auth:
		s = ready
	}
	verb := strings.ToLower(c.command[0])
	switch {
	case s == unauthenticated && verb != "auth" && verb != "hello":
		return "NOAUTH Authentication required.\n\n", whether(!c.exits)
	case verb == "ping" && len(c.command) == 1 && (s != loading || a.keydb):
		return "PONG\n", passes
	case verb == "info":
		return a.info(c.command[1:]), passes
	case s != loading || slices.Contains(answersLoading, verb):
		return notKnown, passes
	case verb == "ping" || slices.Contains(writing, verb) || slices.Contains(reading, verb):
		return "LOADING Redis is loading the dataset in memory\n\n", whether(!c.exits)
	case !c.exits:
		return notKnown, passes // whatever it answers
	}
	return notKnown, unsure
}

// info is what is known of the answer to INFO.
func (a asked) info(sections []string) string {
	persistence := "# Persistence\r\nloading:0\r\n"
	if a.state == loading {
		persistence = "# Persistence\r\nloading:1\r\n"
	}
	if a.async {
		persistence += "async_loading:0\r\n"
	}
	const server, replication = "# Server\r\nredis_version:7.0.15\r\nuptime_in_seconds:1\r\n", "# Replication\r\nrole:master\r\n"
	if len(sections) == 0 {
		return server + persistence + replication
	}
	switch strings.ToLower(sections[0]) {
	case "persistence":
		return persistence
	case "server":
		return server
	case "all", "default", "everything":
		return server + persistence + replication
	}
	return notKnown
}

// findsShell reports whether pgrep -f finds the shell that it runs in.
func findsShell(words []string, script string) bool {
	full := false
	var pattern string
	for _, w := range words[1:] {
		switch {
		case !strings.HasPrefix(w, "-"):
			pattern = w
		case strings.HasPrefix(w, "--"):
			full = full || w == "--full"
		default:
			full = full || strings.Contains(w, "f")
			if strings.ContainsAny(w, "xuUgGPst") {
				return false // it is narrowed down in ways that are not judged
			}
		}
	}
	return full && pattern != "" && grep([]string{"egrep", pattern}, script) == passes
}
