package gate

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

func TestSettingsDefaults(t *testing.T) {
	s, faults := LoadSettings(nil)
	if len(faults) > 0 {
		t.Fatalf("faults %v", faults)
	}
	if s.Mode != Enforce || s.Client != "" || s.Require != envcheck.RequireWrite || s.TLSVerify != envcheck.VerifyFull ||
		s.Timeout != 300*time.Second || s.Delay != 0 || s.DialTimeout != 3*time.Second || s.ReplyTimeout != 2*time.Second ||
		s.IntervalMin != 25*time.Millisecond || s.IntervalMax != time.Second || s.JSON || s.TLSRoots != nil {
		t.Errorf("defaults are %+v", s)
	}
	if len(s.RedisKeys) != 1 || s.RedisKeys[0][0] != "BULLMQ_REDIS_URL" {
		t.Errorf("keys are %v", s.RedisKeys)
	}
}

// envconfig falls back to unprefixed names when a field's tag names the variable.
func TestWorkersOwnVariablesAreNotRead(t *testing.T) {
	for _, info := range SettingInfos() {
		t.Setenv(strings.TrimPrefix(string(info.Variable), envPrefix+"_"), "garbage")
	}
	if _, faults := LoadSettings(nil); len(faults) > 0 {
		t.Errorf("faults %v", faults)
	}
}

func TestFlagWinsOverVariable(t *testing.T) {
	t.Setenv("STARTGATE_TIMEOUT", "5")
	t.Setenv("STARTGATE_DELAY", "1m30s")
	t.Setenv("STARTGATE_START_JITTER", "")
	s, _ := LoadSettings(map[string]string{"timeout": "0.25"})
	if s.Timeout != 250*time.Millisecond || s.Delay != 90*time.Second || s.StartJitter != 0 {
		t.Errorf("timeout %s delay %s jitter %s", s.Timeout, s.Delay, s.StartJitter)
	}
}

