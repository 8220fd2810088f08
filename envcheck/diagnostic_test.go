package envcheck

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestAppendText(t *testing.T) {
	for _, c := range []struct {
		d    Diagnostic
		want string
	}{
		{
			Diagnostic{Code: RedisMissing, Keys: []Key{"BULLMQ_REDIS_URL"}, Purpose: "queue config"},
			"startgate: error redis_missing key=BULLMQ_REDIS_URL: queue config missing BULLMQ_REDIS_URL; set one, or name yours in STARTGATE_REDIS_KEYS",
		},
		{
			Diagnostic{Code: Start, Head: []Field{Is("contract", "builtin"), Dur("timeout", 300*time.Second), Dur("delay", 0)},
				Wait: "redis", Keys: []Key{"RQ_REDIS_URL"}, Fields: []Field{Is("client", "generic")}},
			"startgate: info  start contract=builtin timeout=300s delay=0s wait=redis key=RQ_REDIS_URL client=generic",
		},
		{
			Diagnostic{Code: RedisLoading, Wait: "redis", Fields: []Field{
				Dur("elapsed", 4230*time.Millisecond), Dur("timeout", 5*time.Minute), Percent("loaded", 61), Dur("eta", 3*time.Second)}},
			"startgate: info  redis_loading wait=redis elapsed=4.2s timeout=300s loaded=61% eta=3s: Redis is loading its data set",
		},
		{
			Diagnostic{Code: RedisAuthRejected, Wait: "redis", Keys: []Key{"REDIS_URL"}, Fields: []Field{Int("attempt", 1)}, Exit: 69},
			"startgate: error redis_auth_rejected wait=redis key=REDIS_URL attempt=1: Redis rejected the credentials; correct user and password in the key (exit 69: fix first)",
		},
		{
			Diagnostic{Code: RedisParseFailed, Keys: []Key{"A"}, Reason: PortInvalid},
			"startgate: error redis_parse_failed key=A reason=port_invalid: the Redis URL cannot be read; the port must be a number from 1 to 65535",
		},
		{
			Diagnostic{Code: Exec, Fields: []Field{Dur("elapsed", 25*time.Millisecond), Causes("causes", []Cause{
				{RedisLoading, 12, 7800 * time.Millisecond}, {RedisRefused, 3, 100 * time.Microsecond}})}},
			"startgate: info  exec elapsed=25ms causes=redis_loading:12/7.8s,redis_refused:3/1ms: starting the worker",
		},
		{
			Diagnostic{Code: RedisRefused, Level: Error, Fields: []Field{Says("cause", RedisRefused)}, Fix: "do this", Exit: 75},
			"startgate: error redis_refused cause=redis_refused: nothing listens at Redis's address; do this (exit 75: restarting may help)",
		},
		{Diagnostic{Code: Stopped, Exit: 143}, "startgate: info  stopped: stopped by a signal before the worker was started (exit 143)"},
		{Diagnostic{Code: "own_code", Keys: []Key{"A", "B"}}, "startgate: error own_code keys=A,B"},
	} {
		if got := string(c.d.AppendText(nil)); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestAppendJSONIsJSON(t *testing.T) {
	d := Diagnostic{
		Code: RedisRefused, Wait: "redis", Keys: []Key{"A", "B"}, Reason: "x", Head: []Field{Is("mode", "enforce")},
		Fields: []Field{
			Dur("elapsed", 1500*time.Millisecond), Int("attempts", 3), Percent("loaded", 9), Says("cause", RedisBusy),
			Causes("causes", []Cause{{RedisRefused, 2, time.Second}, {RedisBusy, 1, 1}}),
		}, Exit: 75,
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.FixedZone("", 3600))
	var got struct {
		V        int
		Time     time.Time
		Level    string
		Code     string
		Wait     string
		Keys     []string
		Elapsed  float64
		Attempts int
		Loaded   int
		Cause    string
		Mode     string
		Causes   map[string]struct {
			Attempts int
			Seconds  float64
		}
		Exit    int
		Message string
	}
	if err := json.Unmarshal(d.AppendJSON(nil, now), &got); err != nil {
		t.Fatal(err)
	}
	if got.V != SchemaVersion || !got.Time.Equal(now) || got.Code != "redis_refused" || got.Level != "error" || got.Wait != "redis" ||
		len(got.Keys) != 2 || got.Elapsed != 1.5 || got.Attempts != 3 || got.Loaded != 9 || got.Cause != "redis_busy" || got.Mode != "enforce" ||
		got.Causes["redis_refused"].Seconds != 1 || got.Causes["redis_busy"].Attempts != 1 || got.Exit != 75 || got.Message == "" {
		t.Errorf("got %+v", got)
	}
}

func TestCatalogueTellsWhatToDo(t *testing.T) {
	for _, e := range catalogue {
		if strings.ToLower(string(e.code)) != string(e.code) || !e.code.valid() {
			t.Errorf("%s is no snake_case", e.code)
		}
		if e.level == Error && e.fix == "" && e.code != Usage && e.code != RedisParseFailed {
			t.Errorf("%s does not say what to do", e.code)
		}
		for _, s := range []string{e.text, e.fix} {
			if strings.HasSuffix(s, ".") || strings.TrimSpace(s) != s {
				t.Errorf("%s: a sentence has no full stop and no blank around it", e.code)
			}
		}
	}
}

func TestEveryReasonOfAURLTellsWhatToDo(t *testing.T) {
	for _, r := range []Reason{
		SchemeMissing, SchemeUnsupported, SocketNotSupported, HostMissing, HostInvalid, MultipleHosts, PortInvalid, DBInvalid,
		DBInQuery, BadPercentEncoding, CredentialsNotEncoded, ControlOrSpace, TLSModeUnsupported, ClientsDiffer,
		PortMissing, SocketPathInvalid, ParameterUnsupported, MasterMissing, CredentialsIgnored, DBIgnored, ParameterIgnored,
	} {
		if reasonFix(r) == "" {
			t.Errorf("%s does not say what to do", r)
		}
	}
}

func TestExplain(t *testing.T) {
	for _, c := range Codes() {
		page, ok := Explain(string(c))
		if !ok || !strings.HasPrefix(page, string(c)+"\n") || !strings.Contains(page, "\nWhat ") {
			t.Errorf("%s has no page", c)
		}
	}
	for c, head := range map[string]string{
		"mail_missing": "TOPIC_missing", "a_b_invalid": "TOPIC_invalid", "session_redis_parse_failed": "TOPIC_parse_failed",
	} {
		if page, ok := Explain(c); !ok || !strings.HasPrefix(page, head+"\n") {
			t.Errorf("%s has no page", c)
		}
	}
	for _, c := range []string{"", "nope", "Why", "redis", "redis_missing\n", "../x", "_missing", "RULE"} {
		if _, ok := Explain(c); ok {
			t.Errorf("%q has a page", c)
		}
	}
	for head := range strings.SplitSeq(pages, "\n## ") {
		code, _, _ := strings.Cut(head, "\n")
		if Code(code).valid() && lookup(Code(code)).text == "" && lookup(Code(code)).level == Error {
			t.Errorf("the page %s has no code", code)
		}
	}
}
