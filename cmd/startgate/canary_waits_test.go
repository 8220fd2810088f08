package main

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

// A waitCondition is a state of a server that is no Redis. Each serves, asks
// and is asked with the canary.
type waitCondition struct {
	name    string
	code    envcheck.Code
	exit    int    // of one attempt
	wait    string // the wait in the contract, after its name
	keyType string
	url     func(c, address string) string
	serve   func(c string) func(net.Conn) // nil: nothing listens
	env     []string
}

// TestWaitConditions meets every condition of a wait that is for no Redis.
func TestWaitConditions(t *testing.T) {
	needsExec(t)
	t.Parallel()
	meetWaits(t, slices.Concat(postgresConditions(t), httpConditions(t), tcpConditions()))
}

// TestCodesOfThePast has the codes that startgates of before have printed, and
// that no input brings about any more. Codes are never removed.
func TestCodesOfThePast(t *testing.T) {
	for _, code := range []envcheck.Code{envcheck.WaitUnsupported} {
		reached(output{stderr: envcheck.Diagnostic{Code: code}.AppendText(nil)})
	}
}

func meetWaits(t *testing.T, conditions []waitCondition) {
	t.Helper()
	var jobs []func()
	for _, c := range conditions {
		jobs = append(jobs,
			func() { c.meet(t, false, "probe", "--format=json") },
			func() { c.meet(t, false, "wait", "--timeout=0") },
			func() { c.meet(t, true, "run", "--timeout=0.7", "--") })
	}
	together(jobs)
}

func (c waitCondition) meet(t *testing.T, budget bool, args ...string) {
	t.Helper()
	canary := newCanary()
	address := "127.0.0.1:1"
	if c.serve != nil {
		address = serveConns(t, c.serve(canary))
	}
	contract := secretDir(t, canary) + "/contract.yaml"
	text := "contract: 1\nname: test\nkeys: {TARGET: {type: " + c.keyType + "}, TOKEN: {secret: true}, CA: {type: path}}\nwaits: [{" + c.wait + "}]\n"
	if err := os.WriteFile(contract, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if args[len(args)-1] == "--" {
		args = append(args, secretWorker(t, canary), canary)
	}
	p := process{
		label: c.name + ", " + args[0], canary: canary, args: args, exit: c.exit,
		env: slices.Concat([]string{
			"STARTGATE_CONTRACT=" + contract, "TARGET=" + c.url(canary, address), "TOKEN=Bearer " + canary,
		}, part(roleWorker), c.env),
	}
	if strings.HasSuffix(string(c.code), "_timeout") {
		p.env = append(p.env, "STARTGATE_REPLY_TIMEOUT=0.3", "STARTGATE_DIAL_TIMEOUT=0.5")
	}
	if budget {
		p.exit = anyExit
		p.evaluate(t)
		return
	}
	p.want(t, p.evaluate(t), string(c.code))
}

// serveConns serves every connection with serve and returns where.
func serveConns(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return l.Addr().String()
}

// afterRead is a peer that speaks second, and then waits for the end.
func afterRead(text string) func(net.Conn) {
	return func(c net.Conn) {
		defer c.Close()
		if _, err := c.Read(make([]byte, 4096)); err != nil {
			return
		}
		io.WriteString(c, text)
		io.Copy(io.Discard, c)
	}
}

// hears is a peer that says nothing.
func hears(c net.Conn) {
	io.Copy(io.Discard, c)
	c.Close()
}

func hangsUp(c net.Conn) { c.Close() }

// say is afterRead with the canary in its text.
func say(text func(c string) string) func(c string) func(net.Conn) {
	return func(c string) func(net.Conn) { return afterRead(text(c)) }
}

// pg is a message of PostgreSQL's.
func pg(kind byte, body string) string {
	return string(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4))) + body
}

// pgError is an error with the canary in every field but the state's.
func pgError(state string) func(c string) string {
	return func(c string) string {
		return pg('E', "SFATAL\x00V"+c+"\x00C"+state+"\x00M"+c+"\x00D"+c+"\n"+injected+"\x00F"+c+"\x00L"+c+"\x00?"+c+"\x00\x00")
	}
}

