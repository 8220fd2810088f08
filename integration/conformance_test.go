package integration

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A row is a condition of a server, by its number in the table of conformance,
// and what the gate must make of it.
type row struct {
	number string
	name   string
	server string // that plays the server; "" is each real one
	set    func(t testing.TB) call
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

// TestConformance shows each condition to the gate, on each server that there
// is. Its table says what was found, and why what is not there could not be
// shown.
func TestConformance(t *testing.T) {
	servers := programs(t)
	found := show(t, conformance(), servers)
	for _, n := range notShown {
		found.add(finding{n.number, n.name, "none", "-", "not shown: " + n.reason})
	}
	t.Logf("\n%s", found.table(servers))
}

// show shows rows to the gate: those of a redis-server on each of servers, the
// others once.
func show(t *testing.T, rows []row, servers []program) *findings {
	var found findings
	t.Run("rows", func(t *testing.T) {
		for _, r := range rows {
			on := servers
			if r.server != "" {
				on = []program{{}}
			}
			for _, server := range on {
				t.Run(strings.TrimSuffix(r.number+" "+r.name+", "+server.name, ", "), func(t *testing.T) {
					t.Parallel()
					r.show(onServer{t, server}, &found)
				})
			}
		}
	})
	return &found
}

// conformance is every row, by family.
func conformance() []row {
	return slices.Concat(addressRows(), loadingRows(), replicaRows(), credentialRows(), rightsRows(), clusterRows(),
		stateRows(), peerRows(), tlsRows(), nameRows(), socketRows(), sentinelRows(), needRows())
}

// show shows the row on the server of t, or says why it cannot.
func (r row) show(t onServer, found *findings) {
	f := finding{r.number, r.name, cmp.Or(r.server, t.program.name), "-", "skipped"}
	defer func() {
		if f.verdict == "-" && t.Failed() {
			f.got = "could not be set up"
		}
		found.add(f)
	}()
	r, reason := r.on(t.program)
	if reason != "" {
		f.got = "not shown: " + reason
		return
	}
	c := r.set(t)
	p := r.run(t, c)
	f.verdict, f.got = verdictName(p.code), p.verdict()
	if want := r.want.String(); f.got != want {
		t.Errorf("got  %s\nwant %s\n%s", f.got, want, p.stderr)
	}
	r.checkTime(t, p)
	noValues(t, c, p)
	if c.after != nil {
		c.after()
	}
}

// run runs wait: with a budget that a retried condition must outlast, and for
// any other with one that nothing here may spend.
func (r row) run(t testing.TB, c call) *gateProcess {
	args := []string{"wait", "--timeout", patience.String()}
	if r.want.exit == 75 {
		args = append([]string{"wait", "--timeout", retryBudget.String()}, shortTimeouts...)
	}
	return start(t, through(c.through, command(c.env, append(args, c.flags...)...))).wait()
}

// checkTime checks that a condition that may be cured was waited for, and one
// that cannot was not.
func (r row) checkTime(t testing.TB, p *gateProcess) {
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

// noValues checks that nothing of an address is in what the gate has written.
func noValues(t testing.TB, c call, p *gateProcess) {
	for _, entry := range c.env {
		name, value, _ := strings.Cut(entry, "=")
		if name != "REDIS_URL" && name != "SENTINELS" {
			continue
		}
		if _, tail, ok := strings.Cut(value, "://"); ok {
			value = tail
		}
		for _, part := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("@/?[],", r) }) {
			_, port, _ := strings.Cut(part, ":")
			for _, word := range []string{part, port} {
				if len(word) > 3 && strings.Contains(p.stderr+p.stdout, word) {
					t.Errorf("a part of the address of %d characters is in the output:\n%s", len(word), p.stderr)
				}
			}
		}
	}
}
