package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// lint is the command that says most of a contract file.
var lint = verb("contract lint", "contract", "lint")

// contracting are the commands about a contract file.
var contracting = [...]invocation{
	verb("contract lint as JSON", "contract", "--format=json", "lint"),
	verb("contract docs", "contract", "docs"),
	verb("contract example", "contract", "example"),
	verb("contract example as JSON", "contract", "--format", "json", "example"),
}

// atContract is a process that meets a contract file with that text.
func atContract(t *testing.T, label, canary, text string, c invocation) *process {
	t.Helper()
	return &process{
		label: label + ", " + c.name, canary: canary, exit: anyExit, args: c.args(attempt{}),
		env: slices.Concat([]string{
			"PATH=" + os.Getenv("PATH"), "STARTGATE_TIMEOUT=0", "STARTGATE_CONTRACT=" + secretFile(t, canary, text),
		}, c.env),
	}
}

// scalars are the places of a contract file for one text. Those are missing
// that are there to be printed: purpose and fix.
var scalars = [...]string{
	"contract: %s", "name: %s", "doc: %s", "%s: 1", "policy: {empty: %s}", "policy: {%s: error}", "owns: [%s]",
	"conditions: {x: %s}", "conditions: {%s: A}", "skip_when: %s", "{skip_when: B, skip_key: %s}", "{skip_when: B, skip_code: %s}", "{skip_when: B, on_skip: %s}",
	"keys: {%s: {}}", "keys: {A: {%s: 1}}", "keys: {A: {type: %s}}", "keys: {A: {required: %s}}", "keys: {A: {forbidden: %s}}",
	"keys: {A: {forbidden: {when: %s}}}", "keys: {A: {forbidden: {when: true, level: %s}}}", "keys: {A: {fallback: [%s]}}", "keys: {A: {fallback: {keys: [B], when: %s}}}",
	"keys: {A: {default: %s}}", "keys: {A: {type: int, default: %s}}", "keys: {A: {enum: [%s]}}", "keys: {A: {type: int, min: %s}}", "keys: {A: {type: duration, max: %s}}",
	"keys: {A: {min_len: %s}}", "keys: {A: {pattern: %s}}", "keys: {A: {export: %s}}", "keys: {A: {type: bool, spelling: %s}}", "keys: {A: {secret: %s}}",
	"keys: {A: {file: %s}}", "keys: {A: {expose: %s}}", "keys: {A: {topic: %s}}", "keys: {A: {deprecated: {use: %s}}}", "keys: {A: {quotes: %s}}", "keys: {A: {doc_when: %s}}",
	"rules: [{code: %s, assert: true}]", "rules: [{code: x, assert: %s}]", "rules: [{code: x, when: %s, assert: true}]", "rules: [{code: x, level: %s, assert: true}]",
	"rules: [{code: x, distinct: [A, %s]}]", "rules: [{code: x, aligned: [R, Q], ignore: [%s]}]", "rules: [{code: x, %s: [A, B]}]", "rules: [{code: x, assert: true, doc: %s}]",
	"waits: [{redis: %s}]", "waits: [{redis: {host: A, port: %s}}]", "waits: [{redis: {sentinels: A, master: %s}}]", "waits: [{redis: R, name: %s}]", "waits: [{redis: R, when: %s}]",
	"waits: [{redis: R, client: %s}]", "waits: [{redis: R, require: [%s]}]", "waits: [{redis: R, prefer: [%s]}]", "waits: [{redis: R, oom: %s}]", "waits: [{redis: R, key_prefix: %s}]",
	"waits: [{redis: R, topology: %s}]", "waits: [{redis: R, tls: {ca: %s}}]", "waits: [{redis: R, tls: {verify: %s}}]", "waits: [{http: H, path: %s}]", "waits: [{tcp: %s}]",
	"settings: {timeout: %s}", "settings: {%s: A}", "queues: [%s]", "health: {listen: %s}", "health: {heartbeat: {max_age: %s}}", "health: {redis: %s}",
	"health: {http: {port: %s, path: /x}}", "health: {http: {port: 80, path: %s}}",
}

// TestContractScalars has hostile texts wherever a contract has a text: in
// quotes, so that the text itself arrives, and as it is, which mostly is no
// YAML at all. The commands are those that do not show the contract.
func TestContractScalars(t *testing.T) {
	needsExec(t)
	t.Parallel()
	commands := append(gating[:], lint, contracting[0])
	var jobs []func()
	for i, place := range scalars {
		for j := range 4 {
			v, c := pick(texts[:], 5*i+9*j), pick(commands, 5*i+3*j)
			jobs = append(jobs, func() {
				canary := newCanary()
				text := v.text(canary)
				if j < 3 {
					text = quoted(text)
				}
				atContract(t, "a contract with "+place+", a text "+v.class, canary, contractWith(fmt.Sprintf(place, text)), c).evaluate(t)
			})
		}
	}
	for i, v := range texts { // a secret's file that was taken for the contract
		jobs = append(jobs, func() {
			canary := newCanary()
			atContract(t, "a contract that is a text "+v.class, canary, v.text(canary), pick(commands, i)).evaluate(t)
		})
	}
	together(jobs)
}

// contractWith is a contract with those fields, and with what they need beside
// them.
func contractWith(fields string) string {
	text := ""
	for _, f := range []string{"contract: 1", "name: canary", "keys: {A: {}, B: {type: bool}, R: {type: redis_url}, Q: {type: redis_url}, H: {type: http_url}}"} {
		if name, _, _ := strings.Cut(f, ":"); !strings.HasPrefix(fields, name+":") {
			text += f + "\n"
		}
	}
	if inner, ok := strings.CutPrefix(fields, "{"); ok {
		return text + strings.ReplaceAll(strings.TrimSuffix(inner, "}"), ", skip_", "\nskip_")
	}
	return text + fields + "\n"
}

// quoted is s in double quotes of YAML.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == unicode.ReplacementChar:
			b.WriteByte(s[i]) // invalid, and to stay so
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