func TestEveryFaultIsSaid(t *testing.T) {
	t.Setenv("STARTGATE_MODE", "strict")
	t.Setenv("STARTGATE_TIMEOUT", "soon")
	t.Setenv("STARTGATE_INTERVAL_MIN", "2s")
	t.Setenv("STARTGATE_INTERVAL_MAX", "1s")
	t.Setenv("STARTGATE_REDIS_KEYS", "redis://h")
	t.Setenv("STARTGATE_TLS_CA_FILE", "/nonexistent")
	s, faults := LoadSettings(map[string]string{"delay": "-1s"})
	var got []string
	for _, d := range faults {
		got = append(got, string(d.Code)+" "+string(d.Keys[0])+" "+string(d.Reason))
	}
	want := []string{
		"gate_setting_invalid STARTGATE_MODE not_in_enum",
		"gate_setting_invalid STARTGATE_TIMEOUT not_duration",
		"gate_setting_invalid --delay out_of_range",
		"gate_setting_invalid STARTGATE_INTERVAL_MAX below_min",
		"gate_setting_invalid STARTGATE_REDIS_KEYS not_key_names",
		"gate_setting_invalid STARTGATE_TLS_CA_FILE not_found",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if s.Mode != Enforce || s.Timeout != 300*time.Second {
		t.Errorf("mode %s timeout %s, want the defaults", s.Mode, s.Timeout)
	}
}

func TestClientIsAFamily(t *testing.T) {
	for _, c := range envcheck.Clients() {
		t.Setenv("STARTGATE_CLIENT", string(c))
		if s, faults := LoadSettings(nil); s.Client != c || len(faults) > 0 {
			t.Errorf("%s is read as %q, %v", c, s.Client, faults)
		}
	}
	t.Setenv("STARTGATE_CLIENT", "resque")
	s, faults := LoadSettings(nil)
	if len(faults) != 1 || !strings.HasSuffix(faults[0].Message(), "; it takes generic, rq, celery, sidekiq, bullmq or asynq") || s.Client != "" {
		t.Errorf("resque is %q, %v", s.Client, faults)
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "300": 300 * time.Second, "0.5": 500 * time.Millisecond, ".5": 500 * time.Millisecond, "5m": 5 * time.Minute, "010": 10 * time.Second,
	} {
		if got, reason := parseDuration(text); got != want || reason != "" {
			t.Errorf("%s is %s %s, want %s", text, got, reason, want)
		}
	}
	for text, want := range map[string]envcheck.Reason{
		"": envcheck.NotDuration, ".": envcheck.NotDuration, "1.2.3": envcheck.NotDuration, "1_000": envcheck.NotDuration, "1e3": envcheck.NotDuration,
		"0x10": envcheck.NotDuration, "inf": envcheck.NotDuration, "NaN": envcheck.NotDuration, "+5": envcheck.NotDuration, "5 s": envcheck.NotDuration,
		"-5s": envcheck.OutOfRange, "99999h": envcheck.OutOfRange, strings.Repeat("9", 400): envcheck.OutOfRange,
	} {
		if _, reason := parseDuration(text); reason != want {
			t.Errorf("%s: reason %q, want %q", text, reason, want)
		}
	}
}

func TestParseKeys(t *testing.T) {
	groups, ok := parseKeys("A|B, C")
	if !ok || len(groups) != 2 || len(groups[0]) != 2 || groups[1][0] != "C" {
		t.Errorf("A|B, C is %v %v", groups, ok)
	}
	for _, s := range []string{"", "a", "A,", "|A", "A||B", "A,A", "A=B", "STARTGATE_MODE", "1A"} {
		if _, ok := parseKeys(s); ok {
			t.Errorf("%q is taken", s)
		}
	}
}

func TestCAFile(t *testing.T) {
	dir := t.TempDir()
	ca, err := probetest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, want := range map[string]envcheck.Reason{
		write("good.pem", ca.PEM()):              "",
		write("none.pem", []byte("no PEM")):      envcheck.NoCertificate,
		write("big.pem", make([]byte, 5<<20)):    envcheck.TooLarge,
		dir:                                      envcheck.IsDirectory,
		"/dev/null":                              envcheck.NotRegular,
		filepath.Join(dir, "absent.pem"):         envcheck.NotFound,
		filepath.Join(dir, "good.pem", "beyond"): envcheck.IOError,
	} {
		s, faults := LoadSettings(map[string]string{"tls-ca-file": path})
		var got envcheck.Reason
		if len(faults) > 0 {
			got = faults[0].Reason
		}
		if got != want || (s.TLSRoots != nil) != (want == "") {
			t.Errorf("%s: reason %q, want %q", filepath.Base(path), got, want)
		}
	}
}

func TestUnknownSettings(t *testing.T) {
	got := unknownSettings([]string{
		"STARTGATE_TIMEOUT=1", "STARTGATE_TIMOUT=1", "STARTGATE_SERVICE_HOST=h", "STARTGATE_PORT_6379_TCP_ADDR=h",
		"STARTGATE_qfiW1C==", "STARTGATE_OTHER", "OTHER=1", "STARTGATE=1", "STARTGATE_MODE\x1b[=1", "STARTGATE_\nMODE=1",
	})
	var lines []string
	for _, d := range got {
		lines = append(lines, string(d.AppendText(nil)))
	}
	want := []string{
		"startgate: warn  gate_setting_unknown keys=STARTGATE_TIMOUT,STARTGATE_TIMEOUT reason=close_to: startgate has no setting of this name; it is close to the name of a setting",
		"startgate: warn  gate_setting_unknown reason=service_link count=2: startgate has no setting of this name; Kubernetes set it for a Service named startgate: rename that, or set enableServiceLinks to false",
		"startgate: warn  gate_setting_unknown reason=unknown_name count=4: startgate has no setting of this name",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
}

func TestEveryVariableIsRead(t *testing.T) {
	for _, info := range SettingInfos() {
		t.Run(string(info.Variable), func(t *testing.T) {
			t.Setenv(string(info.Variable), "\x01")
			s, faults := LoadSettings(nil)
			read := len(faults) == 1 && faults[0].Keys[0] == info.Variable || s.Contract.Reveal() == "\x01"
			if !read {
				t.Errorf("a value that no setting takes gives %v", faults)
			}
		})
	}
}

func TestSettingNames(t *testing.T) {
	var names []string
	for _, info := range SettingInfos() {
		names = append(names, info.Name+"="+string(info.Variable))
		if info.Doc == "" {
			t.Errorf("%s has no description", info.Name)
		}
	}
	for _, want := range []string{"tls-ca-file=STARTGATE_TLS_CA_FILE", "redis-keys=STARTGATE_REDIS_KEYS", "timeout=STARTGATE_TIMEOUT"} {
		if !slices.Contains(names, want) {
			t.Errorf("no setting %s in %v", want, names)
		}
	}
}

// What nobody has set gives way to what somebody has.
func TestAnIntervalMovesTheOther(t *testing.T) {
	t.Setenv("STARTGATE_INTERVAL_MIN", "2s")
	if s, faults := LoadSettings(nil); len(faults) > 0 || s.IntervalMin != 2*time.Second || s.IntervalMax != 2*time.Second {
		t.Errorf("%s to %s, %v", s.IntervalMin, s.IntervalMax, faults)
	}
}
