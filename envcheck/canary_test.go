package envcheck

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hostile is what a value can come in; CANARY is where the secret stands.
var hostile = []string{
	"CANARY", `"CANARY"`, "'CANARY'", "“CANARY”", "CANARY\n", "CANARY\r", "\ufeffCANARY", " CANARY", "CANARY\u00a0", "\tCANARY",
	"CANARY\nINJECTED", "CANARY\x1b[31m", "CANARY\x00", "\xffCANARY", "tcp://CANARY:6379", "${CANARY}", "$(CANARY)", "{{ .CANARY }}", "<CANARY>",
	"changeme-CANARY", "CANARY@example.org", "/CANARY", "CANARY/../x", "trueCANARY", "80CANARY", "5sCANARY", "1e+06CANARY",
	"redis://:CANARY#x@h", "redis://u:CANARY/x@h", "redis://CANARY@h", "redis://CANARY:x", "redis://h/CANARY", "redis://:%CANARY@h", "redis://h?db=CANARY",
	"redis://:CANARY@h", "rediss://u:p@CANARY:6379/1", "amqp://CANARY@h", "postgres://u:CANARY?x@h/db", "http://CANARY@h:99999",
	"-----BEGIN CANARY-----", `-----BEGIN X-----\nCANARY`,
	"=CANARY", "CANARY=CANARY",
}

// newCanary is 16 random letters and digits that no word of the program has.
func newCanary(rng *rand.Rand) string {
	const letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789"
	b := make([]byte, 16)
	for i := range b {
		b[i] = letters[rng.IntN(len(letters))]
	}
	return string(b)
}

// poisoned is an environment in which every key has the canary, or a value
// that is good, or none, and names have it too.
func poisoned(rng *rand.Rand, c *Contract, canary, company string) Environ {
	forms := append([]string{strings.ReplaceAll(company, "CANARY", "") + "CANARY"}, hostile...)
	value := func() string {
		return strings.ReplaceAll(forms[rng.IntN(len(forms))], "CANARY", canary)
	}
	var env Environ
	for _, k := range c.Keys {
		switch rng.IntN(8) {
		case 0:
			continue
		case 1:
			env = append(env, string(k.Key)+"="+k.rule.example)
		case 2:
			env = append(env, string(k.Key)+"_FILE=/"+value())
		case 3:
			env = append(env, string(k.Key)+"="+value(), string(k.Key)+"="+value(), string(k.Key)+"_FILE="+value())
		default:
			env = append(env, string(k.Key)+"="+value())
		}
		env = append(env, "WORKER_"+canary+"=x", "A"+strings.ToUpper(canary)+"="+value(), canary+"="+canary)
	}
	return append(env, "REDIS_PROVIDER="+strings.ToUpper(canary), strings.ToUpper(canary)+"="+value())
}

// leakOf says in which form text has the canary, "" for none. A window of six
// characters is a leak too.
func leakOf(canary, text string) string {
	forms := map[string]string{
		"percent-encoded": url.QueryEscape(canary), "in hexadecimal": hex.EncodeToString([]byte(canary)),
		"as decimal bytes": strings.Trim(fmt.Sprint([]byte(canary)), "[]"), "with commas": strings.ReplaceAll(strings.Trim(fmt.Sprint([]byte(canary)), "[]"), " ", ","),
	}
	for shift := range 3 {
		s := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + canary))
		forms[fmt.Sprintf("in base64 at %d", shift)] = s[4 : len(s)-4]
	}
	reversed := []byte(canary)
	slices.Reverse(reversed)
	lower := strings.ToLower(text)
	for i := 0; i+6 <= len(canary); i++ {
		if strings.Contains(lower, strings.ToLower(canary[i:i+6])) {
			return "in part"
		}
		if strings.Contains(lower, strings.ToLower(string(reversed[i:i+6]))) {
			return "backwards"
		}
	}
	for name, form := range forms {
		if strings.Contains(lower, strings.ToLower(form)) {
			return name
		}
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "startgate: ") && !strings.HasPrefix(line, `{"v":`) {
			return "in a line of its own"
		}
	}
	return ""
}

// The detector must find what it looks for.
func TestPlantedLeaksAreFound(t *testing.T) {
	canary := newCanary(rand.New(rand.NewPCG(1, 2)))
	reversed := []byte(canary)
	slices.Reverse(reversed)
	for _, leak := range []string{
		canary, strings.ToLower(canary), strings.ToUpper(canary), string(reversed), canary[3:9], hex.EncodeToString([]byte(canary)),
		fmt.Sprint([]byte(canary)), base64.StdEncoding.EncodeToString([]byte("x" + canary)), base64.StdEncoding.EncodeToString([]byte(canary + "xx")),
		"fine\nINJECTED",
	} {
		if leakOf(canary, "startgate: error x: "+leak+"\n") == "" {
			t.Errorf("a planted leak of %d bytes is not found", len(leak))
		}
	}
	if leak := leakOf(canary, "startgate: error x: nothing\n"); leak != "" {
		t.Errorf("a leak is found where there is none: %s", leak)
	}
}

// Every key, alone, in every hostile form, in a file and as a file's path.
func TestNothingLeaks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	builtin := Builtin([][]Key{{"RQ_REDIS_URL", "REDIS_URL", "REDIS_HOST"}}, Generic, RequireWrite, "p")
	evaluations := 0
	dir := t.TempDir()
	for _, c := range []*Contract{loadFile(t, "../examples/bullmq/contract.yaml"), loadFile(t, "../examples/rq/contract.yaml"), contractOf(t, strings.TrimPrefix(everything, "contract: 1\nname: everything\n")), &builtin} {
		for _, k := range c.Keys {
			for _, form := range hostile {
				canary := newCanary(rng)
				value := strings.ReplaceAll(form, "CANARY", canary)
				file := filepath.Join(dir, "secret")
				if err := os.WriteFile(file, []byte(value), 0o600); err != nil {
					t.Fatal(err)
				}
				for _, env := range []Environ{
					{"WORKER_ENABLED=true", string(k.Key) + "_FILE=" + file},
					{"WORKER_ENABLED=true", string(k.Key) + "_" + canary + "=" + value, canary + string(k.Key) + "=" + value},
					{"WORKER_ENABLED=true", string(k.Key) + "=" + value},
					{"WORKER_ENABLED=true", string(k.Key) + "_FILE=" + value},
					{"WORKER_ENABLED=true", string(k.Key) + "=" + value, string(k.Key) + "=other"},
				} {
					evaluations++
					if leak := leakOf(canary, everythingSaid(c, env)); leak != "" {
						t.Errorf("%s in %q: the canary %s", k.Key, form, leak)
					}
				}
			}
		}
	}
	if evaluations < 10_000 {
		t.Errorf("only %d evaluations", evaluations)
	}
}