func postgresURL(tail string) func(c, address string) string {
	return func(c, address string) string {
		return "postgres://" + c + ":" + c + "@" + address + "/" + c + "?application_name=" + c + "&sslmode=" + tail
	}
}

func postgresConditions(t *testing.T) []waitCondition {
	ca, trusted := waitAuthority(t)
	plain := func(code envcheck.Code, exit int, name string, serve func(c string) func(net.Conn)) waitCondition {
		return waitCondition{name: "PostgreSQL, " + name, code: code, exit: exit, wait: "postgres: TARGET", keyType: "postgres_url",
			url: postgresURL("disable"), serve: serve}
	}
	secure := func(code envcheck.Code, exit int, name, mode string, serve func(c string) func(net.Conn)) waitCondition {
		c := plain(code, exit, name, serve)
		c.wait, c.url, c.env = "postgres: TARGET, tls: {ca: CA}", postgresURL(mode), []string{"CA=" + trusted}
		return c
	}
	// An exchange that begins with a request for TLS.
	over := func(leaf func(c string) probetest.Leaf, change func(*tls.Config)) func(c string) func(net.Conn) {
		return func(c string) func(net.Conn) {
			config := waitIdentity(t, ca, leaf(c), change)
			return func(conn net.Conn) {
				defer conn.Close()
				if _, err := io.ReadFull(conn, make([]byte, 8)); err != nil {
					return
				}
				io.WriteString(conn, "S")
				afterRead(pg('R', "\x00\x00\x00\x0a"+c+"\x00\x00"))(tls.Server(conn, config))
			}
		}
	}
	untrusted := secure(envcheck.PostgresTLSUntrusted, 69, "TLS, untrusted", "verify-full", over(goodLeaf, nil))
	untrusted.wait, untrusted.env = "postgres: TARGET", nil
	unverified := secure(envcheck.PostgresTLSUnverified, 0, "TLS, not verified", "require", over(goodLeaf, nil))
	unverified.wait, unverified.env = "postgres: TARGET", nil
	unreachable := plain(envcheck.PostgresUnreachable, 75, "no way there", nil)
	unreachable.url = func(c, _ string) string { return postgresURL("disable")(c, "255.255.255.255:5432") }
	invalid := plain("target_parse_failed", 78, "a parameter that cannot be followed", nil)
	invalid.url = func(c, address string) string { return postgresURL("prefer&host=")(c, address) + c }
	mode := plain("target_parse_failed", 78, "an unknown sslmode", nil)
	mode.url = func(c, address string) string { return postgresURL(c)(c, address) }
	root := plain(envcheck.SettingInvalid, 78, "a file of authorities that is not there", nil)
	root.url = func(c, address string) string { return postgresURL("verify-full&sslrootcert=/"+c)(c, address) }
	return []waitCondition{
		plain(envcheck.Ready, 0, "ready", say(func(c string) string { return pg('R', "\x00\x00\x00\x0a"+c+"\x00\x00") })),
		plain(envcheck.Ready, 0, "lets in", say(func(c string) string {
			return pg('R', "\x00\x00\x00\x00") + pg('S', c+"\x00"+c+"\x00") + pg('N', "M"+c+"\x00\x00") + pg('Z', "I")
		})),
		plain(envcheck.PostgresRefused, 75, "nothing listens", nil),
		unreachable, invalid, mode, root,
		plain(envcheck.PostgresReplyTimeout, 75, "silent", func(string) func(net.Conn) { return hears }),
		plain(envcheck.PostgresClosed, 75, "closes", func(string) func(net.Conn) { return hangsUp }),
		plain(envcheck.PostgresStarting, 75, "starting", say(pgError("57P03"))),
		plain(envcheck.PostgresMaxConnections, 75, "full", say(pgError("53300"))),
		plain(envcheck.PostgresNoDatabase, 69, "no database", say(pgError("3D000"))),
		plain(envcheck.PostgresNotPermitted, 69, "not permitted", say(pgError("28000"))),
		plain(envcheck.PostgresErrorReply, 75, "another error", say(pgError("XX000"))),
		plain(envcheck.PostgresNotPostgres, 69, "a state that is the canary", func(c string) func(net.Conn) { return afterRead(pgError(c)(c)) }),
		plain(envcheck.PostgresNotPostgres, 69, "repeats everything", func(string) func(net.Conn) { return repeats }),
		plain(envcheck.PostgresNotPostgres, 69, "something else", say(func(c string) string { return c + "\r\n" })),
		secure(envcheck.PostgresTLSNotOffered, 69, "TLS, not offered", "verify-ca", say(func(c string) string { return "N" + c })),
		untrusted, unverified,
		secure(envcheck.Ready, 0, "TLS, ready", "verify-full", over(goodLeaf, nil)),
		secure(envcheck.PostgresTLSNameMismatch, 69, "TLS, another name", "verify-full", over(otherLeaf, nil)),
		secure(envcheck.PostgresTLSExpired, 69, "TLS, expired", "verify-full", over(expiredLeaf, nil)),
		secure(envcheck.PostgresTLSNotYetValid, 75, "TLS, not yet valid", "verify-full", over(earlyLeaf, nil)),
		secure(envcheck.PostgresTLSRefused, 69, "TLS, too old", "verify-full", over(goodLeaf, tooOld)),
	}
}

