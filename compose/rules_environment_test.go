package compose

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

// envCase is a stack, what it is judged by, and what the environment's and the
// URL's rules are to find in it: RULE severity [CODE] @KEY each.
type envCase struct {
	name     string
	files    map[string]string // compose.yaml, and override.yaml after it
	contract string            // "" is none
	config   string
	environ  []string
	want     []string
}

// envFamilies are the rules that these tests are about.
var envFamilies = []string{"SG105", "SG106", "SG107", "SG2", "SG3"}

func (c envCase) run(t *testing.T) Report {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range c.files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Environ: c.environ}
	if c.contract != "" {
		contract, faults := envcheck.Load(strings.NewReader(c.contract))
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		o.Contract = contract
	}
	if c.config != "" {
		if err := os.WriteFile(ConfigName, []byte(c.config), 0o666); err != nil {
			t.Fatal(err)
		}
		var faults []Finding
		if o.Config, faults = LoadConfig(ConfigName); len(faults) > 0 {
			t.Fatal(faults)
		}
	}
	files := []string{"compose.yaml"}
	if c.files["override.yaml"] != "" {
		files = append(files, "override.yaml")
	}
	if o.Config != nil && len(o.Config.Stacks) > 0 {
		files = nil
	}
	r, err := Check(context.Background(), files, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Unjudged {
			t.Fatalf("the stack is not judged: %+v", f)
		}
	}
	return r
}

func (c envCase) test(t *testing.T) {
	t.Helper()
	t.Run(c.name, func(t *testing.T) {
		t.Helper()
		r := c.run(t)
		var got []string
		for _, f := range r.Findings {
			if !slices.ContainsFunc(envFamilies, func(p string) bool { return strings.HasPrefix(f.Rule, p) }) {
				continue
			}
			s := f.Rule + " " + string(f.Severity)
			if f.Code != "" {
				s += " [" + f.Code + "]"
			}
			got = append(got, s+" @"+f.Path[strings.LastIndexByte(f.Path, '.')+1:])
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("found\n\t%s\nwant\n\t%s\n%+v", strings.Join(got, "\n\t"), strings.Join(c.want, "\n\t"), r.Findings)
		}
	})
}

// envStack is a stack of a worker with an environment, and a Redis.
func envStack(environment string) map[string]string {
	return map[string]string{"compose.yaml": "services:\n  worker:\n    image: app\n    command: rq worker\n    environment:\n" +
		indent(environment, "      ") + "  redis:\n    image: redis:7\n"}
}

func indent(s, by string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.Trim(s, "\n") + "\n") {
		b.WriteString(by + line)
	}
	return b.String()
}

// with adds files.
func with(files map[string]string, more ...string) map[string]string {
	for i := 0; i < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	return files
}

const envContract = `contract: 1
name: worker
owns: [WORKER_*]
conditions:
  mail: GROUP == mail
keys:
  RQ_REDIS_URL: {type: redis_url, topic: redis, required: true}
  REDIS_PASSWORD: {secret: true}
  GROUP: {enum: [general, mail], default: general}
  MAIL_KEY: {secret: true, required: mail}
  WORKER_PORT: {type: port, default: "9100"}
  WORKER_ADMIN: {type: port, default: "9101"}
  OLD: {deprecated: {use: GROUP}}
  NEVER: {forbidden: true}
rules:
  - {code: ports_same, distinct: [WORKER_PORT, WORKER_ADMIN], fix: give each its own}
  - {code: port_low, level: warn, assert: WORKER_PORT != 80}
  - {code: port_order, less: [WORKER_PORT, WORKER_ADMIN]}
`

