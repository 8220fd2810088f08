package examples_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/startgate/startgate/probe/probetest"
)

// varies is what of a line depends on the moment and the machine.
var varies = regexp.MustCompile(` (elapsed|timeout|attempts?|causes|address|port)=\S+`)

// webhook is the environment of a worker that lacks nothing.
const webhook = "WORKER_ENABLED=true WORKER_QUEUE_GROUP=webhook BULLMQ_REDIS_URL=redis://{}/0 DATABASE_URL=postgres://worker@db.example/x"

// The failures that the READMEs of the compose examples show are what the gate
// says under their contracts.
func TestReadmesShowRealFailures(t *testing.T) {
	noScripts := map[string]probetest.Reply{"EVAL": probetest.Error("NOPERM this user has no permissions to run the 'eval' command")}
	for _, c := range []struct {
		example string
		server  probetest.Behaviour
		env     string // {} is the server's address
	}{
		{"rq", probetest.Behaviour{}, "RQ_REDIS_URL=redis://one.example/0 REDIS_URL=redis://other.example/1"},
		{"rq", probetest.Behaviour{Password: "right-password"}, "RQ_REDIS_URL=redis://:wrong-password@{}/0 REDIS_URL=redis://:wrong-password@{}/1"},
		{"celery", probetest.Behaviour{}, "CELERY_RESULT_BACKEND=redis://{}/1"},
		{"celery", probetest.Behaviour{Replica: true}, "CELERY_BROKER_URL=redis://{}/0 CELERY_RESULT_BACKEND=redis://{}/1"},
		{"sidekiq", probetest.Behaviour{Version: "6.0.16"}, "REDIS_URL=redis://{}/0"},
		{"sidekiq", probetest.Behaviour{Loading: &probetest.Loading{Percent: 61, ETA: 3 * time.Second}}, "REDIS_URL=redis://{}/0"},
		{"asynq", probetest.Behaviour{}, "REDIS_URL=redis://one.example"},
		{"asynq", probetest.Behaviour{Password: "some-password", Replies: noScripts}, "REDIS_URL=redis://:some-password@{}"},
		{"bullmq", probetest.Behaviour{}, strings.ReplaceAll(webhook, "=webhook", "=Mail")},
		{"bullmq", probetest.Behaviour{}, strings.ReplaceAll(webhook, "=webhook", "=mail") + " MAILJET_FROM_EMAIL=robot@example.org"},
	} {
		var shown []string
		for _, m := range quotedLine.FindAllStringSubmatch(read(t, c.example, "README.md"), -1) {
			shown = append(shown, varies.ReplaceAllString(m[1], ""))
		}
		env := []variable{{"STARTGATE_CONTRACT", c.example + "/contract.yaml"}}
		for entry := range strings.FieldsSeq(strings.ReplaceAll(c.env, "{}", probetest.New(t, c.server).Addr())) {
			name, value, _ := strings.Cut(entry, "=")
			env = append(env, variable{name, value})
		}
		out, _ := startgate(t, env, "wait", "--timeout=0.5")
		real := false
		for line := range strings.Lines(out) {
			real = real || slices.Contains(shown, varies.ReplaceAllString(strings.TrimSuffix(line, "\n"), ""))
		}
		if !real {
			t.Errorf("the README of %s shows nothing of this:\n%s", c.example, out)
		}
		if len(shown) != 2 {
			t.Errorf("the README of %s shows %d lines, want one for each case here", c.example, len(shown))
		}
	}
}