func httpConditions(t *testing.T) []waitCondition {
	ca, trusted := waitAuthority(t)
	at := func(scheme string) func(c, address string) string {
		return func(c, address string) string {
			return scheme + "://" + c + ":" + c + "@" + address + "/" + c + "?" + c + "#" + c
		}
	}
	plain := func(code envcheck.Code, exit int, name string, serve func(c string) func(net.Conn)) waitCondition {
		return waitCondition{name: "HTTP, " + name, code: code, exit: exit, wait: "http: TARGET, header: {name: X-Token, key: TOKEN}", keyType: "http_url",
			url: at("http"), serve: serve}
	}
	status := func(code envcheck.Code, exit int, line string) waitCondition {
		return plain(code, exit, line, say(func(c string) string {
			return "HTTP/1.1 " + line + " " + c + "\r\nServer: " + c + "\r\nLocation: http://" + c + "\r\nSet-Cookie: " + c + "\r\n\r\n" + c
		}))
	}
	secure := func(code envcheck.Code, exit int, name string, serve func(c string) func(net.Conn)) waitCondition {
		c := plain(code, exit, name, serve)
		c.wait, c.url, c.env = "http: TARGET, tls: {ca: CA}", at("https"), []string{"CA=" + trusted}
		return c
	}
	over := func(leaf func(c string) probetest.Leaf, change func(*tls.Config)) func(c string) func(net.Conn) {
		return func(c string) func(net.Conn) {
			config := waitIdentity(t, ca, leaf(c), change)
			return func(conn net.Conn) { afterRead("HTTP/1.1 200 " + c + "\r\n\r\n")(tls.Server(conn, config)) }
		}
	}
	untrusted := secure(envcheck.HTTPTLSUntrusted, 69, "TLS, untrusted", over(goodLeaf, nil))
	untrusted.wait, untrusted.env = "http: TARGET", nil
	unverified := secure(envcheck.HTTPTLSUnverified, 0, "TLS, not verified", over(otherLeaf, nil))
	unverified.wait, unverified.env = "http: TARGET, tls: {verify: none}", nil
	unreachable := plain(envcheck.HTTPUnreachable, 75, "no way there", nil)
	unreachable.url = func(c, _ string) string { return at("http")(c, "255.255.255.255:80") }
	return []waitCondition{
		status(envcheck.Ready, 0, "200"),
		status(envcheck.HTTPUnavailable, 75, "503"),
		status(envcheck.HTTPNotFound, 75, "404"),
		status(envcheck.HTTPForbidden, 69, "401"),
		status(envcheck.HTTPRedirected, 75, "302"),
		status(envcheck.HTTPStatusUnexpected, 75, "418"),
		plain(envcheck.HTTPRefused, 75, "nothing listens", nil),
		unreachable,
		plain(envcheck.HTTPReplyTimeout, 75, "silent", func(string) func(net.Conn) { return hears }),
		plain(envcheck.HTTPClosed, 75, "closes", func(string) func(net.Conn) { return hangsUp }),
		plain(envcheck.HTTPNotHTTP, 69, "something else", say(func(c string) string { return c + "\r\n" })),
		plain(envcheck.HTTPNotHTTP, 69, "a status that is the canary", say(func(c string) string { return "HTTP/1.1 " + c + "\r\n" })),
		plain(envcheck.HTTPNotHTTP, 69, "repeats everything", func(string) func(net.Conn) { return repeats }),
		untrusted, unverified,
		secure(envcheck.Ready, 0, "TLS, ready", over(goodLeaf, nil)),
		secure(envcheck.HTTPTLSNotSpoken, 69, "TLS, not spoken", say(func(c string) string { return "HTTP/1.1 400 " + c + "\r\n" })),
		secure(envcheck.HTTPTLSNameMismatch, 69, "TLS, another name", over(otherLeaf, nil)),
		secure(envcheck.HTTPTLSExpired, 69, "TLS, expired", over(expiredLeaf, nil)),
		secure(envcheck.HTTPTLSNotYetValid, 75, "TLS, not yet valid", over(earlyLeaf, nil)),
		secure(envcheck.HTTPTLSRefused, 69, "TLS, too old", over(goodLeaf, tooOld)),
	}
}