func TestRequiredKeyByItsForm(t *testing.T) {
	const missing, url = "[redis_missing] @RQ_REDIS_URL", "redis://redis:6379/0"
	for _, c := range []struct {
		name, environment string
		environ, want     []string
	}{
		{"it is there", "RQ_REDIS_URL: " + url, nil, nil},
		{"in a list", "- RQ_REDIS_URL=" + url, nil, nil},
		{"absent", "GROUP: general", nil, []string{"SG201 error " + missing}},
		{"empty", `RQ_REDIS_URL: ""`, nil, []string{"SG201 error " + missing}},
		{"bare", "RQ_REDIS_URL: ${X}", nil, []string{"SG202 error " + missing}},
		{"bare without braces, in a list", "- RQ_REDIS_URL=$X", nil, []string{"SG202 error " + missing}},
		{"bare, set here", "RQ_REDIS_URL: ${X}", []string{"X=" + url}, []string{"SG202 warning " + missing}},
		{"bare, set to nothing here", "RQ_REDIS_URL: ${X}", []string{"X="}, []string{"SG202 error " + missing}},
		{"an empty default", "RQ_REDIS_URL: ${X:-}", nil, []string{"SG202 error " + missing}},
		{"an empty default, set here", "RQ_REDIS_URL: ${X:-}", []string{"X=" + url}, []string{"SG202 warning " + missing}},
		{"an empty default of a part, set here", "RQ_REDIS_URL: redis://${H-}:6379/0", []string{"H=redis"}, []string{"SG202 warning [redis_parse_failed] @RQ_REDIS_URL"}},
		{"a default", "RQ_REDIS_URL: ${X:-" + url + "}", nil, nil},
		{"a default for unset only", "RQ_REDIS_URL: ${X-" + url + "}", nil, nil},
		{"it must be set", "RQ_REDIS_URL: ${X:?m}", nil, []string{"SG105 info @RQ_REDIS_URL"}},
		{"it must be set, and is", "RQ_REDIS_URL: ${X:?m}", []string{"X=" + url}, nil},
		{"without the colon", "RQ_REDIS_URL: ${X?m}", nil, []string{"SG105 info @RQ_REDIS_URL", "SG204 error " + missing}},
		{"without the colon, set here", "RQ_REDIS_URL: ${X?m}", []string{"X=" + url}, []string{"SG204 warning " + missing}},
		{"passed on", "RQ_REDIS_URL:", nil, []string{"SG202 error " + missing}},
		{"passed on, and set here", "- RQ_REDIS_URL", []string{"RQ_REDIS_URL=" + url}, []string{"SG202 warning " + missing}},
		{"a host that may be blank", "RQ_REDIS_URL: redis://${H}:6379/0", nil, []string{"SG202 error [redis_parse_failed] @RQ_REDIS_URL"}},
		{"a host that must be set", "RQ_REDIS_URL: redis://${H:?m}:6379/0", nil, []string{"SG105 info @RQ_REDIS_URL"}},
		{"a host that compose sets", "RQ_REDIS_URL: redis://${COMPOSE_PROJECT_NAME}-redis-1:6379/0", nil, nil},
		{"a host that compose sets, and must", "RQ_REDIS_URL: redis://${COMPOSE_PROJECT_NAME:?}-redis-1:6379/0", nil, nil},
		{"a port that must be set", "RQ_REDIS_URL: redis://redis:${P:?m}/0", nil, []string{"SG105 info @RQ_REDIS_URL"}},
		{"a database that may be blank", "RQ_REDIS_URL: redis://redis:6379/${D}", nil, nil},
		{"an optional key may be", "RQ_REDIS_URL: " + url + "\nREDIS_PASSWORD: ${P}", nil, nil},
		{"the condition does not hold", "RQ_REDIS_URL: " + url + "\nMAIL_KEY: ${K}", nil, nil},
		{"the condition holds", "RQ_REDIS_URL: " + url + "\nGROUP: mail\nMAIL_KEY: ${K}", nil, []string{"SG202 error [mail_key_missing] @MAIL_KEY"}},
		{"the condition is not known", "RQ_REDIS_URL: " + url + "\nGROUP: ${G:?m}\nMAIL_KEY: ${K}", nil, []string{"SG105 info @GROUP"}},
		{"a secret from its file", "RQ_REDIS_URL_FILE: /etc/worker/url", nil, nil},
		{"a secret from no file", "RQ_REDIS_URL_FILE: /dev/null", nil, []string{"SG201 error " + missing}},
	} {
		envCase{name: c.name, files: envStack(c.environment), contract: envContract, environ: c.environ, want: c.want}.test(t)
	}
}

