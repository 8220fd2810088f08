package compose

import (
	"strings"
	"testing"
)

func TestVariablesThatMustBeSet(t *testing.T) {
	const stack = "x-a: &a ${A:?m}\nservices:\n  web:\n    image: web\n    environment: {B: *a, C: 'x ${B:?m} ${B:?m}', D: '${C?m}', E: '$${D:?m}', F: '${E:-x?}', G: '${F:?m}'}\n"
	c := envCase{files: map[string]string{"compose.yaml": stack}, environ: []string{"F=1", "C="}}
	var got []string
	for _, f := range c.run(t).Findings {
		got = append(got, f.Rule+" "+f.Position.String()+" "+strings.Fields(f.Message)[0])
	}
	if want := "SG105 compose.yaml:1:1 A, SG105 compose.yaml:5:26 B"; strings.Join(got, ", ") != want {
		t.Errorf("found %s, want %s", strings.Join(got, ", "), want)
	}
	for range 20 { // a merge key gives one place several paths
		merged := envCase{files: map[string]string{"compose.yaml": "x-a: &a\n  environment: {A: '${A:?m}'}\nservices:\n  b: {image: b, <<: *a}\n  c: {image: b, <<: *a}\n"}}
		if r := merged.run(t); len(r.Findings) != 1 || r.Findings[0].Path != "services.b.environment.A" {
			t.Fatalf("found %+v", r.Findings)
		}
	}
	c.files["override.yaml"] = stack
	if n := len(c.run(t).Findings); n != 4 {
		t.Errorf("two files have %d findings, want 4", n)
	}
	c.files["compose.yaml"], c.files["override.yaml"] = "services:\n  web: {image: '${A:?m}'}\n", "services:\n  web: {image: web}\n"
	if r := c.run(t); len(r.Findings) != 1 || r.Findings[0].Position.File != "compose.yaml" {
		t.Errorf("of a value that an override replaces there is found %+v", r.Findings)
	}
}

func TestWorkersInProfiles(t *testing.T) {
	stack := func(worker, more string) map[string]string {
		return map[string]string{"compose.yaml": "services:\n  worker:\n    image: app\n    command: rq worker\n" + indent(worker, "    ") + more}
	}
	const (
		redis = "  redis:\n    image: redis:7\n"
		base  = "  base:\n    image: app\n    profiles: [x]\n"
	)
	hidden := []string{"SG106 warning @profiles"}
	for _, c := range []envCase{
		{name: "no profile", files: stack("", redis)},
		{name: "a profile beside a broker without", files: stack("profiles: [x]", redis), want: hidden},
		{name: "it is active", files: stack("profiles: [x]", redis), environ: []string{"COMPOSE_PROFILES=y,x"}},
		{name: "it is active by .env", files: with(stack("profiles: [x]", redis), ".env", "COMPOSE_PROFILES=x\n")},
		{name: "all in one", files: stack("profiles: [x]", redis+"    profiles: [x]\n")},
		{name: "with the program that it is for", files: stack("profiles: [x]", redis+"  web:\n    image: web\n    profiles: [x]\n")},
		{name: "a profile that is not known", files: stack("profiles: ['${P}']", redis)},
		{name: "alone", files: stack("profiles: [x]", "")},
		{name: "inherited", files: stack("extends: base", base), want: []string{"SG106 warning @extends"}},
		{name: "inherited, and not undone", files: stack("extends: base\nprofiles: []", base), want: hidden},
		{name: "inherited, and undone", files: stack("extends: base\nprofiles: !reset []", base)},
		{name: "a service that is no worker", files: stack("", redis+"  web:\n    image: web\n    profiles: [x]\n")},
	} {
		c.test(t)
	}
}

func TestChecksThatCheckNothing(t *testing.T) {
	const web = "services:\n  web:\n    image: web\n"
	worker := envStack("RQ_REDIS_URL: redis://redis")
	nothing := []string{"SG107 error @services"}
	for _, c := range []envCase{
		{name: "no worker", files: map[string]string{"compose.yaml": web}, contract: urlContract, want: nothing},
		{name: "no contract", files: map[string]string{"compose.yaml": web}},
		{name: "a worker", files: worker, contract: urlContract},
		{name: "a worker by configuration", files: map[string]string{"compose.yaml": web}, contract: urlContract, config: "version: 1\nservices: {web: {role: worker}}\n", want: []string{"SG201 error [redis_missing] @RQ_REDIS_URL"}},
		{name: "a service that is gone", files: worker, config: "version: 1\nservices: {gone: {role: worker}}\n", want: []string{"SG107 error @gone"}},
		{name: "a need that is gone", files: worker, config: "version: 1\nservices: {worker: {needs: [redis, gone]}}\n", want: []string{"SG107 error @1"}},
		{name: "it is in another stack", files: with(worker, "web.yaml", web), config: "version: 1\nstacks: {a: {files: [compose.yaml]}, b: {files: [web.yaml]}}\nservices: {web: {role: other}}\n"},
		{name: "it is in no stack", files: with(envStack("RQ_REDIS_URL: redis://redis"), "web.yaml", web), config: "version: 1\nstacks: {a: {files: [compose.yaml]}, b: {files: [web.yaml]}}\nservices: {gone: {role: other}}\n", want: []string{"SG107 error @gone"}},
	} {
		c.test(t)
	}
}

// TestIgnoredGoneService: what the configuration ignores of itself counts as
// ignored.
func TestIgnoredGoneService(t *testing.T) {
	r := envCase{files: envStack("RQ_REDIS_URL: redis://redis"), config: "version: 1\nservices: {gone: {role: worker}}\nignore: [{rule: SG107, reason: it comes back}]\n"}.run(t)
	for _, f := range r.Findings {
		if f.Rule == noService && f.Suppressed == "" || f.Rule == badSuppression {
			t.Errorf("found %+v", f)
		}
	}
}