func tcpConditions() []waitCondition {
	at := func(c, address string) string { return "amqp://" + c + ":" + c + "@" + address + "/" + c }
	condition := func(code envcheck.Code, exit int, name string, url func(c, address string) string, serve func(c string) func(net.Conn)) waitCondition {
		return waitCondition{name: "a port, " + name, code: code, exit: exit, wait: "tcp: TARGET", keyType: "url", url: url, serve: serve}
	}
	return []waitCondition{
		condition(envcheck.Ready, 0, "ready", at, say(func(c string) string { return c })),
		condition(envcheck.TCPRefused, 75, "nothing listens", at, nil),
		condition(envcheck.TCPUnreachable, 75, "no way there", func(c, _ string) string { return at(c, "255.255.255.255:5672") }, nil),
		condition("target_invalid", 78, "no port", func(c, _ string) string { return c + "://" + c + ".example/" + c }, nil),
	}
}

// repeats is a peer that says what it hears.
func repeats(c net.Conn) {
	defer c.Close()
	b := make([]byte, 4096)
	if n, err := c.Read(b); err == nil {
		c.Write(bytes.Repeat(b[:n], 2))
		io.Copy(io.Discard, c)
	}
}

// waitAuthority is an authority, and the file that has its certificate.
func waitAuthority(t *testing.T) (*probetest.CA, string) {
	t.Helper()
	ca, err := probetest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	return ca, caFile(t, ca)
}

func waitIdentity(t *testing.T, ca *probetest.CA, leaf probetest.Leaf, change func(*tls.Config)) *tls.Config {
	certificate, err := ca.Issue(leaf)
	if err != nil {
		t.Error(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}}
	if change != nil {
		change(config)
	}
	return config
}

func tooOld(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }

func goodLeaf(c string) probetest.Leaf {
	return probetest.Leaf{Names: []string{"127.0.0.1", c + ".example"}, CommonName: c}
}

func otherLeaf(c string) probetest.Leaf {
	return probetest.Leaf{Names: []string{c + ".example"}, CommonName: "127.0.0.1"}
}

func expiredLeaf(c string) probetest.Leaf {
	leaf := goodLeaf(c)
	leaf.NotBefore, leaf.NotAfter = time.Now().Add(-48*time.Hour), time.Now().Add(-24*time.Hour)
	return leaf
}

func earlyLeaf(c string) probetest.Leaf {
	leaf := goodLeaf(c)
	leaf.NotBefore, leaf.NotAfter = time.Now().Add(24*time.Hour), time.Now().Add(48*time.Hour)
	return leaf
}