func TestKeysOfEnvFiles(t *testing.T) {
	stack := func(environment, file string) map[string]string {
		s := "services:\n  worker:\n    image: app\n    command: rq worker\n    env_file: worker.env\n" + environment
		files := map[string]string{"compose.yaml": s}
		if file != "" {
			files["worker.env"] = file
		}
		return files
	}
	const url = "redis://redis.example.org/0?socket_keepalive=true"
	for _, c := range []envCase{
		{name: "given by it", files: stack("", "RQ_REDIS_URL="+url+"\n")},
		{name: "it is not here", files: stack("", ""), want: []string{"SG104 info @0"}},
		{name: "it is empty in it", files: stack("", "RQ_REDIS_URL=\n"), want: []string{"SG201 error [redis_missing] @RQ_REDIS_URL"}},
		{name: "a bad value in it", files: stack("", "RQ_REDIS_URL="+url+"\nWORKER_PORT=x\n"), want: []string{"SG205 error [worker_port_invalid] @WORKER_PORT"}},
		{name: "hidden", files: stack("    environment: {RQ_REDIS_URL: '${RQ_REDIS_URL}'}\n", "RQ_REDIS_URL="+url+"\n"), want: []string{"SG210 error [redis_missing] @RQ_REDIS_URL"}},
		{name: "hidden by nothing", files: stack("    environment: {RQ_REDIS_URL: ''}\n", "RQ_REDIS_URL="+url+"\n"), want: []string{"SG210 error [redis_missing] @RQ_REDIS_URL"}},
		{name: "hidden by a key that is passed on", files: stack("    environment: [RQ_REDIS_URL]\n", "RQ_REDIS_URL="+url+"\n"), want: []string{"SG210 error [redis_missing] @RQ_REDIS_URL"}},
		{name: "hidden, and not required", files: stack("    environment: {GROUP: '${GROUP}'}\n", "RQ_REDIS_URL="+url+"\nGROUP=mail\nMAIL_KEY=k\n"), want: []string{"SG210 warning @GROUP"}},
		{name: "it must be set", files: stack("    environment: {RQ_REDIS_URL: '${RQ_REDIS_URL:?m}'}\n", "RQ_REDIS_URL="+url+"\n"), want: []string{"SG105 info @RQ_REDIS_URL", "SG207 error @RQ_REDIS_URL"}},
		{name: "the same value from .env", files: with(stack("    environment: {RQ_REDIS_URL: '${RQ_REDIS_URL:?m}'}\n", "RQ_REDIS_URL="+url+"\n"), ".env", "RQ_REDIS_URL="+url+"\n")},
		{name: "another one's variable", files: stack("    environment: {GROUP: '${B}'}\n", "RQ_REDIS_URL="+url+"\nB=mail\n"), want: []string{"SG207 error @GROUP"}},
		{name: "another one's variable, with a default", files: stack("    environment: {GROUP: '${B:-general}'}\n", "RQ_REDIS_URL="+url+"\nB=mail\n"), want: []string{"SG207 warning @GROUP"}},
		{name: "another one's variable, used when set", files: stack("    environment: {X: '${B:+on}'}\n", "RQ_REDIS_URL="+url+"\nB=mail\n")},
		{name: "in a port", files: stack("    ports: ['${B}:80']\n", "RQ_REDIS_URL="+url+"\nB=80\n"), want: []string{"SG207 error @0"}},
		{name: "in a command, which is SG407's", files: stack("    entrypoint: [/run, '${B}']\n", "RQ_REDIS_URL="+url+"\nB=80\n")},
	} {
		c.contract = envContract
		if !c.mentions("SG104") {
			c.test(t)
			continue
		}
		for _, f := range c.run(t).Findings {
			if strings.HasPrefix(f.Rule, "SG2") {
				t.Errorf("%s: %+v", c.name, f)
			}
		}
	}
}

