package main

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/startgate/startgate/probe/probetest"
)

// TestConditions meets every condition with the canary for user and password,
// and in the worker's path and arguments.
func TestConditions(t *testing.T) {
	needsExec(t)
	t.Parallel()
	meet(t, conditions[:])
}

// meet lets four commands meet each of the conditions.
func meet(t *testing.T, conditions []condition) {
	t.Helper()
	var jobs []func()
	for _, c := range conditions {
		jobs = append(jobs,
			func() { c.meet(t, false, "run", "--timeout=0", "--") },
			func() { c.meet(t, false, "probe", "--format=json") },
			func() { c.meet(t, true, "wait", "--timeout=0.7") },
			func() { c.meet(t, true, "run", "--format=json", "--timeout=0.7", "--refuse-after=0.2", "--") })
	}
	together(jobs)
}

// meet has one command meet the condition. With a budget a machine that is
// busy can end it in a moment that says something else, so that only a single
// attempt is held to its code.
func (c condition) meet(t *testing.T, budget bool, args ...string) {
	t.Helper()
	canary := newCanary()
	server := probetest.New(t, c.server(canary))
	if c.down {
		server.Down()
	}
	url := c.url
	if url == nil {
		url = withPassword
	}
	if args[len(args)-1] == "--" {
		args = append(args, secretWorker(t, canary), canary, "--password="+canary)
	}
	p := process{
		label: c.name + ", " + args[0] + " " + args[1], canary: canary, args: args, exit: c.exit,
		env: slices.Concat([]string{"REDIS_URL=" + url(canary, server.Addr())}, part(roleWorker), c.env),
	}
	if c.contract != "" {
		p.env = append(p.env, "STARTGATE_CONTRACT="+secretFile(t, canary, strings.ReplaceAll(c.contract, "CANARY", canary)))
	}
	if budget {
		p.exit = anyExit
		p.evaluate(t)
		return
	}
	out := p.evaluate(t)
	if c.code != "" {
		p.want(t, out, string(c.code))
	}
	if out.says("exec") && !bytes.Contains(out.worker, []byte(canary)) {
		t.Errorf("%s: the worker was not given the canary, and so nothing was proved", p.label)
	}
}

// secretWorker returns the path of a worker in a directory that is named with
// the canary. It tells the harness what it was given, and prints nothing.
func secretWorker(t *testing.T, canary string) string {
	t.Helper()
	path := secretDir(t, canary) + "/worker"
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestForgedServers meets servers that answer each command with what they were
// sent, or with what no Redis sends.
func TestForgedServers(t *testing.T) {
	needsExec(t)
	t.Parallel()
	replies := map[string]func(c string) probetest.Reply{
		"repeats everything":   func(string) probetest.Reply { return probetest.Echo(probetest.TerminalEscapes) },
		"repeats it as a line": func(string) probetest.Reply { return probetest.Echo("\n" + injected) },
		"unknown command":      func(string) probetest.Reply { return probetest.Unknown() },
		"status":               func(c string) probetest.Reply { return probetest.Raw("+" + c + "\x1b[31m\r\n") },
		"bulk":                 func(c string) probetest.Reply { return probetest.Bulk(c, 64<<10) },
		"too great a bulk":     func(c string) probetest.Reply { return probetest.Bulk(c, 1<<24) },
		"no RESP":              func(c string) probetest.Reply { return probetest.Raw(c + "\r\n") },
		"a bad length":         func(c string) probetest.Reply { return probetest.Raw("$" + c + "\r\n") },
		"a bad number":         func(c string) probetest.Reply { return probetest.Raw(":" + c + "\r\n") },
		"a bad bool":           func(c string) probetest.Reply { return probetest.Raw("#" + c + "\r\n") },
		"an error in an array": func(c string) probetest.Reply { return probetest.Raw("*1\r\n-LOADING " + c + "\r\n") },
		"a map of an array":    func(c string) probetest.Reply { return probetest.Raw("%1\r\n*1\r\n+" + c + "\r\n+" + c + "\r\n") },
		"a push":               func(c string) probetest.Reply { return probetest.Raw(">2\r\n+" + c + "\r\n+" + c + "\r\n") },
		"a prefix and more":    func(c string) probetest.Reply { return probetest.Error("WRONGPASS " + c + "\x1b[2J") },
		"half a bulk":          func(c string) probetest.Reply { return probetest.HangUp("$99\r\n" + c) },
	}
	var jobs []func()
	n := 0
	for _, name := range slices.Sorted(maps.Keys(replies)) {
		reply := replies[name]
		for _, to := range []string{"*", "AUTH", "HELLO", "SELECT", "PING", "INFO", "LPUSHX"} {
			args := pick([][]string{{"probe", "--format=json"}, {"wait", "--timeout=0"}, {"run", "--timeout=0", "--key-prefix", "x", "--"}}, n)
			n++
			jobs = append(jobs, func() {
				forged := condition{name: name + " to " + to, exit: anyExit, env: hasty,
					url: func(c, address string) string { return "redis://" + c + ":" + c + "@" + address + "/7" },
					server: func(c string) probetest.Behaviour {
						return probetest.Behaviour{Users: map[string]string{c: c}, Replies: map[string]probetest.Reply{to: reply(c)}}
					}}
				forged.meet(t, false, args...)
			})
		}
	}
	for i, field := range []string{"loading_loaded_perc", "loading_eta_seconds", "connected_clients", "loading"} {
		jobs = append(jobs, func() {
			info := condition{name: "INFO " + strconv.Itoa(i), exit: anyExit,
				server: func(c string) probetest.Behaviour {
					return probetest.Behaviour{Users: map[string]string{c: c}, Loading: &probetest.Loading{Percent: 5},
						Info: map[string]string{field: c + "\x1b[2J"}}
				}}
			info.meet(t, false, "probe", "--format=text")
		})
	}
	together(jobs)
}
