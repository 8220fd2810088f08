package envcheck

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

var builtin = Builtin([][]Key{{"A_URL", "B_URL"}, {"C_URL"}}, Generic, RequireWrite, "p")

// summary writes diagnostics as CODE[KEY,KEY]/REASON.
func summary(ds []Diagnostic) string {
	var parts []string
	for _, d := range ds {
		s := fmt.Sprintf("%s[%s]", d.Code, joinWords(d.Keys, ","))
		if d.Reason != "" {
			s += "/" + string(d.Reason)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

func TestCheck(t *testing.T) {
	const good = "redis://h"
	for _, c := range []struct {
		name string
		env  Environ
		want string
		took string
	}{
		{"first key", Environ{"A_URL=" + good, "B_URL=x", "C_URL=" + good}, "", "A_URL C_URL"},
		{"second key", Environ{"B_URL=" + good, "C_URL=" + good}, "", "B_URL C_URL"},
		{"empty is unset", Environ{"A_URL=", "B_URL=" + good, "C_URL=" + good}, "", "B_URL C_URL"},
		{"one entry twice", Environ{"C_URL=" + good, "A_URL=" + good, "A_URL=" + good}, "", "A_URL C_URL"},
		{"two values", Environ{"C_URL=" + good, "A_URL=" + good, "A_URL=x"}, "env_duplicate_key[A_URL]", "C_URL"},
		{"all faults at once", Environ{"A_URL=redis://h/x"}, "redis_parse_failed[A_URL]/db_invalid redis_missing[C_URL]", ""},
		{"nothing set", Environ{"NOEQ", "=x", "a.b=c"}, "redis_missing[A_URL,B_URL] redis_missing[C_URL]", ""},
		{"another broker is skipped", Environ{"A_URL=amqp://h", "B_URL=" + good, "C_URL=" + good}, "broker_not_redis[A_URL]", "B_URL C_URL"},
		{"only another broker", Environ{"A_URL=amqps://h", "C_URL=" + good}, "broker_not_redis[A_URL] redis_missing[A_URL,B_URL]", "C_URL"},
		{"another broker where there is no choice", Environ{"A_URL=" + good, "C_URL=amqp://h"}, "redis_parse_failed[C_URL]/scheme_unsupported", "A_URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := builtin.Check(c.env)
			var took []string
			for _, target := range r.Targets {
				took = append(took, string(target.Key))
			}
			if got := summary(r.Diagnostics); got != c.want {
				t.Errorf("diagnostics %s, want %s", got, c.want)
			}
			if got := strings.Join(took, " "); got != c.took {
				t.Errorf("keys %s, want %s", got, c.took)
			}
			if want := (!strings.Contains(c.want, "redis_") && !strings.Contains(c.want, "duplicate")); r.OK() != want {
				t.Errorf("OK is %v", r.OK())
			}
		})
	}
}

func TestBuiltinNamesItsWaits(t *testing.T) {
	var names []Word
	for _, w := range builtin.Waits {
		names = append(names, w.Name)
	}
	if want := []Word{"redis", "redis2"}; !slices.Equal(names, want) {
		t.Errorf("names %v, want %v", names, want)
	}
}

// hygiene finds the first fault of a value by the default policy, "" for none.
func hygiene(v string, r *typeRule) (Code, Reason) {
	_, found := clean(v, r, Policy{}.over(Policy{}))
	if len(found) > 0 {
		return found[0].Code, found[0].Reason
	}
	if placeholder(v) != notPlaceholder {
		return EnvPlaceholderValue, ""
	}
	return "", ""
}

func TestHygiene(t *testing.T) {
	for _, c := range []struct {
		value  string
		code   Code
		reason Reason
	}{
		{"redis://h", "", ""},
		{"redis://:p$w@h", "", ""},
		{"redis://:a(b)@h", "", ""},
		{`"`, "", ""},
		{"redis://\xff", EnvInvalidUTF8, ""},
		{"\ufeffredis://h", EnvBOM, ""},
		{"redis://h\n", EnvTrailingNewline, LF},
		{"redis://h\r\n", EnvTrailingNewline, LF},
		{"redis://h\r", EnvTrailingNewline, CR},
		{"  ", EnvSurroundingSpace, ""},
		{"\n", EnvSurroundingSpace, ""},
		{" redis://h", EnvSurroundingSpace, ""},
		{"redis://h\t", EnvSurroundingSpace, ""},
		{"redis://h\u00a0", EnvSurroundingSpace, ""},
		{"\u200bredis://h", EnvSurroundingSpace, ""},
		{"redis://h\nX=1", EnvControlCharacter, ""},
		{"redis://\x1b[31m", EnvControlCharacter, ""},
		{`"redis://h"`, EnvQuotedValue, ""},
		{`'redis://h'`, EnvQuotedValue, ""},
		{"“redis://h”", EnvQuotedValue, Smart},
		{"tcp://10.0.0.1:6379", EnvServiceLink, ""},
		{"udp://10.0.0.1:6379", EnvServiceLink, ""},
		{"redis://${HOST}", EnvUnexpandedReference, ""},
		{"redis://:$(PASSWORD)@h", EnvUnexpandedReference, ""},
		{"redis://{{ .host }}", EnvUnexpandedReference, ""},
		{"changeme", EnvPlaceholderValue, ""},
		{"<your redis url>", EnvPlaceholderValue, ""},
		{"your-redis-url", EnvPlaceholderValue, ""},
		{"null", EnvPlaceholderValue, ""},
	} {
		if code, reason := hygiene(c.value, TypeRedis.rule()); code != c.code || reason != c.reason {
			t.Errorf("%q: %s/%s, want %s/%s", c.value, code, reason, c.code, c.reason)
		}
	}
}

func TestNear(t *testing.T) {
	declared := []Key{"STARTGATE_TIMEOUT", "STARTGATE_DELAY"}
	for name, want := range map[string]Key{
		"STARTGATE_TIMOUT": "STARTGATE_TIMEOUT", "STARTGATE_TIMEUOT": "STARTGATE_TIMEOUT", "STARTGATE_DELAYS": "STARTGATE_DELAY",
		"STARTGATE_TIMING": "", "STARTGATE_X": "", "": "",
	} {
		if got, ok := Near(name, declared); got != want || ok != (want != "") {
			t.Errorf("%s is near %q, want %q", name, got, want)
		}
	}
}

// TestUnknownKeyIsNotSaid: of what cannot be known not even that it is set is
// held against it.
func TestUnknownKeyIsNotSaid(t *testing.T) {
	c, faults := Load(strings.NewReader("contract: 1\nname: w\nkeys:\n  A: {forbidden: true}\n  B: {required: true}\n"))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if codes := c.CheckProcess(Process{Unknown: []string{"A", "B"}}).Codes(); len(codes) > 0 {
		t.Errorf("of unknown keys there is said %v", codes)
	}
	if codes := c.CheckProcess(Process{Environ: Environ{"A=1"}}).Codes(); len(codes) != 2 {
		t.Errorf("of known keys there is said %v", codes)
	}
}