func (c envCase) mentions(rule string) bool {
	return slices.ContainsFunc(c.want, func(s string) bool { return strings.HasPrefix(s, rule) })
}

func TestFaultsOfValues(t *testing.T) {
	const url = "RQ_REDIS_URL: redis://redis:6379/0\n"
	for _, c := range []envCase{
		{name: "quotes in a list", files: envStack(`- RQ_REDIS_URL="redis://redis:6379/0"`), want: []string{"SG208 error [env_quoted_value] @RQ_REDIS_URL"}},
		{name: "quotes in a mapping", files: envStack(`RQ_REDIS_URL: '"redis://redis:6379/0"'`), want: []string{"SG205 error [env_quoted_value] @RQ_REDIS_URL"}},
		{name: "quotes around the item", files: envStack(`- "RQ_REDIS_URL=redis://redis:6379/0"`)},
		{name: "quotes of no contract", files: envStack("- RQ_REDIS_URL=redis://redis:6379/0\n- NAME='a b'\n- JSON=[\"a\",\"b\"]\n- TWO=\"a\" \"b\""), want: []string{"SG208 error @NAME"}},
		{name: "a placeholder", files: envStack("RQ_REDIS_URL: <url>"), want: []string{"SG205 error [env_placeholder_value] @RQ_REDIS_URL"}},
		{name: "white space", files: envStack("RQ_REDIS_URL: 'redis://redis:6379/0 '"), want: []string{"SG205 error [env_surrounding_whitespace] @RQ_REDIS_URL"}},
		{name: "a reference", files: envStack("RQ_REDIS_URL: redis://$${HOST}:6379/0"), want: []string{"SG205 error [env_unexpanded_reference] @RQ_REDIS_URL"}},
		{name: "no Redis URL", files: envStack("RQ_REDIS_URL: redis://redis:0/0"), want: []string{"SG302 error [redis_parse_failed] @RQ_REDIS_URL"}},
		{name: "retyped", files: envStack(url + "V: 1.10\nO: 010\nH: 0x1F\nE: 1e3\nD: 2024-01-01\nU: 1_000\nB: True\nN: 089"), want: []string{
			"SG209 warning @V", "SG209 warning @O", "SG209 warning @H", "SG209 warning @E", "SG209 warning @D", "SG209 warning @U", "SG209 warning @B", "SG209 warning @N"}},
		{name: "not retyped", files: envStack(url + "V: \"1.10\"\nI: 10\nF: 1.5\nY: yes\nT: true\nC: 1:30\nZ: 0\nS: !!str 010")},
		{name: "not retyped in a list", files: envStack("- RQ_REDIS_URL=redis://redis:6379/0\n- V=1.10\n- O=010")},
		{name: "two ports", files: envStack(url + "WORKER_PORT: 9101"), want: []string{"SG216 error [ports_same] @WORKER_PORT"}},
		{name: "a rule that warns", files: envStack(url + "WORKER_PORT: 80"), want: []string{"SG216 warning [port_low] @WORKER_PORT"}},
		{name: "ports that are not known", files: envStack(url + "WORKER_PORT: ${P:?m}\nWORKER_ADMIN: ${P:?m}"), want: []string{"SG105 info @WORKER_PORT"}},
		{name: "less is another rule's", files: envStack(url + "WORKER_PORT: 9200")},
		{name: "deprecated and forbidden", files: envStack(url + "OLD: x\nNEVER: x"), want: []string{"SG216 warning [env_deprecated_key] @OLD", "SG216 error [env_forbidden_key] @NEVER"}},
		{name: "misspelled", files: envStack(url + "WORKER_PROT: 9200"), want: []string{"SG211 warning [env_unknown_key] @WORKER_PROT"}},
		{name: "undeclared", files: envStack(url + "WORKER_SOMETHING: 9200"), want: []string{"SG211 warning [env_unknown_keys] @environment"}},
		{name: "two sources", files: with(envStack(url + "REDIS_PASSWORD: x\nREDIS_PASSWORD_FILE: /etc/p")), want: []string{"SG213 error [secret_source_conflict] @REDIS_PASSWORD_FILE"}},
		{name: "one of two sources is empty", files: envStack(url + "REDIS_PASSWORD: ''\nREDIS_PASSWORD_FILE: /etc/p")},
		{name: "not two sources", files: envStack(url + "LOG: debug\nLOG_FILE: /var/log/x")},
		{name: "passed on", files: envStack(url + "POSTGRES_USER:\nGROUP:"), want: []string{"SG206 warning @POSTGRES_USER"}},
		{name: "passed on in a list", files: envStack("- RQ_REDIS_URL=redis://redis:6379/0\n- POSTGRES_USER"), want: []string{"SG206 info @POSTGRES_USER"}},
		{name: "passed on, and set", files: envStack(url + "POSTGRES_USER:"), environ: []string{"POSTGRES_USER=x"}},
		{name: "not used", files: envStack(url + "MAIL_KEY: abcdef"), want: []string{"SG217 info @environment"}},
		{name: "used", files: envStack(url + "GROUP: mail\nMAIL_KEY: abcdef")},
		{name: "perhaps used", files: envStack(url + "GROUP: ${G:?m}\nMAIL_KEY: abcdef"), want: []string{"SG105 info @GROUP"}},
		{name: "an override's value counts", files: with(envStack("RQ_REDIS_URL: ''"), "override.yaml", "services:\n  worker:\n    environment: ['RQ_REDIS_URL=redis://redis:6379/0']\n")},
		{name: "an override takes it away", files: with(envStack(url), "override.yaml", "services:\n  worker:\n    environment: {RQ_REDIS_URL: !reset null}\n"), want: []string{"SG201 error [redis_missing] @RQ_REDIS_URL"}},
		{name: "from an anchor", files: map[string]string{"compose.yaml": "x-env: &env {RQ_REDIS_URL: '${RQ_REDIS_URL}'}\nservices:\n  worker:\n    image: app\n    command: rq worker\n    environment: {<<: *env}\n  b:\n    image: app\n    command: rq worker\n    environment: {<<: *env, RQ_REDIS_URL: '${R:?m}'}\n"},
			want: []string{"SG105 info @RQ_REDIS_URL", "SG202 error [redis_missing] @RQ_REDIS_URL"}},
		{name: "from what it extends", files: map[string]string{"compose.yaml": "services:\n  base:\n    image: app\n    environment: {RQ_REDIS_URL: '${RQ_REDIS_URL}'}\n  worker:\n    extends: base\n    command: rq worker\n"},
			want: []string{"SG202 error [redis_missing] @RQ_REDIS_URL"}},
	} {
		c.contract = envContract
		c.test(t)
	}
}

