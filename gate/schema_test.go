package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

const schemaFile = "../envcheck/events.schema.json"

// A schemaScene is one run of the gate and what it is to say.
type schemaScene struct {
	name  string
	redis *probetest.Behaviour // nil: none, and REDIS_URL is as in env
	load  time.Duration        // how long redis loads, from the start on
	login string               // user and password in REDIS_URL
	tls   bool                 // rediss:// in REDIS_URL
	args  []string
	env   []string       // {address} is where redis is
	stop  syscall.Signal // sent once redis was asked twice
	exit  int
	codes []envcheck.Code // of every line, in order
}

// A schemaRun is what came out of a scene.
type schemaRun struct {
	text []byte // of stderr, then of stdout
	exit int
	err  error
}

// TestJSONLinesMeetTheSchema runs the built gate through many scenes: every
// line is valid, and there is no field in the schema that none of them has.
func TestJSONLinesMeetTheSchema(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "startgate")
	build := exec.Command("go", "build", "-o", bin, "../cmd/startgate")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	schema := compileSchema(t)

	// Not t.Parallel: most scenes only wait, and it runs as many of them as
	// there are processors.
	scenes := schemaScenes(t)
	runs := make([]chan schemaRun, len(scenes))
	slots := make(chan struct{}, 8)
	for i := range scenes {
		runs[i] = make(chan schemaRun, 1)
		go func() {
			slots <- struct{}{}
			runs[i] <- scenes[i].play(t.Context(), bin)
			<-slots
		}()
	}
	seen := map[string]bool{}
	for i, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			run := <-runs[i]
			if run.err != nil {
				t.Fatal(run.err)
			}
			if run.exit != s.exit {
				t.Errorf("exit %d, want %d", run.exit, s.exit)
			}
			var codes []envcheck.Code
			for line := range bytes.Lines(run.text) {
				value, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				if err := schema.Validate(value); err != nil {
					t.Errorf("%s: %v", line, err)
				}
				object := value.(map[string]any)
				code, _ := object["code"].(string)
				codes = append(codes, envcheck.Code(code))
				addFields(seen, "", object)
			}
			if !bytes.HasSuffix(run.text, []byte("}\n")) {
				t.Error("the last line does not end")
			}
			if !slices.Equal(codes, s.codes) {
				t.Errorf("got lines %v, want %v", codes, s.codes)
			}
		})
	}
	for _, field := range slices.Sorted(maps.Keys(schemaFields(t))) {
		if !seen[field] && (runtime.GOOS == "linux" || !slices.Contains([]string{"phase", "revision", "enabled", "queues", "redis", "postgres"}, field)) {
			t.Errorf("the schema has %s, and no line had it", field)
		}
	}
}

// TestSchemaHasEveryField holds the schema against the program's source, for
// the lines that no scene brings about.
func TestSchemaHasEveryField(t *testing.T) {
	declared := schemaFields(t)
	inSource := map[string]bool{}
	for _, dir := range []string{".", "../cmd/startgate", "../envcheck"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no source in %s: %v", dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, name := range fieldsInSource(t, file) {
				inSource[name] = true
				if !declared[name] {
					t.Errorf("%s has the field %s, and the schema does not", file, name)
				}
			}
		}
	}
	for _, name := range []string{"v", "time", "level", "code", "wait", "keys", "near", "reason", "exit", "message"} {
		inSource[name] = true // what every diagnostic can have
	}
	for name := range declared {
		if !inSource[name] && !strings.Contains(name, ".") {
			t.Errorf("the schema has the field %s, and the program does not", name)
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	schema := compileSchema(t)
	const start = `{"v":1,"time":"2026-01-02T03:04:05.678Z","level":"info"`
	for _, line := range []string{
		`{}`,
		start + `}`,
		start + `,"code":"Ready"}`,
		start + `,"code":"ready"}`,
		start + `,"code":"mode_off","unknown":1}`,
		start + `,"code":"mode_off","elapsed":"1s"}`,
		start + `,"code":"mode_off","keys":["lower"]}`,
		start + `,"code":"mode_off","exit":1}`,
		start + `,"code":"mode_off","causes":{"redis_loading":3}}`,
		strings.Replace(start, "Z", "+00:00", 1) + `,"code":"mode_off"}`,
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(value) == nil {
			t.Errorf("takes %s", line)
		}
	}
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// schemaFields returns the names of the schema's fields, those of a nested
// object after its own name and a dot.
func schemaFields(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]struct {
			AdditionalProperties struct{ Properties map[string]any }
		}
	}
	var schema object
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	fields := map[string]bool{}
	for name, p := range schema.Properties {
		fields[name] = true
		for inner := range p.AdditionalProperties.Properties {
			fields[name+"."+inner] = true
		}
	}
	return fields
}

