package integration

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A compared is a way to start a worker once Redis is there.
type compared struct {
	name  string
	argv  func(r compareTo) []string // the worker's follow
	limit []string                   // what sets a limit of 1 s; nil: there is none
}

// compareTo is the Redis that is waited for.
type compareTo struct{ addr, url string }

// comparedTools are those that can be run here. The loops are what stands in
// most init scripts.
func comparedTools(t *testing.T) []compared {
	needProgram(t, "redis-cli")
	needProgram(t, "wait-for-it")
	loop := func(question string) func(compareTo) []string {
		script := `until redis-cli -u "$REDIS_URL" ping` + question + `; do sleep 1; done; exec "$@"`
		return func(compareTo) []string { return []string{"sh", "-c", script, "sh"} }
	}
	return []compared{
		{"startgate", func(compareTo) []string { return []string{gatePath(), "--"} }, []string{"--timeout=1"}},
		{"wait-for-it", func(r compareTo) []string { return []string{"wait-for-it", r.addr, "--"} }, []string{"--timeout=1"}},
		{"`until redis-cli ping`", loop(""), nil},
		{"`until redis-cli ping \\| grep PONG`", loop(" | grep -q PONG"), nil},
	}
}

// start starts the worker behind c.
func (c compared) start(t testing.TB, r compareTo, env []string, worker ...string) *gateProcess {
	t.Helper()
	return start(t, c.command(r, env, worker...))
}

func (c compared) command(r compareTo, env []string, worker ...string) *exec.Cmd {
	argv := append(c.argv(r), append([]string{workerPath()}, worker...)...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "REDIS_URL=" + r.url}, env...)
	return cmd
}

// what has become of p: after some seconds it still waits, if it has not come
// to its worker, which exits with 0.
func comparedOutcome(p *gateProcess) string {
	const long = 12 * time.Second // of a busy machine, on which starts take long
	select {
	case <-p.exited:
	case <-time.After(long):
		return "waits"
	}
	if p.code == 0 {
		return "starts the worker"
	}
	return fmt.Sprintf("exit %d", p.code)
}

