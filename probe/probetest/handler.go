package probetest

import (
	"math"
	"strconv"
	"strings"
)

func ping(_ *conn, _ *Behaviour, args []string) string {
	switch len(args) {
	case 1:
		return simple("PONG")
	case 2:
		return bulk(args[1])
	}
	return wrongArity("PING")
}

func echo(_ *conn, _ *Behaviour, args []string) string { return bulk(args[1]) }

// zero answers what counts something in an empty data set.
func zero(*conn, *Behaviour, []string) string { return integer(0) }

func get(c *conn, _ *Behaviour, _ []string) string { return c.null() }

func quit(c *conn, _ *Behaviour, _ []string) string {
	c.leave = true
	return simple("OK")
}

func reset(c *conn, b *Behaviour, _ []string) string {
	c.proto, c.name, c.authed = 2, "", b.Password == ""
	return simple("RESET")
}

// eval knows one kind of script: one that returns an integer.
func eval(_ *conn, _ *Behaviour, args []string) string {
	number, found := strings.CutPrefix(strings.TrimSpace(args[1]), "return ")
	n, err := strconv.Atoi(number)
	if !found || err != nil {
		return errorLine("ERR probetest runs no script but return <integer>")
	}
	return integer(n)
}

func selectDB(_ *conn, b *Behaviour, args []string) string {
	n, err := strconv.ParseInt(args[1], 10, 64)
	switch {
	case err != nil:
		return errorLine(textNotInteger)
	case n < math.MinInt32 || n > math.MaxInt32:
		return errorLine(textNotInt32)
	case b.mode() == Cluster && n != 0:
		return errorLine(textDBCluster)
	case n < 0 || n >= int64(b.databases()):
		return errorLine(textDBIndex)
	}
	return simple("OK")
}

func auth(c *conn, b *Behaviour, args []string) string {
	user, password := "default", args[1]
	switch {
	case len(args) > 3:
		return errorLine(textSyntax)
	case len(args) == 3:
		user, password = args[1], args[2]
	case b.Password == "":
		return errorLine(textNoPassword)
	}
	if !c.login(b, user, password) {
		return errorLine(textWrongPass)
	}
	return simple("OK")
}

// login authenticates the connection if it can. Like Redis, it accepts any
// password for a default user that has none.
func (c *conn) login(b *Behaviour, user, password string) bool {
	want, known := b.Users[user]
	if user == "default" {
		want, known = b.Password, true
		if want == "" {
			want = password
		}
	}
	if !known || password != want {
		return false
	}
	c.authed = true
	return true
}

func hello(c *conn, b *Behaviour, args []string) string {
	proto := c.proto
	if len(args) > 1 {
		n, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil {
			return errorLine(textProtoInt)
		}
		if n != 2 && n != 3 {
			return errorLine(textNoProto)
		}
		proto = int(n)
		if text := c.helloOptions(b, args[2:]); text != "" {
			return errorLine(text)
		}
	}
	if b.Password != "" && !c.authed {
		return errorLine(textNoAuthHello)
	}
	c.proto = proto
	pairs := []string{
		bulk("server"), bulk("redis"),
		bulk("version"), bulk(b.version()),
		bulk("proto"), integer(c.proto),
		bulk("id"), integer(c.clientID()),
		bulk("mode"), bulk(string(b.mode())),
	}
	if b.mode() != Sentinel {
		role := "master"
		if b.replica() {
			role = "replica"
		}
		pairs = append(pairs, bulk("role"), bulk(role))
	}
	return c.dict(append(pairs, bulk("modules"), array())...)
}

// helloOptions applies AUTH and SETNAME. It returns an error text, or "".
func (c *conn) helloOptions(b *Behaviour, options []string) string {
	for len(options) > 0 {
		switch name := strings.ToUpper(options[0]); {
		case name == "AUTH" && len(options) > 2:
			if !c.login(b, options[1], options[2]) {
				return textWrongPass
			}
			options = options[3:]
		case name == "SETNAME" && len(options) > 1:
			if !validName(options[1]) {
				return textClientName
			}
			c.name, options = options[1], options[2:]
		default:
			return "ERR Syntax error in HELLO option '" + cString(options[0], len(options[0])) + "'"
		}
	}
	return ""
}

// client knows ID, GETNAME and SETNAME. Of the rest clients send at their
// start, Redis 7.0 does not know SETINFO either.
func client(c *conn, _ *Behaviour, args []string) string {
	switch sub := strings.ToUpper(args[1]); {
	case sub == "ID" && len(args) == 2:
		return integer(c.clientID())
	case sub == "GETNAME" && len(args) == 2:
		if c.name == "" {
			return c.null()
		}
		return bulk(c.name)
	case sub == "SETNAME" && len(args) == 3:
		if !validName(args[2]) {
			return errorLine(textClientName)
		}
		c.name = args[2]
		return simple("OK")
	case sub == "ID" || sub == "GETNAME" || sub == "SETNAME":
		return wrongArity("client|" + sub)
	}
	return unknownSubcommand(args)
}

func validName(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '!' || r > '~' })
}

// clientID returns the number that Redis would give this connection.
func (c *conn) clientID() int { return c.id + 3 }
