package compose

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// checks are healthchecks whose outcome is known in all states.
var checks = []string{
	`redis-cli ping`,
	`redis-cli ping || exit 1`,
	`redis-cli -e ping`,
	`redis-cli -e ping >/dev/null`,
	`redis-cli ping | grep PONG`,
	`redis-cli ping | grep -qx PONG || exit 1`,
	`redis-cli ping | grep -qi pong`,
	`redis-cli ping | grep -qx pong`,
	`redis-cli ping | grep -v PONG`,
	`redis-cli ping | grep -q LOADING && exit 1; redis-cli -e ping`,
	`[ "$(redis-cli ping)" = PONG ]`,
	"test `redis-cli ping` = PONG",
	`[ "$(redis-cli ping | tr -d '\r')" = "PONG" ]`,
	`[ "$(redis-cli ping)" != "" ]`,
	`redis-cli info persistence`,
	`redis-cli -e info persistence`,
	`redis-cli info persistence | grep -q loading:0`,
	`redis-cli info persistence | grep -q ^loading:0`,
	`redis-cli info persistence | grep -q '^loading:0$'`,
	`redis-cli info persistence | tr -d '\r' | grep -q '^loading:0$'`,
	`redis-cli info persistence | grep -q loading:1 && exit 1 || exit 0`,
	`redis-cli --raw incr ping`,
	`redis-cli -e incr ping`,
	`redis-cli -e get ping`,
	`redis-cli dbsize`,
	`redis-cli cluster info`,
	`redis-cli echo hi`,
	`redis-cli -e echo hi`,
	`redis-cli -a secret --no-auth-warning -e ping`,
	`REDISCLI_X=1 timeout 20 redis-cli -e ping`,
	`redis-cli ping || true`,
	`redis-cli -e ping; true`,
	`redis-cli -e ping && redis-cli ping`,
	`set -e; redis-cli -e ping; redis-cli echo hi`,
	`redis-cli -e ping || redis-cli ping`,
	`redis-cli --version`,
	`exit 0`,
	`false`,
}

// TestOutcomes holds what is said of a healthcheck to what it does: in a shell,
// with redis-cli, at a Redis in each of the states.
func TestOutcomes(t *testing.T) {
	version, err := exec.Command("redis-server", "--version").Output()
	if err != nil || !strings.Contains(string(version), "v=7.") {
		if os.Getenv("CI") != "" {
			t.Fatal("CI without redis-server 7")
		}
		t.Skip("needs redis-server 7")
	}
	ports := map[state]int{
		ready:           realRedis(t, "PONG", "--save", ""),
		loading:         loadingRedis(t),
		unauthenticated: realRedis(t, "NOAUTH", "--save", "", "--requirepass", "secret"),
		down:            freePort(t),
	}
	for s, name := range map[state]string{ready: "ready", loading: "loading", unauthenticated: "unauthenticated", down: "down"} {
		t.Run(name, func(t *testing.T) {
			port := strconv.Itoa(ports[s])
			for _, check := range checks {
				script := strings.ReplaceAll(check, "redis-cli ", "redis-cli -p "+port+" ")
				a := asked{state: s, port: port, async: true, script: script}
				want := passes
				if err := exec.Command("sh", "-c", script).Run(); err != nil {
					want = fails
				}
				if got := a.run(script); got != want {
					t.Errorf("%s: said %d, and it is %d", check, got, want)
				}
			}
		})
	}
}

// What a shell does is not always known: then nothing is said.
func TestUnsureOutcomes(t *testing.T) {
	for _, script := range []string{
		`/healthcheck.sh`,
		`if redis-cli ping; then exit 0; fi`,
		`redis-cli ping | /filter.sh | grep PONG`,
		`redis-cli ping | grep -f patterns`,
		`redis-cli ping | grep "$EXPECTED"`,
		`redis-cli $OPTIONS ping`,
		`redis-cli --new-option ping`,
		`redis-cli -h elsewhere ping`,
		`redis-cli`,
		`[ "$(/status.sh)" = ok ]`,
		`set -o pipefail; redis-cli ping`,
		`redis-cli ping &`,
		`exit $STATUS`,
		`! redis-cli ping`,
		`pgrep -f redis-server`, // the shell could be the one that finds nothing
	} {
		for _, s := range []state{ready, loading, unauthenticated, down} {
			if got := (asked{state: s}).run(script); got != unsure {
				t.Errorf("%s: said %d in state %d", script, got, s)
			}
		}
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// realRedis starts a Redis and waits until it answers PING with a text.
func realRedis(t *testing.T, until string, args ...string) int {
	t.Helper()
	port := freePort(t)
	cmd := exec.Command("redis-server", append([]string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", t.TempDir()}, args...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if strings.Contains(ask(port, "ping"), until) {
			return port
		}
	}
	t.Fatalf("redis-server does not answer %s", until)
	return 0
}

func ask(port int, command ...string) string {
	out, _ := exec.Command("redis-cli", append([]string{"-p", strconv.Itoa(port)}, command...)...).Output()
	return string(out)
}

// loadingRedis starts a Redis that takes minutes to load its data set, and
// answers all the while.
func loadingRedis(t *testing.T) int {
	t.Helper()
	dir := t.TempDir()
	port := realRedis(t, "PONG", "--dir", dir, "--enable-debug-command", "yes", "--save", "")
	ask(port, "debug", "populate", "300000")
	ask(port, "save")
	if _, err := os.Stat(filepath.Join(dir, "dump.rdb")); err != nil {
		t.Fatal(err)
	}
	slow := realRedis(t, "LOADING", "--dir", dir, "--save", "", "--key-load-delay", "200", "--loading-process-events-interval-bytes", "1024")
	t.Cleanup(func() {
		if !strings.Contains(ask(slow, "ping"), "LOADING") {
			t.Error("Redis was loaded before the test ended")
		}
	})
	return slow
}
