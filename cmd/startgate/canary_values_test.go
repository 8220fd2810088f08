package main

import "strings"

// A value is a hostile text with a canary c in it. A NUL is in none: it ends a
// string in execve's arguments and environment, so that no process ever sees
// one.
type value struct {
	class string
	text  func(c string) string
}

// longest is close to what the kernel takes as one string, 128 KiB. Anything
// longer would keep the test from starting the process.
const longest = 120 << 10

// texts are hostile for whatever reads them.
var texts = [...]value{
	{"bare", func(c string) string { return c }},
	{"in double quotes", func(c string) string { return `"` + c + `"` }},
	{"in single quotes", func(c string) string { return "'" + c + "'" }},
	{"in typographic quotes", func(c string) string { return "“" + c + "”" }},
	{"with LF at its end", func(c string) string { return c + "\n" }},
	{"with CR at its end", func(c string) string { return c + "\r" }},
	{"with a forged line", func(c string) string { return c + "\n" + injected + " " + c }},
	{"that begins with a line break", func(c string) string { return "\n" + injected + " " + c + "\n" }},
	{"with a forged line of ours", func(c string) string { return c + "\nstartgate: info  ready wait=" + c + "\n" }},
	{"with a byte order mark", func(c string) string { return "\ufeff" + c }},
	{"with a blank before it", func(c string) string { return " " + c }},
	{"with a no-break space", func(c string) string { return c + "\u00a0" }},
	{"with a zero-width space", func(c string) string { return "\u200b" + c }},
	{"of invalid UTF-8", func(c string) string { return c[:8] + "\xff\xfe" + c[8:] }},
	{"with a control character", func(c string) string { return c[:10] + "\x01" + c[10:] }},
	{"with terminal escapes", func(c string) string { return "\x1b[2J\x1b]0;" + c + "\x07" }},
	{"with a line separator", func(c string) string { return c + "\u2028" + injected }},
	{"with format verbs", func(c string) string { return "%s%d%!v(" + c + ")%n" }},
	{"with JSON", func(c string) string { return `","code":"` + c + `"}` }},
	{"of a service link", func(c string) string { return "tcp://" + c + ":6379" }},
	{"of a URL of RabbitMQ", func(c string) string { return "amqp://guest:" + c + "@127.0.0.1:1/" + c }},
	{"of an HTTP URL", func(c string) string { return "http://" + c + ":" + c + "@127.0.0.1:1/" + c }},
	{"of a path", func(c string) string { return "/run/secrets/" + c }},
	{"of a path above a file", func(c string) string { return "/etc/hostname/" + c }},
	{"of a reference in braces", func(c string) string { return "${" + c + "}" }},
	{"of a reference in parentheses", func(c string) string { return "$(" + c + ")" }},
	{"of a template", func(c string) string { return "{{ " + c + " }}" }},
	{"in angle brackets", func(c string) string { return "<" + c + ">" }},
	{"of a placeholder", func(c string) string { return "changeme-" + c }},
	{"like an e-mail address", func(c string) string { return c + "@example.org" }},
	{"of a PEM head", func(c string) string { return "-----BEGIN PRIVATE KEY-----\n" + c }},
	{"that begins like a bool", func(c string) string { return "true" + c }},
	{"that begins like a port", func(c string) string { return "6379" + c }},
	{"that begins like a duration", func(c string) string { return "30s" + c }},
	{"that begins like a word that is taken", func(c string) string { return "full" + c }},
	{"of key names", func(c string) string { return "REDIS_URL|" + c + "," + c }},
	{"of a flag", func(c string) string { return "--" + c + "=" + c }},
	{"of 120 KB", func(c string) string { return c + strings.Repeat("x", longest) + c }},
}

// peers are addresses for URLs: nothing in the suite ever leaves the machine.
type peers struct {
	closed  string // nothing listens
	healthy string // a Redis without a password
	echo    string // answers with what it is sent, after terminal escapes
}

