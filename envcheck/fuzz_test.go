package envcheck

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

// everything is a contract that uses every field of the language.
const everything = `contract: 1
name: everything
doc: All of the language.
policy: {empty: unset, whitespace: trim, placeholders: warn, references: error, quotes: warn, duplicates: warn, unknown: error, spelling: any, reasons: on}
owns: [A*, '*_X']
conditions: {one: set(SECRET) or BOOL, two: "not (one and INT in [5, 6]) and ENUM != 'a b'"}
skip_when: two and unset(STRING)
skip_key: STRING
skip_code: off_duty
on_skip: exit
keys:
  STRING: {pattern: '[a-z]+', min_len: 2, required: two, purpose: a word, doc: x, doc_when: y, topic: word, empty: keep, references: off}
  TEXT: {type: text, fallback: [STRING], whitespace: error}
  BOOL: {type: bool, default: "true", expose: value, spelling: strict}
  INT: {type: int, min: 3, max: 90, forbidden: {when: one, level: warn}}
  NUMBER: {type: number, default: "0.5", deprecated: {use: INT, level: error}}
  PORT: {type: port, default: "80"}
  SECONDS: {type: seconds, max: 0.75}
  MILLIS: {type: millis}
  DURATION: {type: duration, min: 1s, max: 1h, forbidden: false}
  ENUM: {enum: [a, a b], quotes: off, placeholders: off}
  URL: {type: url}
  HTTP: {type: http_url}
  REDIS: {type: redis_url, fallback: {keys: [REDIS2], when: one}}
  REDIS2: {type: redis_url, secret: false}
  POSTGRES: {type: postgres_url}
  EMAIL: {type: email}
  PATH_X: {type: path}
  PEM: {type: pem, file: false}
  LIST: {type: list}
  SECRET: {secret: true, export: true, required: true}
rules:
  - {code: a, require_any: [STRING, TEXT], when: one}
  - {code: b, all_or_none: [STRING, TEXT], level: warn}
  - {code: c, at_most_one: [STRING, TEXT], fix: drop one}
  - {code: d, distinct: [INT, PORT]}
  - {code: e, aligned: [REDIS, REDIS2], ignore: [db, tls]}
  - {code: f, less: [SECONDS, DURATION]}
  - {code: g, assert: BOOL == true and one, doc: why}
waits:
  - {redis: REDIS, when: one, client: rq, require: [reachable, version>=6.2, persistence], prefer: [noeviction, persistence], oom: retry, key_prefix: q, tls: {ca: PATH_X, verify: ca}}
  - {redis: {host: STRING, port: PORT, password: SECRET, db: INT, tls: BOOL}, name: parts, topology: cluster}
  - {redis: {sentinels: LIST, master: m}, name: sentinels}
  - {postgres: POSTGRES}
  - {http: HTTP, path: /x}
  - {tcp: URL, name: tcp}
settings: {timeout: SECONDS, delay: MILLIS}
queues: [a, 'b:c']
health: {listen: PORT, revision: STRING, redis: true, heartbeat: {rq: true, max_age: 480}, http: {port: PORT, path: /x}}
`

