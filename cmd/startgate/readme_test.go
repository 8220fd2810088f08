package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/gate"
	"github.com/startgate/startgate/probe/probetest"
)

// readmeRoot is the top of the repository.
const readmeRoot = "../.."

// readmeFiles are the README and the manual, seen from the top.
var readmeFiles = [...]string{"README.md", "cmd/startgate/README.md"}

// readmeText is all that they say.
func readmeText(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, file := range readmeFiles {
		text, err := os.ReadFile(filepath.Join(readmeRoot, file))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
		all.WriteString("\n")
	}
	return all.String()
}

// readmeBlocks returns the lines of the fenced blocks of a language.
func readmeBlocks(t *testing.T, language string) (blocks [][]string) {
	t.Helper()
	for _, part := range strings.Split(readmeText(t), "\n```"+language+"\n")[1:] {
		block, _, ok := strings.Cut(part, "\n```")
		if !ok {
			t.Fatalf("a block of %s does not end", language)
		}
		blocks = append(blocks, strings.Split(block, "\n"))
	}
	if len(blocks) == 0 {
		t.Fatalf("there is no block of %s", language)
	}
	return blocks
}

// readmeRun is one run of the gate.
type readmeRun struct {
	redis *probetest.Behaviour // nil: none, and no URL
	login string
	env   []string
	stop  bool // by TERM, once it has said something of Redis
}

// lines runs the gate and returns what it wrote.
func (r *readmeRun) lines(t *testing.T, bin string) []string {
	t.Helper()
	cmd := exec.Command(bin, "--", "true")
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "STARTGATE_REDIS_KEYS=RQ_REDIS_URL"}, r.env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	var server *probetest.Server
	if r.redis != nil {
		server = probetest.New(t, *r.redis)
		cmd.Env = append(cmd.Env, "RQ_REDIS_URL=redis://"+r.login+server.Addr()+"/0")
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if r.stop {
		if err := server.Wait(t.Context(), probetest.Commands("PING", 2)); err != nil {
			t.Error(err)
		}
		cmd.Process.Signal(syscall.SIGTERM)
	}
	cmd.Wait()
	return strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\n")
}

// readmeVarying is what differs from run to run, and where Redis is.
var readmeVarying = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\b(elapsed|eta|waited|left)=[0-9.]+m?s\b`), "$1=T"},
	{regexp.MustCompile(`\bloaded=\d+%`), "loaded=N%"},
	{regexp.MustCompile(`\battempts=\d+`), "attempts=N"},
	{regexp.MustCompile(`:\d+/[0-9.]+m?s\b`), ":N/T"},
	{regexp.MustCompile(`\baddress=(loopback|private|public)\b`), "address=A"},
	{regexp.MustCompile(`\bport=(default|other)\b`), "port=P"},
	{regexp.MustCompile(`"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`), `"time":"T"`},
	{regexp.MustCompile(`"(elapsed|waited|left|seconds|attempts)":[0-9.]+`), `"$1":N`},
}

func readmeNormal(line string) string {
	for _, v := range readmeVarying {
		line = v.pattern.ReplaceAllString(line, v.with)
	}
	return line
}

// Every line of output that the README quotes comes out of a run.
func TestReadmeQuotesRealOutput(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "startgate")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	brief := func() *probetest.Behaviour {
		return &probetest.Behaviour{Loading: probetest.LoadFor(time.Second)}
	}
	printed := map[string]bool{}
	var jsonLines []string
	for _, r := range []readmeRun{
		{redis: &probetest.Behaviour{Loading: &probetest.Loading{Percent: 61, ETA: 3 * time.Second}}, stop: true},
		{redis: brief()},
		{redis: brief(), env: []string{"STARTGATE_FORMAT=json"}},
		{redis: &probetest.Behaviour{}, env: []string{"STARTGATE_FORMAT=json"}},
		{redis: &probetest.Behaviour{Password: "right"}, login: ":wrong@"},
		{},
		{env: []string{"STARTGATE_MODE=observe"}},
	} {
		if r.redis != nil && r.redis.Loading != nil && !r.stop {
			r.redis = brief() // it begins to load now
		}
		for _, line := range r.lines(t, bin) {
			printed[readmeNormal(line)] = true
			if strings.HasPrefix(line, "{") {
				jsonLines = append(jsonLines, line)
			}
		}
	}

	quoted := 0
	for _, block := range slices.Concat(readmeBlocks(t, "text"), readmeBlocks(t, "json")) {
		for _, line := range block {
			quoted++
			if !printed[readmeNormal(line)] {
				t.Errorf("no run has printed\n%s\nbut\n%s", line, strings.Join(slices.Sorted(maps.Keys(printed)), "\n"))
			}
		}
	}
	if outside := len(regexp.MustCompile(`(?m)^(startgate: |\{"v")`).FindAllString(readmeText(t), -1)); quoted < 5 || outside != quoted {
		t.Errorf("the README has %d lines of output, %d of them where this test looks", outside, quoted)
	}
	t.Run("jq", func(t *testing.T) { readmeJQ(t, jsonLines) })
}

