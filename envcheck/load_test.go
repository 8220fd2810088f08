package envcheck

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// faults writes what is wrong with a contract as LINE:COLUMN CODE/REASON.
func faults(ds []Diagnostic) string {
	var parts []string
	for _, d := range ds {
		s := ""
		for _, f := range d.Fields {
			s += fmt.Sprintf("%d:", f.value)
		}
		s = strings.TrimSuffix(s, ":") + " " + string(d.Code)
		if d.Reason != "" {
			s += "/" + string(d.Reason)
		}
		parts = append(parts, strings.TrimSpace(s))
	}
	return strings.Join(parts, "\n")
}

const head = "contract: 1\nname: c\n"

// Each contract's lines are counted from the one after contract and name: 3.
func TestLoadFaults(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
	}{
		{"unknown field", "keys: {}\nrulez: []", "4:1 contract_unknown_field"},
		{"unknown field of a key", "keys:\n  A: {typ: int}", "4:7 contract_unknown_field"},
		{"no keys", "doc: x", "1:1 contract_missing_field"},
		{"no code", "keys: {A: }\nrules: [{require_any: [A]}]", "3:11 contract_bad_value/not_a_mapping\n4:9 contract_missing_field"},
		{"field twice", "keys: {}\ndoc: a\ndoc: b", "5:1 contract_duplicate_key"},
		{"key twice", "keys:\n  A: {}\n  B: {}\n  A: {}", "6:3 contract_duplicate_key"},
		{"null", "keys:\n  A: {type: ~}\n  B: {doc: }", "4:13 contract_bad_value/null_value\n5:12 contract_bad_value/null_value"},
		{"list for text", "keys: {A: {doc: [x]}}", "3:17 contract_bad_value/not_a_text"},
		{"text for list", "keys: {A: {enum: x}}", "3:18 contract_bad_value/not_a_list"},
		{"text for mapping", "keys: A", "3:7 contract_bad_value/not_a_mapping"},
		{"mapping for a name", "keys: {[A]: {}}", "3:8 contract_bad_value/not_a_text"},
		{"no name of a key", "keys: {a: {}, 1A: {}, A-B: {}, '': {}}",
			"3:8 contract_bad_value/not_a_key\n3:15 contract_bad_value/not_a_key\n3:23 contract_bad_value/not_a_key\n3:32 contract_bad_value/not_a_key"},
		{"reserved key", "keys: {STARTGATE_TIMEOUT: {}}", "3:8 contract_bad_value/reserved_name"},
		{"reserved glob", "keys: {}\nowns: [STARTGATE_*, a*, A*B_]", "4:8 contract_bad_value/reserved_name\n4:21 contract_bad_value/not_a_glob"},
		{"unknown type", "keys: {A: {type: string2}}", "3:18 contract_bad_value/not_in_enum"},
		{"no bool", "keys: {A: {secret: yes}}", "3:20 contract_bad_value/not_in_enum"},
		{"negative length", "keys: {A: {min_len: -1}}", "3:21 contract_bad_value/not_integer"},
		{"long purpose", "keys: {A: {purpose: " + strings.Repeat("x", 201) + "}}", "3:21 contract_bad_value/too_long"},
		{"line break in purpose", `keys: {A: {purpose: "a\nstartgate: info  exec"}}`, "3:21 contract_bad_value/not_printable"},
		{"pattern", "keys: {A: {pattern: '('}}", "3:21 contract_bad_value/pattern_invalid"},
		{"look-ahead", "keys: {A: {pattern: 'a(?=b)'}}", "3:21 contract_bad_value/pattern_invalid"},
		{"pattern that closes brackets", "keys: {A: {pattern: 'a)|(?:b'}}", "3:21 contract_bad_value/pattern_invalid"},
		{"pattern of a number", "keys: {A: {type: int, pattern: '1'}}", "3:32 contract_bad_value/not_for_this_type"},
		{"length of a bool", "keys: {A: {type: bool, min_len: 1}}", "3:33 contract_bad_value/not_for_this_type"},
		{"bounds of a text", "keys: {A: {min: 1}}", "3:17 contract_bad_value/not_for_this_type"},
		{"bounds that are none", "keys: {A: {type: int, min: 1.5}, B: {type: duration, max: 5}}", "3:28 contract_bad_value/bound_invalid\n3:59 contract_bad_value/bound_invalid"},
		{"min above max", "keys: {A: {type: int, min: 3, max: 2}}", "3:28 contract_bad_value/min_above_max"},
		{"spelling of an int", "keys: {A: {type: int, spelling: any}}", "3:33 contract_bad_value/not_for_this_type"},
		{"enum without words", "keys: {A: {type: enum}, B: {enum: []}}", "3:8 contract_bad_value/enum_missing\n3:35 contract_bad_value/too_few"},
		{"words of an int", "keys: {A: {type: int, enum: [a]}}", "3:29 contract_bad_value/not_for_this_type"},
		{"word twice", "keys: {A: {enum: [a, a]}}", "3:18 contract_bad_value/repeated"},
		{"default out of bounds", "keys: {A: {type: int, max: 2, default: 3}}", "3:40 contract_bad_value/default_invalid"},
		{"default that is no word", "keys: {A: {enum: [a], default: b}}", "3:32 contract_bad_value/default_invalid"},
		{"default with a blank", "keys: {A: {default: ' a'}}", "3:21 contract_bad_value/default_invalid"},
		{"secret with all", "keys: {A: {secret: true, default: x, enum: [x], expose: value}}",
			"3:35 contract_bad_value/secret_with_default\n3:44 contract_bad_value/secret_with_enum\n3:57 contract_bad_value/secret_exposed"},
		{"secret as a fallback", "keys: {A: {fallback: [B]}, B: {secret: true}}", "3:22 contract_bad_value/secret_fallback"},
		{"URL with default", "keys: {A: {type: redis_url, default: 'redis://h'}}", "3:38 contract_bad_value/secret_with_default"},
		{"open type exposed", "keys: {A: {expose: value}, B: {type: path, expose: value}}", "3:20 contract_bad_value/open_type_exposed\n3:52 contract_bad_value/open_type_exposed"},
		{"export of nothing", "keys: {A: {export: true}}", "3:20 contract_bad_value/export_without_file"},
		{"own fallback", "keys: {A: {fallback: [A]}}", "3:22 contract_bad_value/names_itself"},
		{"undeclared fallback", "keys: {A: {fallback: {keys: [B]}}}", "3:30 contract_key_undeclared"},
		{"fallback without keys", "keys: {A: {fallback: {when: true}}}", "3:22 contract_missing_field"},
		{"deprecated for itself", "keys: {A: {deprecated: {use: A}}}", "3:24 contract_bad_value/names_itself"},
		{"deprecated for nothing", "keys: {A: {deprecated: {level: info}}}", "3:24 contract_missing_field\n3:32 contract_bad_value/not_in_enum"},
		{"forbidden without when", "keys: {A: {forbidden: {level: warn}}}", "3:23 contract_missing_field"},
		{"topic", "keys: {A: {topic: Redis}}", "3:19 contract_bad_value/not_a_name"},
		{"topic of the gate", "keys: {A: {topic: gate_setting, type: int}}", "3:19 contract_duplicate_code"},
		{"two rules with one code", "keys: {A: {}}\nrules: [{code: x, require_any: [A]}, {code: x, require_any: [A]}]", "4:45 contract_duplicate_code"},
		{"a rule with the gate's code", "keys: {A: {}}\nrules: [{code: redis_loading, require_any: [A]}]", "4:16 contract_duplicate_code"},
		{"a rule with a key's code", "keys: {A: {}}\nrules: [{code: a_missing, require_any: [A]}]", "4:16 contract_duplicate_code"},
		{"a skip with a rule's code", "keys: {A: {}}\nskip_when: set(A)\nskip_code: x\nrules: [{code: x, require_any: [A]}]", "6:16 contract_duplicate_code"},
		{"a skip with the gate's code", "keys: {A: {}}\nskip_when: set(A)\nskip_code: ready", "5:12 contract_duplicate_code"},
		{"skip without when", "keys: {A: {}}\nskip_code: x\nskip_key: A\non_skip: exit", "4:12 contract_bad_value/skip_without_when\n5:11 contract_bad_value/skip_without_when\n6:10 contract_bad_value/skip_without_when"},
		{"rule of no kind", "keys: {A: {}}\nrules: [{code: x}]", "4:9 contract_bad_value/no_kind"},
		{"rule of two kinds", "keys: {A: {}}\nrules: [{code: x, require_any: [A], assert: set(A)}]", "4:9 contract_bad_value/several_kinds"},
		{"rule of one key", "keys: {A: {}}\nrules: [{code: x, distinct: [A]}]", "4:29 contract_bad_value/too_few"},
		{"rule with a key twice", "keys: {A: {}}\nrules: [{code: x, distinct: [A, A]}]", "4:29 contract_bad_value/repeated"},
		{"rule with an undeclared key", "keys: {A: {}}\nrules: [{code: x, distinct: [A, B]}]", "4:33 contract_key_undeclared"},
		{"aligned texts", "keys: {A: {}, B: {type: redis_url}}\nrules: [{code: x, aligned: [A, B]}]", "4:28 contract_bad_value/key_of_other_type"},
		{"ignore of another kind", "keys: {A: {}, B: {}}\nrules: [{code: x, distinct: [A, B], ignore: [db]}]", "4:45 contract_bad_value/not_for_this_kind"},
		{"less of texts", "keys: {A: {}, B: {}}\nrules: [{code: x, less: [A, B]}]", "4:25 contract_bad_value/keys_not_comparable"},
		{"less of a number and a time", "keys: {A: {type: int}, B: {type: seconds}}\nrules: [{code: x, less: [A, B]}]", "4:25 contract_bad_value/keys_not_comparable"},
		{"condition's name", "keys: {}\nconditions: {Not: 'true', and: 'true'}", "4:14 contract_bad_value/not_a_name\n4:27 contract_bad_value/reserved_name"},
		{"condition in a circle", "keys: {}\nconditions:\n  a: b\n  b: a", "5:6 contract_bad_expression/condition_later"},
		{"condition of itself", "keys: {}\nconditions: {a: not a}", "4:21 contract_bad_expression/condition_later"},
		{"unknown condition", "keys: {A: {required: b}}", "3:22 contract_bad_expression/condition_unknown"},
		{"undeclared key", "keys: {A: {required: set(B) or C == x}}", "3:26 contract_key_undeclared"},
		{"impossible word", "keys: {A: {enum: [x]}, B: {required: A == y}}", "3:43 contract_bad_expression/literal_impossible"},
		{"impossible number", "keys: {A: {type: port}, B: {required: 'A in [80, 0]'}}", "3:50 contract_bad_expression/literal_impossible"},
		{"comparison with a secret", "keys: {A: {secret: true, required: A == x}}", "3:41 contract_bad_expression/compares_secret"},
		{"bare key", "keys: {A: {required: A}}", "3:23 contract_bad_expression/bare_key_not_bool"},
		{"two expressions", "keys: {A: {required: set(A) set(A)}}", "3:29 contract_bad_expression/unexpected_token"},
		{"long expression", "keys: {A: {required: " + strings.Repeat("set(A) or ", maxExprSize) + "set(A)}}", "3:22 contract_bad_expression/too_long"},
		{"expression with long conditions", "keys: {A: {required: a or b}}\nconditions: {a: " + strings.Repeat("set(A) or ", maxExprSize-3) + "set(A), b: set(A)}",
			"3:22 contract_bad_expression/too_long"},
		{"open quote", `keys: {A: {required: "A == 'x"}}`, "3:28 contract_bad_expression/quote_open"},
		{"all policies", "keys: {}\npolicy: {empty: warn, whitespace: off, placeholders: x, references: x, quotes: x, duplicates: x, unknown: x, reasons: x, spelling: x}",
			strings.TrimSpace(strings.Join([]string{"4:17", "4:35", "4:54", "4:69", "4:80", "4:95", "4:107", "4:119", "4:132"}, " contract_bad_value/not_in_enum\n") + " contract_bad_value/not_in_enum")},
		{"wait of no kind", "keys: {A: {}}\nwaits: [{name: x}]", "4:9 contract_bad_value/no_kind"},
		{"wait of two kinds", "keys: {A: {}}\nwaits: [{tcp: A, http: A}]", "4:9 contract_bad_value/several_kinds"},
		{"wait for an undeclared key", "keys: {}\nwaits: [{redis: A}]", "4:17 contract_key_undeclared"},
		{"wait for a key of another type", "keys: {A: {}}\nwaits: [{redis: A}, {http: A}, {postgres: A}]",
			"4:17 contract_bad_value/key_of_other_type\n4:28 contract_bad_value/key_of_other_type\n4:43 contract_bad_value/key_of_other_type"},
		{"two waits of one name", "keys: {A: {type: redis_url}}\nwaits: [{redis: A}, {redis: A}]", "4:21 contract_bad_value/repeated"},
		{"waits for no name of a key", "keys: {}\nwaits: [{http: not-a-key, path: /x}, {tcp: x}]", "4:16 contract_bad_value/not_a_key\n4:44 contract_bad_value/not_a_key"},
		{"unknown client", "keys: {A: {type: redis_url}}\nwaits: [{redis: A, client: celeri}]", "4:28 contract_bad_value/not_in_enum"},
		{"unknown level", "keys: {A: {type: redis_url}}\nwaits: [{redis: A, require: [writes], prefer: [write]}]", "4:30 contract_bad_value/not_in_enum\n4:48 contract_bad_value/not_in_enum"},
		{"no version", "keys: {A: {type: redis_url}}\nwaits: [{redis: A, prefer: [version>=six]}]", "4:29 contract_bad_value/not_a_version"},
		{"unknown parameter", "keys: {A: {type: redis_url}}\nwaits: [{redis: A, retries: 3}]", "4:20 contract_unknown_field"},
		{"field of another wait", "keys: {A: {}}\nwaits: [{tcp: A, client: rq, path: /x}]", "4:26 contract_bad_value/not_for_this_kind\n4:36 contract_bad_value/not_for_this_kind"},
		{"status of another wait", "keys: {A: {}}\nwaits: [{tcp: A, status: 200, header: {name: X, key: A}}]",
			"4:26 contract_bad_value/not_for_this_kind\n4:39 contract_bad_value/not_for_this_kind"},
		{"no status", "keys: {A: {type: http_url}}\nwaits: [{http: A, status: ok}, {http: A, name: b, status: [200, 199, 600]}, {http: A, name: c, status: []}]",
			"4:27 contract_bad_value/not_integer\n4:65 contract_bad_value/out_of_range\n4:70 contract_bad_value/out_of_range\n4:104 contract_bad_value/too_few"},
		{"no header", "keys: {A: {type: http_url}, B: {type: int}}\nwaits: [{http: A, header: {key: C}}, {http: A, name: b, header: {name: 'X Y', key: A}}, {http: A, name: c, header: {name: Host, key: B, value: x}}]",
			"4:27 contract_missing_field\n4:33 contract_key_undeclared\n4:65 contract_bad_value/key_of_other_type\n4:72 contract_bad_value/not_a_name\n" +
				"4:116 contract_bad_value/key_of_other_type\n4:123 contract_bad_value/reserved_name\n4:137 contract_unknown_field"},
		{"header with a letter that small letters have", "keys: {A: {type: http_url}, B: {}}\nwaits: [{http: A, header: {name: \u212a, key: B}}]", "4:34 contract_bad_value/not_a_name"},
		{"parts without host", "keys: {A: {type: port}}\nwaits: [{redis: {port: A}}]", "4:17 contract_bad_value/parts_without_host"},
		{"URL beside parts", "keys: {A: {type: redis_url}, P: {type: port}}\nwaits: [{redis: {url: A, port: P}}]", "4:17 contract_bad_value/url_beside_parts"},
		{"Sentinels without master", "keys: {A: {type: list}}\nwaits: [{redis: {sentinels: A}}]", "4:17 contract_bad_value/master_missing"},
		{"topology", "keys: {H: {}}\nwaits: [{redis: {host: H}, topology: sentinel}]", "4:17 contract_bad_value/topology_not_for_that"},
		{"unknown setting", "keys: {A: {}}\nsettings: {mode: A}", "4:12 contract_unknown_field"},
		{"setting by an undeclared key", "keys: {}\nsettings: {timeout: A}", "4:21 contract_key_undeclared"},
		{"setting by a text", "keys: {A: {}}\nsettings: {timeout: A}", "4:21 contract_bad_value/key_of_other_type"},
		{"health", "keys: {A: {type: bool}}\nhealth: {listen: A, revision: B, heartbeat: {rq: true, max_age: 0}}",
			"4:18 contract_bad_value/key_of_other_type\n4:31 contract_key_undeclared\n4:65 contract_bad_value/below_min"},
		{"health over HTTP", "keys: {A: {type: int}}\nhealth: {http: {port: A, path: x, host: A}}",
			"4:23 contract_bad_value/key_of_other_type\n4:32 contract_bad_value/not_printable\n4:35 contract_unknown_field"},
		{"health at no port", "keys: {}\nhealth: {http: {port: 65536}}", "4:16 contract_missing_field\n4:23 contract_bad_value/out_of_range"},
		{"health at a port that no key has", "keys: {}\nhealth: {http: {port: A, path: /}}", "4:23 contract_key_undeclared"},
		{"queue names", "keys: {}\nqueues: [ok, 'a b', '']", "4:14 contract_bad_value/not_a_name\n4:21 contract_bad_value/not_a_name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			contract, ds := Load(strings.NewReader(head + c.text + "\n"))
			if got := faults(ds); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if contract != nil {
				t.Error("there is a contract all the same")
			}
		})
	}
}

func TestLoadWholeFileFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "contract_syntax/empty_document"},
		{"only a comment", "# nothing\n", "contract_syntax/empty_document"},
		{"no mapping", "- a\n", "1:1 contract_bad_value/not_a_mapping"},
		{"no YAML", "contract: 1\n\tname: x\n", "2 contract_syntax"},
		{"open bracket", "contract: 1\nkeys: {A: {\n", "2 contract_syntax"},
		{"two documents", head + "keys: {}\n---\nx: 1\n", "4:1 contract_syntax/several_documents"},
		{"a second one that is no YAML", head + "keys: {}\n---\n\t", "5 contract_syntax"},
		{"version 2", "contract: 2\nkeyz: {}\n", "1:11 contract_version_unsupported"},
		{"version 1.1", "contract: 1.1\nkeyz: {}\n", "1:11 contract_version_unsupported"},
		{"no version", "name: x\nkeys: {}\n", "1:1 contract_missing_field"},
		{"no name", "contract: 1\nkeys: {}\n", "1:1 contract_missing_field"},
		{"name", "contract: 1\nname: My_Contract\nkeys: {}\n", "2:7 contract_bad_value/not_a_name"},
		{"name of 64 characters", "contract: 1\nname: " + strings.Repeat("a", 64) + "\nkeys: {}\n", "2:7 contract_bad_value/not_a_name"},
		{"too large", head + "keys: {}\n" + strings.Repeat("#", maxContract), "contract_syntax/too_large"},
		{"not UTF-8", head + "doc: \xff\nkeys: {}\n", "contract_syntax"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, ds := Load(strings.NewReader(c.text))
			if got := faults(ds); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// Scalars are what stands in the file, whatever YAML would make of them.
func TestLoadReadsScalarsAsWritten(t *testing.T) {
	c, ds := Load(strings.NewReader(head + `keys:
  A: {enum: [on, 0755, 1.0, 1e3, yes, No, 0x10], default: on}
  B: {type: number, default: 1.50}
`))
	if ds != nil {
		t.Fatal(faults(ds))
	}
	if want := []string{"on", "0755", "1.0", "1e3", "yes", "No", "0x10"}; !slices.Equal(c.Keys[0].Enum, want) || *c.Keys[0].Default != "on" {
		t.Errorf("enum is %q", c.Keys[0].Enum)
	}
	if *c.Keys[1].Default != "1.50" {
		t.Errorf("default is %q", *c.Keys[1].Default)
	}
}

func TestLoadFollowsAliasesAndMergeKeys(t *testing.T) {
	c, ds := Load(strings.NewReader(head + `keys:
  A: &flag {type: bool, default: "false", expose: value}
  B: *flag
  C: {<<: *flag, default: "true"}
  D: {<<: [*flag, {doc: x}], type: int, default: "1"}
`))
	if ds != nil {
		t.Fatal(faults(ds))
	}
	for i, want := range []string{"bool false true ", "bool false true ", "bool true true ", "int 1 true x"} {
		k := c.Keys[i]
		if got := fmt.Sprint(k.Type, " ", *k.Default, " ", k.Expose, " ", k.Doc); got != want {
			t.Errorf("%s is %s, want %s", k.Key, got, want)
		}
	}
}

// What aliases of aliases expand to must not be read to its end.
func TestLoadIsBounded(t *testing.T) {
	merge := "contract: 1\nname: c\nkeys:\n  A0: &a0 {doc: x}\n"
	for i := 1; i < 12; i++ {
		merge += fmt.Sprintf("  A%d: &a%d {<<: [%s]}\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	doubled := head + "keys: {A: {}}\nconditions:\n  c0: %s\n"
	for i := range 18 {
		doubled += fmt.Sprintf("  c%d: c%d and c%d\n", i+1, i, i)
	}
	many := ""
	for i := range 600 {
		many += fmt.Sprintf(", A%d: {}", i)
	}
	for name, text := range map[string]string{
		"merge bomb":    merge,
		"merge of many": head + "doc: {a: &a {b: {}" + many + "}}\nkeys: {<<: [*a" + strings.Repeat(", *a", 4_000) + "]}",
		"many to self":  head + "keys: &a {<<: *a" + many + "}",
		"merge to self": head + "keys:\n  A: &a {<<: *a}\n",
		"alias to self": head + "keys: &a\n  A: *a\n",
		"many keys":     head + "keys:\n" + strings.Repeat("  A: {}\n", 20_000),
		"deep":          head + "keys: " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000),
		"deep expr":     head + "keys: {A: {required: " + strings.Repeat("(", 1000) + "}}",
		"doubled expr":  fmt.Sprintf(doubled, "set(A)"),
		"doubled const": fmt.Sprintf(doubled, "'true'"),
		"long expr":     head + "keys: {A: {required: " + strings.Repeat("not ", 100_000) + "x}}",
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			c, ds := Load(strings.NewReader(text))
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 2*time.Second || mb > 100 {
				t.Errorf("took %s and %d MB", took, mb)
			} else {
				t.Logf("took %s and %d MB", took, mb)
			}
			if c != nil || len(ds) == 0 {
				t.Error("it is taken for a contract")
			}
		})
	}
}

// What takes the square of a contract's length, a contract of the greatest
// length never ends.
func TestLoadTakesLongLists(t *testing.T) {
	lines := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"enum":     "keys: {A: {enum: [x" + lines(100_000, ", %d") + "]}}",
		"fallback": "keys: {A: {fallback: [B" + lines(100_000, ", X%d") + "]}}",
		"waits":    "keys:\n" + lines(1_500, "  A%d: {type: redis_url}\n") + "waits:\n" + lines(1_500, "  - {redis: A%[1]d, name: a%[1]d}\n"),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			Load(strings.NewReader(head + text + "\n"))
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("took %s", took)
			} else {
				t.Logf("took %s", took)
			}
		})
	}
}
