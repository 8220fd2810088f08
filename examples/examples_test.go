// Package examples_test holds the files that are there to be copied to what
// the program is: their fields, flags, settings and exit codes.
package examples_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/gate"
	"github.com/startgate/startgate/probe/probetest"
)

// boot is what a worker needs at least for its own start, after the gate.
const boot = 30 * time.Second

// fixFirst are the exit codes for which a new start is of no use.
var fixFirst = []int{
	gate.ExitUsage, gate.ExitContractMalformed, gate.ExitContractUnreadable, gate.ExitRefused,
	gate.ExitEnvironment, gate.ExitNotExecutable, gate.ExitNotFound,
}

// A variable is one of a container's environment, in both formats.
type variable struct {
	Name  string `yaml:"name" json:"name"`
	Value string `yaml:"value" json:"value"`
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// settingsOf reads the gate's settings in a container's environment. One that
// the gate does not know, or not like this, is a fault.
func settingsOf(t *testing.T, env []variable) gate.Settings {
	t.Helper()
	flags := map[string]string{}
	infos := gate.SettingInfos()
	for _, v := range env {
		if !strings.HasPrefix(v.Name, "STARTGATE_") {
			continue
		}
		i := slices.IndexFunc(infos, func(s gate.SettingInfo) bool { return string(s.Variable) == v.Name })
		if i < 0 {
			t.Errorf("there is no setting %s", v.Name)
			continue
		}
		flags[infos[i].Name] = v.Value
	}
	if _, ok := flags["timeout"]; !ok {
		t.Error("the timeout, by which the periods are measured, is not to be seen")
	}
	s, faults := gate.LoadSettings(flags)
	for _, d := range faults {
		t.Errorf("%s", d.AppendText(nil))
	}
	return s
}

// longest is how long a gate with s may take.
func longest(s gate.Settings) time.Duration { return s.StartJitter + s.Timeout + s.Delay }

// tempDir is for what all tests share.
var tempDir string

func TestMain(m *testing.M) {
	var err error
	if tempDir, err = os.MkdirTemp("", "startgate"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(tempDir)
	os.Exit(code)
}

// binary builds the gate, once.
var binary = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(tempDir, "startgate")
	build := exec.Command("go", "build", "-o", bin, "../cmd/startgate")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return bin, nil
})

// startgate runs the gate with nothing but env and returns what it and the
// worker printed, and its exit code.
func startgate(t *testing.T, env []variable, args ...string) (string, int) {
	t.Helper()
	bin, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bin, args...)
	cmd.Env = []string{"PATH=" + workerDir(t) + ":/usr/bin:/bin", "STARTGATE_STATE_FILE=" + filepath.Join(t.TempDir(), "state")}
	for _, v := range env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// workerDir has a stand-in for rq, which wants its URL and repeats its
// arguments.
func workerDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\n[ -n \"$RQ_REDIS_URL\" ] && [ -z \"$RQ_REDIS_URL_FILE\" ] && echo \"rq $*\"\n"
	if err := os.WriteFile(filepath.Join(dir, "rq"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// checkStart starts a container with a Redis that is ready. url makes the
// variable for its URL.
func checkStart(t *testing.T, env []variable, args []string, url func(string) variable) {
	t.Helper()
	server := probetest.New(t, probetest.Behaviour{})
	env = append(slices.Clone(env), url("redis://"+server.Addr()+"/0"), variable{"STARTGATE_START_JITTER", "0"})
	out, code := startgate(t, env, append([]string{"--"}, args...)...)
	if worker := strings.Join(args, " ") + "\n"; code != 0 || !strings.HasSuffix(out, worker) {
		t.Errorf("exit %d, and no worker that was started with its URL and arguments:\n%s", code, out)
	}
}

// checkProbe runs the command of a health check as it stands. No gate ever
// ran here, which is for health to say, and not that it was asked wrongly.
func checkProbe(t *testing.T, command []string, env []variable) {
	t.Helper()
	if len(command) == 0 || command[0] != "/startgate" {
		t.Fatalf("%q is no command of the gate", command)
	}
	if out, code := startgate(t, env, command[1:]...); code != 1 || !strings.Contains(out, string(envcheck.HealthNeverGated)) {
		t.Errorf("%q ends with %d and says\n%s", command, code, out)
	}
}

var quotedLine = regexp.MustCompile(`(?m)^(?: *Message: +)?(startgate: .*)$`)

// quoted returns the lines of output in a README.
func quoted(t *testing.T, text string) (lines []string) {
	t.Helper()
	form := regexp.MustCompile(`^startgate: (?:error|warn |info ) ([a-z0-9_]+)[ :]`)
	for _, m := range quotedLine.FindAllStringSubmatch(text, -1) {
		lines = append(lines, m[1])
		if f := form.FindStringSubmatch(m[1]); f == nil || !slices.Contains(envcheck.Codes(), envcheck.Code(f[1])) {
			t.Errorf("the gate prints nothing like\n%s", m[1])
		}
	}
	return lines
}