// readmeJQ runs the README's jq program on lines, among which are two starts,
// the first held up by a Redis that loads.
func readmeJQ(t *testing.T, lines []string) {
	if _, err := exec.LookPath("jq"); err != nil && os.Getenv("CI") == "" {
		t.Skip("there is no jq")
	}
	match := regexp.MustCompile(`jq -nR '([^']+)'`).FindStringSubmatch(readmeText(t))
	if match == nil {
		t.Fatal("the README has no jq program")
	}
	cmd := exec.Command("jq", "-cnR", match[1])
	// The worker's own lines are in the same log.
	cmd.Stdin = strings.NewReader("a worker's line\n17\n\"text\"\n" + strings.Join(lines, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Starts  int
		HeldUp  int     `json:"held_up"`
		Waited  float64 `json:"waited_at_most"`
		Delayed *float64
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.Starts != 2 || got.HeldUp != 1 || got.Waited < 0.5 || got.Delayed == nil || *got.Delayed != 0 {
		t.Errorf("jq says %s", out)
	}
}

// The table of settings is the program's.
func TestReadmeSettings(t *testing.T) {
	var want strings.Builder
	want.WriteString("| Variable | Default | Meaning |\n|---|---|---|\n")
	known := map[string]bool{}
	keys := ""
	for _, s := range gate.SettingInfos() {
		known[string(s.Variable)] = true
		if s.Name == "redis-keys" {
			keys = "`" + strings.ReplaceAll(s.Default, "|", "`, `") + "`"
		}
		cell := "–"
		if s.Default != "" {
			cell = "`" + s.Default + "`"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", s.Variable,
			strings.ReplaceAll(cell, "|", `\|`), strings.ReplaceAll(s.Doc, "|", `\|`))
	}
	text := readmeText(t)
	_, table, _ := strings.Cut(text, "<!-- settings:")
	_, table, _ = strings.Cut(table, "-->\n\n")
	table, _, ok := strings.Cut(table, "\n<!-- end of settings -->")
	if !ok || table != want.String() {
		t.Errorf("between the marks of the README's settings there should be\n%s", want.String())
	}
	if !strings.Contains(strings.ReplaceAll(text, "\n", " "), "The first of these that is set: "+keys) {
		t.Errorf("the README should list %s", keys)
	}
	for _, name := range regexp.MustCompile(`STARTGATE_[A-Z_]+`).FindAllString(text, -1) {
		if !known[name] {
			t.Errorf("there is no setting %s", name)
		}
	}
	for _, flag := range regexp.MustCompile("`--([a-z-]+)`").FindAllStringSubmatch(text, -1) {
		if !known["STARTGATE_"+strings.ToUpper(strings.ReplaceAll(flag[1], "-", "_"))] {
			t.Errorf("there is no flag --%s", flag[1])
		}
	}
}

// The table of exit codes has those of package gate, and so do the lists of
// what an orchestrator should not try again.
func TestReadmeExitCodes(t *testing.T) {
	tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(readmeRoot, "gate", "exit.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	ast.Inspect(tree, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			value := spec.Values[0].(*ast.BasicLit)
			want = append(want, constant.MakeFromLiteral(value.Value, value.Kind, 0).ExactString())
		}
		return true
	})
	text := readmeText(t)
	_, section, _ := strings.Cut(text, "\n| Code | Meaning |\n")
	section, _, _ = strings.Cut(section, "\n\n")
	var got []string
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(section, -1) {
		got = append(got, row[1])
	}
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("the README has exit codes %v, the program %v", got, want)
	}
	if !strings.Contains(section, "\n| 128+n |") {
		t.Error("the README does not tell the codes of signals")
	}

	fixFirst := []int{
		gate.ExitUsage, gate.ExitContractMalformed, gate.ExitContractUnreadable, gate.ExitRefused, gate.ExitEnvironment,
		gate.ExitNotExecutable, gate.ExitNotFound,
	}
	list := strings.Trim(fmt.Sprint(fixFirst), "[]")
	for _, want := range []string{
		"| " + strings.ReplaceAll(list, " ", ", ") + ": fix first |",
		"values: [" + strings.ReplaceAll(list, " ", ", ") + "]",
		"RestartPreventExitStatus=" + list + "\n",
		fmt.Sprintf("| %d: may help |", gate.ExitBudgetSpent),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the README lacks %q", want)
		}
	}
	for _, exit := range fixFirst {
		if message := (envcheck.Diagnostic{Exit: exit}).Message(); !strings.HasSuffix(message, ": fix first)") {
			t.Errorf("the gate does not say fix first: %s", message)
		}
	}
}