// comparedRows are the rows of the table, and how each cell comes about.
var comparedRows = []struct {
	name string
	see  func(t *testing.T, c compared) string
}{
	{"Redis loads its data", func(t *testing.T, c compared) string {
		s := startLoading(t, 10*time.Millisecond)
		p := c.start(t, compareTo{s.addr(), s.url("", "")}, nil, "loading", s.addr())
		if got := comparedOutcome(p); got != "waits" {
			if s.info("persistence", "loading") != "1" {
				t.Fatal("the load has ended too early")
			}
			return strings.ReplaceAll(got, "exit 9", "starts the worker") // which says that Redis loads
		}
		s.do("CONFIG", "SET", "key-load-delay", "0")
		checkLoaded(t, p)
		return "waits"
	}},
	{"Redis is a read-only replica", func(t *testing.T, c compared) string {
		s := startRedis(t, redisOptions{args: replicaOf(freePort(t))})
		return comparedOutcome(c.start(t, compareTo{s.addr(), s.url("", "")}, nil, "exit", "0"))
	}},
	{"wrong password", func(t *testing.T, c compared) string {
		s := startRedis(t, redisOptions{args: []string{"--requirepass", "right-password"}})
		p := c.start(t, compareTo{s.addr(), s.url(":wrong-password@", "")}, nil, "exit", "0")
		got := comparedOutcome(p)
		p.cmd.Process.Kill()
		if p.wait(); contains(p.stdout+p.stderr, "wrong-password") {
			t.Error("the password is in the output, which the text denies")
		}
		return got
	}},
	{"a database that does not exist", func(t *testing.T, c compared) string {
		s := startRedis(t, redisOptions{})
		return comparedOutcome(c.start(t, compareTo{s.addr(), s.url("", "/99")}, nil, "exit", "0"))
	}},
	{"a variable of the worker is missing", func(t *testing.T, c compared) string {
		contract := filepath.Join(t.TempDir(), "contract.yaml")
		text := "contract: 1\nname: mailer\nkeys:\n  REDIS_URL: {type: redis_url, required: true}\n  MAIL_API_KEY: {secret: true, required: true}\nwaits: [{redis: REDIS_URL}]\n"
		if err := os.WriteFile(contract, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s := startRedis(t, redisOptions{})
		return comparedOutcome(c.start(t, compareTo{s.addr(), s.url("", "")}, []string{"STARTGATE_CONTRACT=" + contract}, "exit", "0"))
	}},
	{"nobody answers, and the limit is 1 s", func(t *testing.T, c compared) string {
		if c.limit == nil {
			return "has no limit"
		}
		argv := c.argv
		c.argv = func(r compareTo) []string {
			all := argv(r) // the dashes are the last
			return append(append(all[:len(all)-1:len(all)-1], c.limit...), all[len(all)-1])
		}
		addr := "127.0.0.1:" + freePort(t)
		return comparedOutcome(c.start(t, compareTo{addr, "redis://" + addr}, nil, "exit", "0"))
	}},
	{"TERM while it waits, as process 1", func(t *testing.T, c compared) string {
		needRoot(t)
		addr := "127.0.0.1:" + freePort(t)
		cmd := c.command(compareTo{addr, "redis://" + addr}, nil, "exit", "0")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
		p := start(t, cmd)
		time.Sleep(2 * time.Second) // nobody says of a shell that it waits
		cmd.Process.Signal(syscall.SIGTERM)
		return comparedOutcome(p)
	}},
	{"the worker has its PID", func(t *testing.T, c compared) string {
		s := startRedis(t, redisOptions{})
		p := c.start(t, compareTo{s.addr(), s.url("", "")}, nil, "report").wait()
		_, report, _ := strings.Cut(p.stdout, "{") // behind what redis-cli prints
		return yesNo(reported(t, "{"+report).PID == p.cmd.Process.Pid)
	}},
	{"the password is in the list of processes", func(t *testing.T, c compared) string {
		silent, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := silent.Addr().String()
		p := c.start(t, compareTo{addr, "redis://:some-password@" + addr}, nil, "signal")
		conn, err := silent.Accept() // who has connected waits now
		silent.Close()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() }) // before the process is killed: its children end, too
		return yesNo(contains(commandLines(p.cmd.Process.Pid), "some-password"))
	}},
}

// commandLines are those of a process and its descendants.
func commandLines(pid int) string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	all := string(line)
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		children, _ := os.ReadFile(file)
		for child := range strings.FieldsSeq(string(children)) {
			var n int
			fmt.Sscan(child, &n)
			all += commandLines(n)
		}
	}
	return all
}

// The table that compares the gate with what people use is what it shows.
func TestComparison(t *testing.T) {
	t.Parallel()
	tools := comparedTools(t)
	cells := make([][]string, len(comparedRows))
	t.Run("cells", func(t *testing.T) {
		for i, row := range comparedRows {
			cells[i] = make([]string, len(tools))
			for j, tool := range tools {
				t.Run(row.name+"/"+tool.name, func(t *testing.T) {
					t.Parallel()
					cells[i][j] = row.see(t, tool)
				})
			}
		}
	})
	var want strings.Builder
	want.WriteString("| |")
	for _, tool := range tools {
		want.WriteString(" " + tool.name + " |")
	}
	want.WriteString("\n|---|" + strings.Repeat("---|", len(tools)) + "\n")
	for i, row := range comparedRows {
		want.WriteString("| " + row.name + " | " + strings.Join(cells[i], " | ") + " |\n")
	}
	text, err := os.ReadFile("../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(string(text), "<!-- comparison: integration/comparison_linux_test.go holds this table equal to what it sees -->\n\n")
	got, _, ok := strings.Cut(got, "\n<!-- end of comparison -->")
	if !ok || got != want.String() {
		t.Errorf("examples/README.md has\n%s\nwant\n%s", got, want.String())
	}
}
