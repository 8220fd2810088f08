package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

// fewest is how many evaluations the matrix must make. A change that thins it
// out must say so here.
const fewest = 2000

// TestMatrix puts every hostile value in every place, and has the commands
// take turns, so that each meets each place and each value.
func TestMatrix(t *testing.T) {
	needsExec(t)
	t.Parallel()
	start := time.Now()
	m := &matrix{t: t, peers: newPeers(t)}
	all := append(gating[:], others[:]...)

	for i, key := range redisKeys {
		for j, v := range append(texts[:], m.peers.urls()...) {
			m.add(variable(key), v, pick(gating[:], 3*i+2*j), pick(gating[:], 3*i+2*j+1))
		}
	}
	for i, p := range settings() {
		for j, v := range texts {
			if flag := strings.HasPrefix(p.name, "--"); flag && (i/2+j)%2 == 0 {
				continue // a flag's value is read as its variable's is: half will do
			}
			m.add(p, v, pick(gating[:], i+3*j))
		}
	}
	for i, p := range slices.Concat(arguments[:], names[:]) {
		for j, v := range texts {
			m.add(p, v, pick(all, i+2*j))
		}
	}
	for i, p := range slices.Concat(bystanders[:], settings()) {
		for j := range 2 {
			m.add(p, pick(texts[:], 7*i+13*j), pick(others[:], i+j))
		}
		m.add(p, pick(texts[:], 11*i), pick(gating[:], i))
	}

	together(m.jobs)
	t.Logf("%d evaluations in %.1f s", len(m.jobs), time.Since(start).Seconds())
	if len(m.jobs) < fewest {
		t.Errorf("%d evaluations, want %d or more", len(m.jobs), fewest)
	}
	if missed := unreachedReasons(hostileReasons[:]); len(missed) > 0 {
		t.Errorf("no value brought about the reasons %v", missed)
	}
}

// hostileReasons are those that a value, a name or an argument can bring about.
var hostileReasons = [...]envcheck.Reason{
	envcheck.SchemeMissing, envcheck.SchemeUnsupported, envcheck.SocketNotSupported, envcheck.HostMissing,
	envcheck.HostInvalid, envcheck.MultipleHosts, envcheck.PortInvalid, envcheck.DBInvalid, envcheck.DBInQuery,
	envcheck.BadPercentEncoding, envcheck.CredentialsNotEncoded, envcheck.ControlOrSpace, envcheck.TLSModeUnsupported,
	envcheck.ClientsDiffer, envcheck.LF, envcheck.CR, envcheck.Smart,
	envcheck.NotDuration, envcheck.NotInEnum, envcheck.NotKeyNames, envcheck.ControlCharacter,
	envcheck.ServiceLink, envcheck.CloseTo, envcheck.UnknownName,
	envcheck.NotFound, envcheck.NotInPath, envcheck.NoSuchFile,
	envcheck.CommandMissing, envcheck.FlagUnknown, envcheck.FlagValue, envcheck.DashesMissing, envcheck.WorkerMissing,
	envcheck.ExtraArgument, envcheck.CodeUnknown, envcheck.WaitUnknown,
	envcheck.ActionUnknown,
}

// pick takes turns.
func pick[T any](list []T, n int) T { return list[n%len(list)] }

type matrix struct {
	t     *testing.T
	peers peers
	jobs  []func()
}

// add adds an evaluation for each command.
func (m *matrix) add(p place, v value, commands ...invocation) {
	for _, c := range commands {
		n := len(m.jobs)
		m.jobs = append(m.jobs, func() {
			m.process(p, v, c, n).evaluate(m.t)
		})
	}
}

func (m *matrix) process(p place, v value, c invocation, n int) *process {
	canary := newCanary()
	var a attempt
	p.put(&a, v.text(canary))
	env := slices.Concat([]string{
		"PATH=" + os.Getenv("PATH"), "REDIS_URL=redis://" + m.server(c, n) + "/0", "STARTGATE_TIMEOUT=0",
	}, c.env, a.env)
	return &process{
		label:  c.name + ", " + p.name + ", a value " + v.class,
		canary: canary, args: c.args(a), env: env, exit: anyExit,
	}
}

// server is the peer of a process that has another value under test: what is
// not is good, or nearly so, that the process gets far.
func (m *matrix) server(c invocation, n int) string {
	if len(c.env) > 0 {
		// These set the mode. In mode observe a malformed timeout is said, and
		// 300 s are taken for it: too long for a peer that never gets ready.
		return m.peers.healthy
	}
	return pick([]string{m.peers.healthy, m.peers.closed, m.peers.echo}, n)
}

// newPeers starts what URLs of the matrix lead to.
func newPeers(t *testing.T) peers {
	closed := probetest.New(t, probetest.Behaviour{})
	closed.Down()
	return peers{
		closed:  closed.Addr(),
		healthy: probetest.New(t, probetest.Behaviour{}).Addr(),
		echo: probetest.New(t, probetest.Behaviour{
			Replies: map[string]probetest.Reply{"*": probetest.Echo(probetest.TerminalEscapes)},
		}).Addr(),
	}
}

// secretDir makes a directory that has the canary for its name, below one that
// the test removes.
func secretDir(t *testing.T, canary string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), canary)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
