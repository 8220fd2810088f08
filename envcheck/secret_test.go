package envcheck_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

const canary = "S3cr3tCanary"

type outer struct {
	Shown  envcheck.Secret
	hidden envcheck.Secret
	url    envcheck.RedisURL
}

func TestSealedNeverPrints(t *testing.T) {
	secret := envcheck.Seal(canary)
	url, reason := envcheck.ParseRedisURL(envcheck.Generic, "redis://:"+canary+"@"+canary+":6379/0")
	if reason != "" {
		t.Fatalf("ParseRedisURL: %s", reason)
	}
	o := outer{secret, secret, url}
	for _, v := range []any{secret, &secret, o, &o, []envcheck.Secret{secret}, map[string]envcheck.Secret{"k": secret}, url} {
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%T"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		js, _ := json.Marshal(v)
		out.Write(js)
		slog.New(slog.NewTextHandler(&out, nil)).Info("m", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("m", "v", v)
		hex := fmt.Sprintf("%x", canary)
		if s := out.String(); strings.Contains(s, canary) || strings.Contains(strings.ToLower(s), hex) {
			t.Errorf("%T leaks its value", v)
		}
	}
	if got := secret.Reveal(); got != canary {
		t.Error("Reveal does not return what was sealed")
	}
	if got := (envcheck.Secret{}).Reveal(); got != "" {
		t.Error("the zero Secret is not empty")
	}
}