// The contract of the README is one, and so is what it says of it.
func TestReadmeContract(t *testing.T) {
	for _, block := range readmeBlocks(t, "yaml") {
		text := strings.Join(block, "\n")
		if !strings.HasPrefix(text, "contract: 1\n") {
			continue
		}
		if _, faults := envcheck.Load(strings.NewReader(text)); len(faults) > 0 {
			t.Errorf("%s", faults[0].AppendText(nil))
		}
		return
	}
	t.Error("there is no contract")
}

// Every code that the README mentions exists.
func TestReadmeCodes(t *testing.T) {
	notCodes := map[string]bool{ // of compose, of URLs, of jq's program, of contracts
		"redis_url": true, "skip_when": true, "on_skip": true, "key_prefix": true,
		"depends_on": true, "service_healthy": true, "ssl_cert_reqs": true,
		"ssl_certfile": true, "ssl_keyfile": true, "server_name": true, "max_age": true,
		"held_up": true, "waited_at_most": true, "would_exit": true,
		"start_period": true, "stop_grace_period": true, "sarif_file": true,
	}
	codes := envcheck.Codes()
	checkCode := func(code string) {
		if !slices.Contains(codes, envcheck.Code(code)) {
			t.Errorf("there is no code %s", code)
		}
	}
	text := regexp.MustCompile(`\]\([^)]*\)`).ReplaceAllString(readmeText(t), "") // no targets of links
	for _, word := range regexp.MustCompile(`[a-z]+(_[a-z]+)+(\.go)?`).FindAllString(text, -1) {
		if !notCodes[word] && !strings.HasSuffix(word, ".go") {
			checkCode(word)
		}
	}
	for _, code := range regexp.MustCompile(`(?m)^startgate: \w+ +(\w+)|"code":"(\w+)"|\.code\? == "(\w+)"`).FindAllStringSubmatch(text, -1) {
		checkCode(code[1] + code[2] + code[3])
	}
}

// anchorsOf are the anchors of a page's headings, as GitHub makes them.
func anchorsOf(t *testing.T, page string) (anchors []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(readmeRoot, page))
	if err != nil {
		t.Fatal(err)
	}
	for _, heading := range regexp.MustCompile(`(?m)^##+ (.+)$`).FindAllStringSubmatch(string(text), -1) {
		anchor := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		anchors = append(anchors, strings.ReplaceAll(anchor, " ", "-"))
	}
	return anchors
}

// Every command and file that the README names exists.
func TestReadmeCommands(t *testing.T) {
	exists := func(path string) bool {
		_, err := os.Stat(filepath.Join(readmeRoot, path))
		return err == nil
	}
	for _, file := range append(readmeFiles[:], "cmd/startgate-compose/README.md") {
		text, err := os.ReadFile(filepath.Join(readmeRoot, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(string(text), -1) {
			if strings.HasPrefix(link[1], "https://") {
				continue
			}
			page, anchor, _ := strings.Cut(link[1], "#")
			page = filepath.Join(filepath.Dir(file), page)
			if !exists(page) || anchor != "" && !slices.Contains(anchorsOf(t, page), anchor) {
				t.Errorf("%s: there is no %s", file, link[1])
			}
		}
	}
	for line := range strings.Lines(readmeText(t)) {
		for _, command := range regexp.MustCompile(`go (run|test) (\./[\w./]+)`).FindAllStringSubmatch(line, -1) {
			// A row of the numbers without a figure may be ahead of its program.
			path := strings.TrimSuffix(command[2], "/...")
			if !exists(path) && !strings.Contains(line, "| – |") || command[1] == "run" && path == "." {
				t.Errorf("there is no %s", command[2])
			}
		}
		for _, verb := range regexp.MustCompile("`startgate ([a-z]+)").FindAllStringSubmatch(line, -1) {
			if out, err := exec.Command("go", "run", ".", verb[1], "-h").CombinedOutput(); err != nil {
				t.Errorf("startgate %s -h: %v\n%s", verb[1], err, out)
			}
		}
	}
}

// The first command of the README shows what it says.
func TestReadmeQuickstart(t *testing.T) {
	cmd := exec.Command("go", "run", "./examples/quickstart")
	cmd.Dir = readmeRoot
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rest := string(out)
	for _, want := range []string{
		"\n1  ", "startgate: info  redis_loading ", "startgate: info  exec ", "worker: pid ", "the gate's own", "exit 0, as expected",
		"\n2  ", "startgate: error redis_auth_rejected ", "exit 69, as expected",
		"\n3  ", "startgate: error redis_missing ", "exit 78, as expected",
	} {
		_, after, ok := strings.Cut(rest, want)
		if !ok {
			t.Fatalf("%q is missing, or not in its place, in\n%s", want, out)
		}
		rest = after
	}
	if bytes.Contains(out, []byte("\x1b")) {
		t.Errorf("colours without a terminal:\n%q", out)
	}
}
