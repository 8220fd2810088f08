package gate_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

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
