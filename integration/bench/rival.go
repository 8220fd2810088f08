//go:build linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"

	"github.com/startgate/startgate/integration/internal/fixture"
)

// rival is one way to a worker: the gate, what people write in its place, or a
// command that was given.
type rival struct {
	name    string
	args    []string // the worker's follow
	version string   // of what it is run by
	missing bool     // it is not installed
	waits   bool     // it asks again, and does not end at the first no
	own     bool     // args[0] is a file of the lab's

	files []string // what it needs beside args[0], but for libraries: programs of PATH, or paths
	anew  bool     // it connects anew each time it asks
}

// The loops that people write, with the pauses that they write. They ask for
// PONG by name: redis-cli ping alone ends with 0 while Redis loads.
const (
	shLoop = `until redis-cli -u "$REDIS_URL" ${CA_FILE:+--cacert "$CA_FILE"} ping 2>/dev/null | grep -q PONG; do
  sleep 1
done
exec "$@"`
	bashLoop = `until [[ $(redis-cli -u "$REDIS_URL" ${CA_FILE:+--cacert "$CA_FILE"} ping 2>/dev/null) == PONG ]]; do
  sleep 1
done
exec "$@"`
	pythonLoop = `
import os, sys, time, redis
url, ca = os.environ["REDIS_URL"], os.environ.get("CA_FILE")
client = redis.Redis.from_url(url, **({"ssl_ca_certs": ca} if ca else {}))
while True:
    try:
        client.ping()
        break
    except redis.RedisError:
        time.sleep(1)
os.execvp(sys.argv[1], sys.argv[1:])
`
)

func rivals(lab *fixture.Lab, o options) ([]rival, error) {
	gate, err := lab.Gate(o.gate)
	if err != nil {
		return nil, err
	}
	yardstick, err := lab.Build("integration/measure/readypath/yardstick")
	if err != nil {
		return nil, err
	}
	all := []rival{
		{name: "startgate", args: []string{gate, "--"}, waits: true, own: true},
		{name: "Go, by hand", args: []string{yardstick}, own: true},
		{name: "redis-cli loop, sh", args: []string{"sh", "-c", shLoop, "sh"}, waits: true, anew: true, files: []string{"redis-cli", "grep", "sleep"}},
		{name: "redis-cli loop, bash", args: []string{"bash", "-c", bashLoop, "bash"}, waits: true, anew: true, files: []string{"redis-cli", "sleep"}},
		{name: "Python, redis-py", args: []string{"python3", "-c", pythonLoop}, waits: true},
	}
	for i := range all {
		all[i].find()
	}
	for _, r := range o.against {
		r.find()
		all = append(all, r)
	}
	return all, nil
}

// find looks the programs up.
func (r *rival) find() {
	switch r.args[0] {
	case "python3":
		// The one of PATH may be another than the one that has redis-py.
		const about = `
import sys, redis
print("Python %d.%d, redis-py %s" % (*sys.version_info[:2], redis.__version__))
print(*{m.__file__ for m in sys.modules.values() if getattr(m, "__file__", None)}, sep="\n")`
		for _, python := range []string{"python3", "/usr/bin/python3"} {
			if out, err := exec.Command(python, "-c", about).Output(); err == nil {
				lines := strings.Split(strings.TrimSpace(string(out)), "\n")
				r.args[0], r.version, r.files = python, lines[0], lines[1:]
			}
		}
		r.missing = r.version == ""
	case "bash":
		if out, err := exec.Command("bash", "-c", "echo bash ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}").Output(); err == nil {
			r.version = strings.TrimSpace(string(out))
		}
	}
	for _, file := range append([]string{r.args[0]}, r.files...) {
		_, err := exec.LookPath(file)
		r.missing = r.missing || errors.Is(err, exec.ErrNotFound)
	}
	if path, err := exec.LookPath(r.args[0]); err == nil {
		r.args[0] = path
	}
}

// target is a Redis.
type target struct {
	url string
	env []string
}

// command has r become worker once Redis is ready.
func (r *rival) command(t target, worker string) fixture.Command {
	_, address, _ := strings.Cut(t.url, "://")
	address = address[strings.Index(address, "@")+1:]
	address, _, _ = strings.Cut(address, "/")
	host, port, _ := strings.Cut(address, ":")
	c := fixture.Command{Env: append(fixture.Environment(t.url), t.env...)}
	for _, arg := range r.args {
		if !strings.Contains(arg, "\n") { // a script has variables of its own
			arg = os.Expand(arg, func(name string) string {
				return map[string]string{"REDIS_URL": t.url, "REDIS_HOST": host, "REDIS_PORT": port}[name]
			})
		}
		c.Args = append(c.Args, arg)
	}
	c.Args = append(c.Args, worker)
	return c
}