func FuzzContract(f *testing.F) {
	f.Add(everything)
	for _, name := range []string{"bullmq", "rq"} {
		b, err := os.ReadFile("../examples/" + name + "/contract.yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add(head + "keys: {A: &a {<<: *a}}")
	f.Fuzz(func(t *testing.T, text string) {
		c, ds := Load(strings.NewReader(text))
		if (c == nil) != (len(ds) > 0) {
			t.Fatal("a contract with faults, or none without")
		}
		for _, d := range ds {
			if d.Severity() != Error || d.Message() == "" || !d.Code.known() {
				t.Fatalf("fault %s", d.AppendText(nil))
			}
		}
		if c == nil {
			return
		}
		printed := c.print()
		again, ds := Load(strings.NewReader(printed))
		if ds != nil {
			t.Fatalf("%s\n%s", printed, faults(ds))
		}
		if got := again.print(); got != printed && len(c.Waits) == 0 {
			t.Fatalf("first\n%s\nthen\n%s", printed, got)
		}
		if got, want := again.Docs(), c.Docs(); got != want {
			t.Fatalf("first\n%s\nthen\n%s", want, got)
		}
		c.Check(Environ{"A=1"})
		c.Example()
	})
}

func TestEverythingLoads(t *testing.T) {
	c, ds := Load(strings.NewReader(everything))
	if ds != nil {
		t.Fatal(faults(ds))
	}
	seen := map[Type]bool{}
	for _, k := range c.Keys {
		seen[k.Type] = true
	}
	for _, rule := range types {
		if !seen[rule.name] {
			t.Errorf("no key of type %s", rule.name)
		}
	}
}

func FuzzExpression(f *testing.F) {
	c, ds := Load(strings.NewReader(everything))
	if ds != nil {
		f.Fatal(faults(ds))
	}
	scope := exprScope{keys: map[Key]*KeySpec{}, conditions: map[string]*Expr{}}
	for _, k := range c.Keys {
		scope.keys[k.Key] = k
	}
	for _, condition := range c.Conditions {
		scope.conditions[condition.Name] = condition.Expr
		f.Add(condition.Expr.String())
	}
	for _, s := range []string{
		"one", "not not one", "(one or two) and not (one and two)", "INT == 5", "NUMBER in [1, 0.5, 0.50]", "DURATION == 1m", "ENUM != 'a b'",
		"BOOL == 1", "STRING == 'and'", "set(SECRET) and unset(TEXT)", "URL == 'x://y'", "TEXT == ''", "((((one))))",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, at, reason := parseExpr(text, scope)
		if reason != "" {
			if e != nil || at < 0 || at > len(text) {
				t.Fatalf("fault %s at %d", reason, at)
			}
			return
		}
		printed := e.String()
		again, _, reason := parseExpr(printed, scope)
		if reason != "" {
			t.Fatalf("%q is written as %q, which is refused: %s", text, printed, reason)
		}
		if got := again.String(); got != printed {
			t.Fatalf("%q is written as %q and then as %q", text, printed, got)
		}
		j := &judge{contract: c, env: indexOf(nil), readFile: readSecret}
		j.readAll()
		if e.eval(j) != again.eval(j) {
			t.Fatalf("%q and %q differ", text, printed)
		}
	})
}

// FuzzNoLeak puts a text into every key of a random environment, as it is and
// in hostile company, and looks for it in all that is said.
func FuzzNoLeak(f *testing.F) {
	contracts := []*Contract{loadFile(f, "../examples/bullmq/contract.yaml"), loadFile(f, "../examples/rq/contract.yaml")}
	c, _ := Load(strings.NewReader(everything))
	builtin := Builtin([][]Key{{"RQ_REDIS_URL", "REDIS_URL", "REDIS_HOST"}}, Generic, RequireWrite, "p")
	contracts = append(contracts, c, &builtin)
	for seed := range uint64(40) {
		f.Add(seed, "x")
	}
	for _, s := range hostile {
		f.Add(uint64(1), s)
	}
	f.Fuzz(func(t *testing.T, seed uint64, company string) {
		rng := rand.New(rand.NewPCG(seed, 1))
		canary := newCanary(rng)
		for _, c := range contracts {
			env := poisoned(rng, c, canary, company)
			if leak := leakOf(canary, everythingSaid(c, env)); leak != "" {
				t.Fatalf("%s says the canary %s", c.Name, leak)
			}
		}
	})
}

// everythingSaid is everything that a check says, in both formats.
func everythingSaid(c *Contract, env Environ) string {
	r := c.CheckProcess(Process{Environ: env, Raw: env, Args: env})
	var b []byte
	for _, d := range r.Diagnostics {
		b = append(d.AppendText(b), '\n')
		b = append(d.AppendJSON(b, time.Time{}), '\n')
	}
	for _, f := range r.Facts {
		b = append(f.AppendText(b), '\n')
		b = append(f.AppendJSON(b, time.Time{}), '\n')
	}
	return string(b)
}