// addFields adds the names that schemaFields gives to the fields of object.
func addFields(seen map[string]bool, prefix string, object map[string]any) {
	for name, value := range object {
		seen[prefix+name] = true
		if causes, ok := value.(map[string]any); ok {
			for _, cause := range causes {
				addFields(seen, name+".", cause.(map[string]any))
			}
		}
	}
}

// fieldsInSource returns the names with which file makes fields.
func fieldsInSource(t *testing.T, file string) (names []string) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return true
		}
		made := ""
		switch f := call.Fun.(type) {
		case *ast.SelectorExpr:
			if pkg, ok := f.X.(*ast.Ident); ok && pkg.Name == "envcheck" {
				made = f.Sel.Name
			}
		case *ast.Ident:
			if tree.Name.Name == "envcheck" {
				made = f.Name
			}
		}
		switch made {
		case "Dur", "Int", "Percent", "Is", "Says", "Causes":
		default:
			return true
		}
		name, ok := call.Args[0].(*ast.BasicLit)
		if !ok {
			t.Errorf("%s: the name of a field is not written out", file)
			return true
		}
		text, err := strconv.Unquote(name.Value)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, text)
		return true
	})
	return names
}

// play runs the gate.
func (s *schemaScene) play(ctx context.Context, bin string) (run schemaRun) {
	args := s.args
	if args == nil {
		args = []string{"--", "true"}
	}
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Env = []string{"STARTGATE_FORMAT=json", "PATH=/usr/bin:/bin"}
	address := ""
	var server *probetest.Server
	if s.redis != nil {
		behaviour := *s.redis
		if s.load > 0 {
			behaviour.Loading = probetest.LoadFor(s.load)
		}
		if server, run.err = probetest.Start(behaviour); run.err != nil {
			return run
		}
		defer server.Close()
		address = server.Addr()
		scheme := "redis://"
		if s.tls {
			scheme = "rediss://"
		}
		cmd.Env = append(cmd.Env, "REDIS_URL="+scheme+s.login+address+"/0")
	}
	for _, entry := range s.env {
		cmd.Env = append(cmd.Env, strings.ReplaceAll(entry, "{address}", address))
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if run.err = cmd.Start(); run.err != nil {
		return run
	}
	if s.stop != 0 {
		run.err = server.Wait(ctx, probetest.Commands("PING", 2))
		cmd.Process.Signal(s.stop)
	}
	cmd.Wait()
	run.exit = cmd.ProcessState.ExitCode()
	run.text = append(stderr.Bytes(), stdout.Bytes()...)
	return run
}

func schemaScenes(t *testing.T) []schemaScene {
	t.Helper()
	ca, err := probetest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	secure, err := ca.ServerConfig("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(caFile, ca.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	const nobody = "REDIS_URL=redis://127.0.0.1:1/0"
	healthy := &probetest.Behaviour{}
	loading := &probetest.Behaviour{Loading: &probetest.Loading{Percent: 61, ETA: 3 * time.Second}}
	type codes = []envcheck.Code
	contract := func(text string) string {
		path := filepath.Join(t.TempDir(), "contract.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "STARTGATE_CONTRACT=" + path
	}
	good := contract(`contract: 1
name: worker
owns: [WORKER_*]
keys:
  WORKER_ENABLED: {type: bool, default: "true", expose: value}
  QUEUE_URL: {type: redis_url, required: true, fallback: [REDIS_URL]}
  REDIS_URL: {type: redis_url}
  WORKER_TOKEN: {secret: true}
skip_when: not WORKER_ENABLED
waits: [{redis: QUEUE_URL}, {redis: REDIS_URL, name: idle, when: unset(REDIS_URL)}]
`)
	bad := contract("contract: 1\nname: x\nkeyz: {}\n")
	revised := contract("contract: 1\nname: x\nkeys: {GIT_SHA: {}, QUEUE: {type: redis_url}, DATABASE: {type: postgres_url}}\n" +
		"waits: [{redis: QUEUE}, {postgres: DATABASE}]\nqueues: [default, mail]\nhealth: {revision: GIT_SHA}\n")
	scenes := []schemaScene{
		{name: "contract", redis: healthy, env: []string{good, "WORKER_ENABLED=1", "WORKER_TOKEN=s3cret-token"}, args: []string{"--", "true", "s3cret-token"},
			codes: codes{envcheck.EnvFallbackUsed, envcheck.SecretInArgv, envcheck.WaitNotDone, envcheck.Start, envcheck.Ready, envcheck.Exec}},
		{name: "contract, check", redis: healthy, env: []string{good, "WORKER_ENABLED=1", "WORKER_TOKENS=x", "WORKER_SOMETHING=x"}, args: []string{"check"},
			codes: codes{envcheck.EnvFallbackUsed, envcheck.EnvUnknownKey, envcheck.EnvUnknownKeys,
				envcheck.FactCode, envcheck.FactCode, envcheck.FactCode, envcheck.FactCode, envcheck.ContractOK, envcheck.WaitNotDone, envcheck.Plan}},
		{name: "contract, missing", env: []string{good, "QUEUE_ULR=x"},
			exit: 78, codes: codes{"queue_url_missing", "redis_url_missing"}},
		{name: "contract, skipped", env: []string{good, "WORKER_ENABLED=0"},
			codes: codes{envcheck.WorkerDisabled, envcheck.Exec}},
		{name: "contract, malformed", env: []string{bad},
			exit: 65, codes: codes{envcheck.ContractMissingField, envcheck.ContractUnknownField}},
		{name: "contract lint", env: []string{good}, args: []string{"contract", "lint"},
			codes: codes{envcheck.ContractValid}},
		{name: "a long load", redis: loading, env: []string{"STARTGATE_TIMEOUT=12s"},
			exit: 75, codes: codes{envcheck.Start, envcheck.RedisLoading, envcheck.Waiting, envcheck.RedisLoading}},
		{name: "ready", redis: healthy,
			codes: codes{envcheck.Start, envcheck.Ready, envcheck.Exec}},
		{name: "loading, then ready", redis: healthy, load: 2500 * time.Millisecond,
			codes: codes{envcheck.Start, envcheck.RedisLoading, envcheck.Ready, envcheck.Exec}},
		{name: "delay", redis: healthy, env: []string{"STARTGATE_DELAY=50ms", "STARTGATE_START_JITTER=50ms"},
			codes: codes{envcheck.Start, envcheck.Ready, envcheck.Delay, envcheck.Exec}},
		{name: "two waits", redis: healthy, env: []string{"STARTGATE_REDIS_KEYS=REDIS_URL,OTHER_URL", "OTHER_URL=redis://{address}/1"},
			codes: codes{envcheck.Start, envcheck.Ready, envcheck.Ready, envcheck.Exec}},
		{name: "nobody there", env: []string{nobody, "STARTGATE_TIMEOUT=1s"},
			exit: 75, codes: codes{envcheck.Start, envcheck.RedisRefused, envcheck.RedisRefused}},
		{name: "refused for good", redis: &probetest.Behaviour{Password: "right"}, login: ":wrong@",
			exit: 69, codes: codes{envcheck.Start, envcheck.RedisAuthRejected}},
		{name: "refused after a while", redis: &probetest.Behaviour{Password: "right"}, login: ":wrong@", env: []string{"STARTGATE_REFUSE_AFTER=1s"},
			exit: 69, codes: codes{envcheck.Start, envcheck.RedisAuthRejected, envcheck.RedisAuthRejected}},
		{name: "stopped by TERM", redis: loading, stop: syscall.SIGTERM,
			exit: 143, codes: codes{envcheck.Start, envcheck.RedisLoading, envcheck.Stopped}},
		{name: "stopped by INT", redis: loading, stop: syscall.SIGINT,
			exit: 130, codes: codes{envcheck.Start, envcheck.RedisLoading, envcheck.Stopped}},

		{name: "password not configured", redis: healthy, login: ":needless@",
			codes: codes{envcheck.Start, envcheck.Ready, envcheck.RedisAuthNotConfigured, envcheck.Exec}},
		{name: "TLS", redis: &probetest.Behaviour{TLS: secure}, tls: true, env: []string{"STARTGATE_TLS_CA_FILE=" + caFile},
			codes: codes{envcheck.Start, envcheck.Ready, envcheck.Exec}},
		{name: "TLS, untrusted", redis: &probetest.Behaviour{TLS: secure}, tls: true,
			exit: 69, codes: codes{envcheck.Start, envcheck.RedisTLSUntrusted}},
		{name: "TLS, unverified", redis: &probetest.Behaviour{TLS: secure}, tls: true, env: []string{"STARTGATE_TLS_VERIFY=none"},
			codes: codes{envcheck.Start, envcheck.Ready, envcheck.RedisTLSUnverified, envcheck.Exec}},

		{name: "missing",
			exit: 78, codes: codes{envcheck.RedisMissing}},
		{name: "unreadable", env: []string{"REDIS_URL=http://127.0.0.1"},
			exit: 78, codes: codes{envcheck.RedisParseFailed}},
		{name: "quoted", env: []string{`REDIS_URL="redis://127.0.0.1"`},
			exit: 78, codes: codes{envcheck.EnvQuotedValue}},
		{name: "another broker", redis: healthy, env: []string{"CELERY_BROKER_URL=amqp://127.0.0.1"},
			codes: codes{envcheck.BrokerNotRedis, envcheck.Start, envcheck.Ready, envcheck.Exec}},
		{name: "settings malformed", env: []string{"STARTGATE_TIMEOUT=soon", "STARTGATE_REDIS_KEYS=lower"},
			exit: 78, codes: codes{envcheck.SettingInvalid, envcheck.SettingInvalid}},
		{name: "flag malformed", args: []string{"run", "--interval-min=0", "--", "true"},
			exit: 78, codes: codes{envcheck.SettingInvalid}},
		{name: "settings unknown", redis: healthy, env: []string{"STARTGATE_TIMEOUTS=1", "STARTGATE_PORT=1", "STARTGATE_SOMETHING=1"},
			codes: codes{envcheck.SettingUnknown, envcheck.SettingUnknown, envcheck.SettingUnknown, envcheck.Start, envcheck.Ready, envcheck.Exec}},
		{name: "contract file", env: []string{"STARTGATE_CONTRACT=/nowhere"},
			exit: 66, codes: codes{envcheck.ContractUnreadable}},

		{name: "observe, missing", env: []string{"STARTGATE_MODE=observe"},
			codes: codes{envcheck.RedisMissing, envcheck.Start, envcheck.Observed, envcheck.Exec}},
		{name: "observe, refused", redis: &probetest.Behaviour{Password: "right"}, env: []string{"STARTGATE_MODE=observe"},
			codes: codes{envcheck.Start, envcheck.RedisAuthRequired, envcheck.Observed, envcheck.Exec}},
		{
			name: "observe, contract file", redis: healthy, env: []string{"STARTGATE_MODE=observe", "STARTGATE_CONTRACT=/nowhere"},
			codes: codes{envcheck.ContractUnreadable, envcheck.Start, envcheck.Observed, envcheck.Exec},
		},
		{name: "off", env: []string{"STARTGATE_MODE=off"},
			codes: codes{envcheck.ModeOff, envcheck.Exec}},

		{name: "no such worker", env: []string{nobody}, args: []string{"--", "no-such-worker"},
			exit: 127, codes: codes{envcheck.ExecNotFound}},
		{name: "worker is a directory", env: []string{nobody}, args: []string{"--", "/"},
			exit: 126, codes: codes{envcheck.ExecDenied}},
		{name: "shell", redis: healthy, args: []string{"--", "sh", "-c", "exit 3"}, env: []string{"STARTGATE_REQUIRE=ping"},
			exit: 3, codes: codes{envcheck.WorkerInShell, envcheck.Start, envcheck.Ready, envcheck.Exec}},

		{name: "check", env: []string{nobody}, args: []string{"check"},
			codes: codes{envcheck.ContractOK, envcheck.Plan}},
		{name: "check, ping only", env: []string{nobody, "STARTGATE_REQUIRE=ping"}, args: []string{"check"},
			codes: codes{envcheck.ContractOK, envcheck.Plan}},
		{name: "wait", redis: healthy, args: []string{"wait"},
			codes: codes{envcheck.Start, envcheck.Ready}},
		{name: "probe", redis: healthy, args: []string{"probe"},
			codes: codes{envcheck.Ready}},
		{name: "probe, refused", env: []string{nobody}, args: []string{"probe"},
			exit: 75, codes: codes{envcheck.RedisRefused}},
		{name: "probe, no such wait", env: []string{nobody}, args: []string{"probe", "other"},
			exit: 64, codes: codes{envcheck.Usage}},
	}
	for _, f := range []struct {
		name  string
		redis probetest.Behaviour
		exit  int
		code  envcheck.Code
	}{
		{"silent", probetest.Behaviour{Accept: probetest.AcceptSilent}, 75, envcheck.RedisReplyTimeout},
		{"closed", probetest.Behaviour{Accept: probetest.AcceptClose}, 75, envcheck.RedisClosed},
		{"reset", probetest.Behaviour{Accept: probetest.AcceptReset}, 75, envcheck.RedisClosed},
		{"replica", probetest.Behaviour{Replica: true}, 75, envcheck.RedisReadOnly},
		{"full", probetest.Behaviour{OOM: true}, 75, envcheck.RedisOutOfMemory},
		{"disk", probetest.Behaviour{Misconf: true}, 75, envcheck.RedisPersistenceFailing},
		{"busy", probetest.Behaviour{Busy: true}, 75, envcheck.RedisBusy},
		{"paused", probetest.Behaviour{WritePause: true}, 75, envcheck.RedisWritePaused},
		{"no replicas", probetest.Behaviour{NoReplicas: true}, 75, envcheck.RedisNotEnoughReplicas},
		{"sentinel", probetest.Behaviour{Mode: probetest.Sentinel}, 69, envcheck.RedisIsSentinel},
		{"web server", probetest.Behaviour{Banner: probetest.HTTPBanner, Accept: probetest.AcceptClose}, 69, envcheck.RedisNotRedis},
		{"protected", probetest.Behaviour{Banner: probetest.ProtectedModeBanner, Accept: probetest.AcceptClose}, 69, envcheck.RedisProtectedMode},
		{"crowded", probetest.Behaviour{Banner: probetest.MaxClientsBanner, Accept: probetest.AcceptClose}, 75, envcheck.RedisMaxClients},
		{"hostile", probetest.Behaviour{Replies: map[string]probetest.Reply{"*": probetest.Echo(probetest.TerminalEscapes)}}, 75, envcheck.RedisErrorReply},
		{"garbage", probetest.Behaviour{Replies: map[string]probetest.Reply{"*": probetest.Raw("*100000000\r\n")}}, 69, envcheck.RedisNotRedis},
	} {
		scenes = append(scenes, schemaScene{
			name: f.name, redis: &f.redis, env: []string{"STARTGATE_TIMEOUT=0"},
			exit: f.exit, codes: codes{envcheck.Start, f.code},
		})
	}
	if stat, err := os.ReadFile("/proc/self/stat"); err == nil {
		const started = 22 - 3 // in proc(5), and behind the name that is cut off
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		state := filepath.Join(t.TempDir(), "state")
		text := fmt.Sprintf(`{"v":1,"pid":%d,"started":%s,"phase":"running"}`, os.Getpid(), fields[started])
		if err := os.WriteFile(state, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		scenes = append(scenes, schemaScene{
			name: "health", args: []string{"health"}, env: []string{revised, "GIT_SHA=a1b2c3", "QUEUE=redis://127.0.0.1:1", "DATABASE=postgres://u@localhost/d", "STARTGATE_STATE_FILE=" + state},
			codes: codes{envcheck.HealthOK},
		})
	}
	return scenes
}
