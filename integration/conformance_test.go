package integration

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A row is a condition of a server, by its number in the table of conformance,
// and what the gate must make of it.
type row struct {
	number string
	name   string
	server string // "" is redis-server
	set    func(t *testing.T) call
	want   verdict
}

// A call is how the gate is run against a condition.
type call struct {
	env     []string
	flags   []string
	through []string // a command that execs the gate
	after   func()   // a last look at the server, nil for none
}

// at is a call with this URL in REDIS_URL.
func at(url string, flags ...string) call { return call{env: redisURL(url), flags: flags} }

// A verdict is what the gate makes of a condition.
type verdict struct {
	exit     int
	code     string
	reason   string
	warnings []string
}

// The four verdicts.
func isReady(warnings ...string) verdict { return verdict{exit: 0, code: "ready", warnings: warnings} }
func isRetried(code string) verdict      { return verdict{exit: 75, code: code} }
func isRefused(code string) verdict      { return verdict{exit: 69, code: code} }
func isInvalid(reason string) verdict {
	return verdict{exit: 78, code: "redis_parse_failed", reason: reason}
}

// retryBudget is what a condition that waiting may cure has to last. It holds
// a second look of 500 ms and several attempts with shortTimeouts.
const retryBudget = 1300 * time.Millisecond

var shortTimeouts = []string{"--reply-timeout", "0.2", "--dial-timeout", "0.2"}

// finding is a line of the printed table.
type finding struct{ number, name, server, verdict, got string }

// findings collects what parallel subtests find.
type findings struct {
	sync.Mutex
	all []finding
}

func (f *findings) add(x finding) {
	f.Lock()
	defer f.Unlock()
	f.all = append(f.all, x)
}

// TestConformance shows each condition to the gate. Its table says what was
// found, and why what is not there could not be shown.
func TestConformance(t *testing.T) {
	needProgram(t, "redis-server")
	var found findings
	t.Run("rows", func(t *testing.T) {
		for _, r := range conformance() {
			t.Run(r.number+" "+r.name, func(t *testing.T) {
				t.Parallel()
				r.check(t, &found)
			})
		}
	})
	for _, n := range notShown {
		found.add(finding{n.number, n.name, "-", "not shown", n.reason})
	}
	t.Logf("\n%s", found.table())
}

// conformance is every row, by family.
func conformance() []row {
	return slices.Concat(addressRows(), loadingRows(), replicaRows(), credentialRows(), rightsRows(), clusterRows(),
		stateRows(), peerRows(), tlsRows(), nameRows())
}

// notShown are rows of the table that the gate is not shown here.
var notShown = []struct{ number, name, reason string }{
	{"57", "unix sockets", "the gate takes no URL of one yet"},
	{"60", "sentinel does not know the master", "the gate asks no sentinels yet"},
	{"61", "sentinel down", "as 60"},
	{"62", "sentinel is a plain Redis", "as 60"},
	{"63", "sentinel fine, master dead", "as 60"},
	{"67", "pool misuse", "a fault of a gate, see TestRedisStartsAfterTheGate"},
}

func (r row) check(t *testing.T, found *findings) {
	c := r.set(t)
	p := r.run(t, c)
	got := p.verdict()
	server := r.server
	if server == "" {
		server = redisVersion()
	}
	found.add(finding{r.number, r.name, server, verdictName(p.code), got})
	if want := r.want.String(); got != want {
		t.Errorf("got  %s\nwant %s\n%s", got, want, p.stderr)
	}
	r.checkTime(t, p)
	noValues(t, c, p)
	if c.after != nil {
		c.after()
	}
}

// run runs wait: with a budget that a retried condition must outlast, and for
// any other with one that nothing here may spend.
func (r row) run(t *testing.T, c call) *gateProcess {
	args := []string{"wait", "--timeout", patience.String()}
	if r.want.exit == 75 {
		args = append([]string{"wait", "--timeout", retryBudget.String()}, shortTimeouts...)
	}
	return start(t, through(c.through, command(c.env, append(args, c.flags...)...))).wait()
}

// checkTime checks that a condition that may be cured was waited for, and one
// that cannot was not.
func (r row) checkTime(t *testing.T, p *gateProcess) {
	last := p.last()
	switch {
	case r.want.exit == 75 && last.Elapsed < (retryBudget-200*time.Millisecond).Seconds():
		t.Errorf("given up after %.2f s of %s", last.Elapsed, retryBudget)
	case r.want.exit == 75 && last.Attempts < 2:
		t.Errorf("%d attempts", last.Attempts)
	case r.want.exit != 75 && p.took() > patience/4:
		t.Errorf("took %s", p.took())
	}
}

// verdict is what the gate's exit and its lines say, as [verdict.String].
func (p *gateProcess) verdict() string {
	last := p.last()
	v := verdict{exit: p.code, code: last.Code, reason: last.Reason}
	for _, e := range p.events() {
		switch {
		case e.Code == "ready":
			v.code = e.Code
		case e.Level == "warn" && e.Code != last.Code || e.Level == "warn" && p.code == 0:
			v.warnings = append(v.warnings, e.Code)
		}
	}
	return v.String()
}

func (v verdict) String() string {
	s := fmt.Sprintf("%s, exit %d", v.code, v.exit)
	if v.reason != "" {
		s += ", reason " + v.reason
	}
	if len(v.warnings) > 0 {
		s += ", warns " + strings.Join(v.warnings, " ")
	}
	return s
}

// verdictName is the letter that the table of conformance has.
func verdictName(exit int) string {
	switch exit {
	case 0:
		return "R"
	case 69:
		return "P"
	case 75:
		return "T"
	case 78:
		return "78"
	}
	return strconv.Itoa(exit)
}

// noValues checks that nothing of a URL is in what the gate has written.
func noValues(t *testing.T, c call, p *gateProcess) {
	for _, entry := range c.env {
		_, url, ok := strings.Cut(entry, "://")
		if !ok {
			continue
		}
		for _, part := range strings.FieldsFunc(url, func(r rune) bool { return strings.ContainsRune("@/?[]", r) }) {
			_, port, _ := strings.Cut(part, ":")
			for _, word := range []string{part, port} {
				if len(word) > 3 && strings.Contains(p.stderr+p.stdout, word) {
					t.Errorf("a part of the URL of %d characters is in the output:\n%s", len(word), p.stderr)
				}
			}
		}
	}
}

// table is the findings as text, in the order of the numbers.
func (f *findings) table() string {
	f.Lock()
	defer f.Unlock()
	slices.SortStableFunc(f.all, func(a, b finding) int { return leadingNumber(a.number) - leadingNumber(b.number) })
	var b strings.Builder
	fmt.Fprintf(&b, "%-5s %-52s %-13s %-9s %s\n", "row", "condition", "server", "verdict", "code")
	for _, x := range f.all {
		fmt.Fprintf(&b, "%-5s %-52s %-13s %-9s %s\n", x.number, x.name, x.server, x.verdict, x.got)
	}
	return b.String()
}

func leadingNumber(s string) int {
	n, _ := strconv.Atoi(strings.TrimRight(s, "abcdefgh"))
	return n
}