// TestNoDiagnosticIsLost walks all codes that a contract's check can say, and
// some of the contract's own, and wants each from exactly one rule.
func TestNoDiagnosticIsLost(t *testing.T) {
	contract, faults := envcheck.Load(strings.NewReader(envContract))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	codes := envcheck.Codes()
	for _, k := range contract.Keys {
		codes = append(codes, k.Topic+"_missing", k.Topic+"_invalid", k.Topic+"_parse_failed")
	}
	for _, r := range contract.Rules {
		codes = append(codes, r.Code)
	}
	known := map[string]rule{}
	for _, r := range rules {
		known[r.ID] = r
	}
	for _, code := range codes {
		for _, level := range []envcheck.Level{envcheck.Error, envcheck.Warn} {
			d := envcheck.Diagnostic{Code: code, Level: level, Keys: []envcheck.Key{"RQ_REDIS_URL"}}
			s := load(context.Background(), "", writeStack(t, envStack("RQ_REDIS_URL: redis://redis:6379/0")), &Options{Config: &Config{}, Contract: contract})
			v := s.service("worker")
			v.result.Diagnostics = []envcheck.Diagnostic{d}
			v.faults = nil
			v.addFault(fault{Diagnostic: d})
			id := v.faults[0].rule
			if id == contradiction {
				continue // told by comparing the settings themselves
			}
			s.findings = nil
			s.run()
			var by []string
			for _, f := range s.findings {
				if f.Code == string(code) {
					by = append(by, f.Rule+" "+string(f.Severity))
				}
			}
			if want := fmt.Sprintf("[%s %s]", id, map[envcheck.Level]Severity{envcheck.Error: Error, envcheck.Warn: Warn}[level]); fmt.Sprint(by) != want {
				t.Errorf("%s (%s) is told by %v, want %s", code, level, by, want)
			}
		}
	}
}