// urls are hostile for what reads a Redis URL: one and more for every reason
// to refuse one, and some that are taken. A host that has a canary in it is
// never looked up: the resolver sees that it is no name.
func (p peers) urls() []value {
	return []value{
		{"without a scheme", func(c string) string { return "redis:" + c }},
		{"of a host and port", func(c string) string { return c + ":6379" }},
		{"without a scheme, with credentials", func(c string) string { return "://" + c + ":" + c + "@" + p.closed }},
		{"of an unknown scheme", func(c string) string { return c + "://:" + c + "@" + p.closed + "/0" }},
		{"of a socket", func(c string) string { return "unix://:" + c + "@/run/" + c + ".sock" }},
		{"without a host", func(c string) string { return "redis://:" + c + "@:6379/0" }},
		{"with a password for the host", func(c string) string { return "redis://:x@" + c + "..x:6379/0" }},
		{"with an odd host", func(c string) string { return "redis://:" + c + "@h!" + c + ":6379/0" }},
		{"with an open bracket", func(c string) string { return "redis://:" + c + "@[" + c + ":6379/0" }},
		{"with no address in brackets", func(c string) string { return "redis://:" + c + "@[" + c + "]:6379/0" }},
		{"of many hosts", func(c string) string { return "redis://:" + c + "@" + p.closed + "," + c + ":1/0" }},
		{"with a bad port", func(c string) string { return "redis://:" + c + "@127.0.0.1:" + c + "/0" }},
		{"with a great port", func(c string) string { return "redis://:" + c + "@127.0.0.1:99999/0" }},
		{"with a bad database", func(c string) string { return "redis://:" + c + "@" + p.closed + "/" + c }},
		{"with a database at the end of a path", func(c string) string { return "redis://:x@" + p.closed + "/0/" + c }},
		{"with two databases", func(c string) string { return "redis://:" + c + "@" + p.closed + "/2?db=3&x=" + c }},
		{"with a bad database in the query", func(c string) string { return "redis://:x@" + p.closed + "?db=" + c }},
		{"with a bad percent encoding", func(c string) string { return "redis://:" + c + "%zz@" + p.closed + "/0" }},
		{"with an unfinished percent encoding", func(c string) string { return "redis://:" + c + "%4@" + p.closed }},
		{"with # in the password", func(c string) string { return "redis://:" + c + "#" + c + "@" + p.closed + "/0" }},
		{"with / in the password", func(c string) string { return "redis://user:12345/" + c + "@" + p.closed + "/0" }},
		{"with ? in the password", func(c string) string { return "redis://" + c + ":" + c + "?x@" + p.closed + "/0" }},
		{"with ^ in the password", func(c string) string { return "redis://:^" + c + "@" + p.closed + "/0" }},
		{"with @ in the password", func(c string) string { return "redis://:" + c + "@" + c + "@" + p.closed + "/0" }},
		{"with a blank inside", func(c string) string { return "redis://:" + c + " " + c + "@" + p.closed + "/0" }},
		{"with an unknown TLS mode", func(c string) string { return "rediss://:" + c + "@" + p.closed + "/0?ssl_cert_reqs=" + c }},
		{"with a lone user", func(c string) string { return "redis://" + c + "@" + p.closed + "/0" }},
		{"with an encoded user", func(c string) string { return "redis://%41" + c + ":" + c + "@" + p.closed + "/0" }},
		{"with the password in the query", func(c string) string { return "redis://" + p.closed + "/0?password=" + c }},
		{"with a capital scheme", func(c string) string { return "Rediss://:" + c + "@" + p.closed + "/0" }},
		{"in quotes", func(c string) string { return `"redis://:` + c + "@" + p.closed + `/0"` }},
		{"with LF at its end", func(c string) string { return "redis://:" + c + "@" + p.closed + "/0\n" }},

		{"of a host that is no name", func(c string) string { return "redis://" + c + ":" + c + "@-" + c + ":6379/0" }},
		{"of nothing that listens", func(c string) string { return "redis://" + c + ":" + c + "@" + p.closed + "/0?x=" + c }},
		{"of a Redis", func(c string) string { return "redis://:" + c + "@" + p.healthy + "/0#" + c }},
		{"of a Redis that lacks the user", func(c string) string { return "redis://" + c + ":" + c + "@" + p.healthy }},
		{"of a peer that repeats everything", func(c string) string { return "redis://" + c + ":" + each(c, "%%%02x", "") + "@" + p.echo + "/7" }},
	}
}
