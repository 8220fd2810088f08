package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// fewestContracted is [fewest] of the matrix with a contract file.
const fewestContracted = 1000

// TestContractMatrix puts every hostile value in every key of a contract that
// has all types, and in every KEY_FILE as content and as path. The commands
// take turns.
func TestContractMatrix(t *testing.T) {
	needsExec(t)
	t.Parallel()
	start := time.Now()
	m := &contractMatrix{matrix{t: t, peers: newPeers(t)}}
	contract, _ := envcheck.Load(strings.NewReader(contractText(t, "canary", "literal")))
	if contract == nil {
		t.Fatal("testdata/contract.yaml has a fault")
	}

	seen := map[envcheck.Type]bool{}
	for i, k := range contract.Keys {
		values := texts[:]
		switch k.Type {
		case envcheck.TypeRedis, envcheck.TypePostgres, envcheck.TypeURL:
			values = append(values, m.peers.urls()...)
		}
		for j, v := range values {
			if seen[k.Type] && (i+j)%2 == 0 {
				continue // half will do once a key of the type had all
			}
			m.add(variable(string(k.Key)), v, pick(gating[:], 3*i+j))
		}
		seen[k.Type] = true
		if !k.File {
			continue
		}
		for j, v := range texts {
			m.add(pick([]place{m.content(k.Key), variable(string(k.Key) + "_FILE")}, i+j), v, pick(gating[:], i+3*j))
		}
	}
	for i, p := range undeclared {
		for j := range 5 {
			m.add(p, pick(texts[:], 7*i+11*j), pick(gating[:], i+j), pick(gating[:], i+j+5))
		}
	}

	together(m.jobs)
	t.Logf("%d evaluations in %.1f s", len(m.jobs), time.Since(start).Seconds())
	if len(m.jobs) < fewestContracted {
		t.Errorf("%d evaluations, want %d or more", len(m.jobs), fewestContracted)
	}
	if missed := unreachedReasons(contractedReasons[:]); len(missed) > 0 {
		t.Errorf("no value brought about the reasons %v", missed)
	}
}

// contractedReasons are those that a hostile value can bring about in a key of
// a contract, beside those of the matrix without one. canary_contract_events_test.go
// has the rest.
var contractedReasons = [...]envcheck.Reason{
	envcheck.NotBool, envcheck.NotInteger, envcheck.NotNumber, envcheck.NotEmail, envcheck.NotAbsolute,
	envcheck.PatternMismatch, envcheck.NoPEMBlock, envcheck.PathNotAbsolute,
}

// undeclared are places in names that the contract does not have, and in the
// values of some that are misspelled keys. Those names are printed.
var undeclared = [...]place{
	{"a name that the contract claims", func(a *attempt, v string) { a.env = append(a.env, "KEY_"+nameOf(v)+"=1") }},
	{"a name that the contract claims, in capitals", func(a *attempt, v string) { a.env = append(a.env, "WORKER_"+strings.ToUpper(nameOf(v))+"=1") }},
	{"a name after a secret's", func(a *attempt, v string) { a.env = append(a.env, "KEY_SECRET"+nameOf(v)+"="+v) }},
	{"a name before a key's", func(a *attempt, v string) { a.env = append(a.env, nameOf(v)+"KEY_SECRET="+v) }},
	{"a name after _FILE", func(a *attempt, v string) { a.env = append(a.env, "KEY_SECRET_FILE_"+nameOf(v)+"="+v) }},
	{"a name before _FILE", func(a *attempt, v string) { a.env = append(a.env, "KEY_"+nameOf(v)+"_FILE="+v) }},
	variable("KEY_SECRT"), variable("KEY_SECRET_FIL"), variable("KEY_SECRET_file"), variable("WORKER_ENABLE"), variable("QUEUE_URI"),
	variable("KEY_PLAIN_FILE"), variable("KEY_plain"), variable("KEY_UNKNOWN"),
}

// nameOf makes a name of a value: = would end it.
func nameOf(v string) string { return strings.ReplaceAll(v, "=", "") }

// A contractMatrix is a matrix under the contract of testdata.
type contractMatrix struct{ matrix }

func (m *contractMatrix) add(p place, v value, commands ...invocation) {
	for _, c := range commands {
		n := len(m.jobs)
		m.jobs = append(m.jobs, func() {
			process := m.process(p, v, c, n)
			process.label = "with a contract, " + process.label
			process.env = append(underContract(m.t, process.canary, m.server(c, n)), process.env...)
			process.evaluate(m.t)
		})
	}
}

// content is the place in the file that KEY_FILE names.
func (m *contractMatrix) content(key envcheck.Key) place {
	return place{"the file of " + string(key), func(a *attempt, v string) {
		a.env = append(a.env, string(key)+"_FILE="+secretFile(m.t, "secret", v))
	}}
}

// underContract is the environment of a process that is judged by the contract
// of testdata, and has what that requires. Its path and its text have the
// canary.
func underContract(t *testing.T, canary, server string) []string {
	t.Helper()
	return []string{
		"STARTGATE_CONTRACT=" + secretFile(t, canary, contractText(t, canary, canary)),
		"QUEUE_URL=redis://" + server + "/0", "KEY_PLAIN=plain",
	}
}

// contractText is the contract of testdata. literal stands in what is printed
// by the commands that show the contract.
func contractText(t *testing.T, canary, literal string) string {
	t.Helper()
	return strings.NewReplacer("CANARY", canary, "LITERAL", literal).Replace(readFile(t, "testdata/contract.yaml"))
}

// secretFile writes a file in a directory that has the canary for its name.
func secretFile(t *testing.T, canary, content string) string {
	t.Helper()
	path := filepath.Join(secretDir(t, canary), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Error(err)
	}
	return path
}

// TestContractIsComplete has a new type of key or kind of rule come into the
// suite.
func TestContractIsComplete(t *testing.T) {
	contract, _ := envcheck.Load(strings.NewReader(contractText(t, "canary", "literal")))
	if contract == nil {
		t.Fatal("testdata/contract.yaml has a fault")
	}
	var schema struct {
		Properties struct {
			Keys struct {
				AdditionalProperties struct {
					Properties map[string]struct{ Enum []envcheck.Type }
				}
			}
			Rules struct {
				Items struct{ Properties map[string]any }
			}
		}
	}
	if err := json.Unmarshal(envcheck.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	types, rules := schema.Properties.Keys.AdditionalProperties.Properties["type"].Enum, schema.Properties.Rules.Items.Properties
	if len(types) == 0 || len(rules) == 0 {
		t.Fatal("the schema has another form")
	}
	for _, name := range types {
		if !slices.ContainsFunc(contract.Keys, func(k *envcheck.KeySpec) bool { return k.Type == name }) {
			t.Errorf("no key of testdata/contract.yaml is of the type %s", name)
		}
	}
	text := readFile(t, "testdata/contract.yaml")
	for name := range rules {
		if !strings.Contains(text, name+": ") {
			t.Errorf("no rule of testdata/contract.yaml has %s", name)
		}
	}
}