func writeStack(t *testing.T, files map[string]string) []string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return []string{filepath.Join(dir, "compose.yaml")}
}

func TestContractThatDoesNotApply(t *testing.T) {
	const contract = "contract: 1\nname: worker\nskip_when: not ENABLED\nskip_key: ENABLED\nkeys:\n  ENABLED: {type: bool, default: \"false\"}\n  RQ_REDIS_URL: {type: redis_url, required: ENABLED}\n"
	for _, c := range []envCase{
		{name: "it applies", files: envStack("ENABLED: \"true\"\nRQ_REDIS_URL: redis://redis")},
		{name: "switched off", files: envStack("ENABLED: \"false\""), want: []string{"SG217 info [worker_disabled] @ENABLED"}},
		{name: "never switched on", files: envStack("OTHER: x"), want: []string{"SG217 warning [worker_disabled] @ENABLED"}},
		{name: "misspelled", files: envStack("ENABLE: \"true\""), want: []string{"SG211 warning [worker_disabled] @ENABLED"}},
		{name: "not known", files: envStack("ENABLED: ${E:?m}"), want: []string{"SG105 info @ENABLED"}},
	} {
		c.contract = contract
		c.test(t)
	}
}

// TestNoValueIsSaid plants a canary in every place that these rules read.
func TestNoValueIsSaid(t *testing.T) {
	const canary = "s3cr3tcanary"
	c := envCase{contract: envContract, environ: []string{"P=" + canary + "/x"}, files: with(map[string]string{"compose.yaml": strings.ReplaceAll(`services:
  worker:
    image: CANARY
    command: rq worker CANARY
    env_file: worker.env
    profiles: [CANARY]
    environment:
      - RQ_REDIS_URL="redis://:CANARY@localhost:0/CANARY"
      - REDIS_URL=redis://:${P}@CANARY:6379/0
      - SESSION_REDIS_URL=redis://CANARY
      - REDIS_PASSWORD=CANARY
      - REDIS_PASSWORD_FILE=/run/secrets/CANARY
      - GROUP=${B-CANARY}
      - WORKER_PORT=CANARY
      - WORKER_CANARY=CANARY
      - NEVER=CANARY
      - CANARY
      - X=${CANARY:?CANARY}
      - OLD=1
    networks: [CANARY]
  redis:
    image: redis:7
    command: redis-server --requirepass CANARY --port 1
`, "CANARY", canary)}, "worker.env", "B="+canary+"\n", "override.yaml", "services: {redis: {networks: [default]}}\nnetworks: {"+canary+": {}}\n")}
	r := c.run(t)
	said := map[string]bool{}
	for _, f := range r.Findings {
		said[f.Rule] = true
		// A service, a network or a profile has a name that may be said; here
		// none of these rules has a reason to.
		if text := f.Message + f.Fix + f.Code + f.Path; strings.Contains(strings.ToLower(text), canary) {
			t.Errorf("%s says a value: %s", f.Rule, text)
		}
	}
	for _, rule := range []string{"SG105", "SG106", "SG205", "SG206", "SG207", "SG208", "SG211", "SG213", "SG214", "SG216", "SG304", "SG305"} {
		if !said[rule] {
			t.Errorf("%s has found nothing, so that it was not tested", rule)
		}
	}
}
