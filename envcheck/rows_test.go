package envcheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// contractOf loads a contract of these lines behind contract and name.
func contractOf(t testing.TB, text string) *Contract {
	t.Helper()
	c, ds := Load(strings.NewReader(head + text + "\n"))
	if ds != nil {
		t.Fatalf("%s\n%s", text, faults(ds))
	}
	return c
}

// checks judges environments, entries parted by blanks, by one contract.
type checks struct {
	name, contract string
	envs           [][2]string // environment, what it says
}

func (c checks) run(t *testing.T) {
	t.Helper()
	contract := contractOf(t, c.contract)
	for _, e := range c.envs {
		t.Run(c.name+"/"+e[0], func(t *testing.T) {
			r := contract.Check(Environ(strings.Split(e[0], "|")))
			if got := strings.Join(r.Codes(), " "); got != e[1] {
				t.Errorf("got  %s\nwant %s", got, e[1])
			}
		})
	}
}

// Each row of the table of situations, with what is a fault and what is none.
func TestSituations(t *testing.T) {
	for _, c := range []checks{
		{"unset", "keys: {A: {required: true}, B: {}}", [][2]string{
			{"", "a_missing[A]"}, {"A=x", ""}, {"B=x", "a_missing[A]"},
		}},
		{"empty", "keys: {A: {required: true}, B: {empty: error}, C: {empty: keep, required: true, min_len: 0}}", [][2]string{
			{"A=|C=", "a_missing[A]"}, {"A=x|B=|C=", "env_empty[B]"}, {"A=x|B=y|C=", ""}, {"A=x|B=y", "c_missing[C]"},
		}},
		{"white space", "keys: {A: {}}", [][2]string{
			{"A= ", "env_surrounding_whitespace[A]"}, {"A=\t", "env_surrounding_whitespace[A]"},
			{"A= x", "env_surrounding_whitespace[A]"}, {"A=x ", "env_surrounding_whitespace[A]"},
			{"A=x\u00a0", "env_surrounding_whitespace[A]"}, {"A=\u200bx", "env_surrounding_whitespace[A]"},
			{"A=x y", ""},
		}},
		{"line breaks", "keys: {A: {}, P: {type: pem}, T: {type: text}}", [][2]string{
			{"A=x\n", "env_trailing_newline[A]/lf"}, {"A=x\r", "env_trailing_newline[A]/cr"}, {"A=x\r\n", "env_trailing_newline[A]/lf"},
			{"A=x\ny", "env_control_character[A]"}, {"T=x\ny\n", ""}, {"P=-----BEGIN X-----\ny\n-----END X-----\n", ""},
			{"T=x \n", "env_surrounding_whitespace[T]"},
		}},
		{"whitespace: trim", "policy: {whitespace: trim}\nkeys: {A: {type: int, required: true}}", [][2]string{
			{"A= 5\n", ""}, {"A= ", "a_missing[A]"}, {"A=5 5", "a_invalid[A]/not_integer"},
		}},
		{"whitespace: warn", "keys: {A: {type: int, whitespace: warn}, B: {}}", [][2]string{
			{"A=5 ", "~env_surrounding_whitespace[A]"}, {"A=x ", "env_surrounding_whitespace[A]"}, {"B=5 ", "env_surrounding_whitespace[B]"},
		}},
		{"byte order mark", "keys: {A: {}}", [][2]string{{"A=\ufeffx", "env_bom[A]"}, {"A=x\ufeffx", ""}}},
		{"control characters", "keys: {A: {}, T: {type: text}}", [][2]string{
			{"A=x\x1b[31m", "env_control_character[A]"}, {"A=x\ty", "env_control_character[A]"}, {"T=x\ty", ""},
		}},
		{"UTF-8", "keys: {A: {}, T: {type: text}}", [][2]string{{"A=\xff", "env_invalid_utf8[A]"}, {"T=\xff", "env_invalid_utf8[T]"}, {"A=é", ""}}},
		{"quotes", "keys: {A: {}, B: {type: int, quotes: warn}, C: {quotes: off}}", [][2]string{
			{`A="x"`, "env_quoted_value[A]"}, {"A='x'", "env_quoted_value[A]"}, {"A=“x”", "env_quoted_value[A]/smart"},
			{`A="`, ""}, {`A=x"y"`, ""}, {`A="x'`, ""},
			{`B="5"`, "~env_quoted_value[B]"}, {`B="x"`, "env_quoted_value[B]"}, {`C="x"`, ""},
		}},
		{"references", "keys: {A: {}, B: {references: warn}, C: {references: off}, D: {type: int, references: warn}}", [][2]string{
			{"A=a${X}", "env_unexpanded_reference[A]"}, {"A=$(X)", "env_unexpanded_reference[A]"}, {"A={{ .x }}", "env_unexpanded_reference[A]"},
			{"A=$X", ""}, {"A=${X", ""}, {"A=}{", ""}, {"B=${X}", "~env_unexpanded_reference[B]"}, {"C=${X}", ""},
			{"D=${X}", "env_unexpanded_reference[D]"},
		}},
		{"placeholders", "keys: {A: {required: set(Z)}, S: {secret: true}, E: {enum: [todo, none]}, P: {pattern: 'x+'}, I: {type: int}, W: {required: true, placeholders: warn, default: x}, O: {secret: true, placeholders: off}, Z: {}}",
			[][2]string{
				{"W=w|Z=1|A=changeme", "env_placeholder_value[A]"}, {"W=w|A=changeme", "~env_placeholder_value[A]"}, {"W=w|A=your-key", "~env_placeholder_value[A]"},
				{"W=w|Z=1|A=<password>", "env_placeholder_value[A]"}, {"W=w|S=replace-me", "env_placeholder_value[S]"}, {"W=w|S=xxx", "env_placeholder_value[S]"},
				{"W=w|S=null", ""}, {"W=w|Z=1|A=none", "env_placeholder_value[A]"}, {"W=w|A=none", ""}, {"W=w|E=todo", ""}, {"W=w|P=xxx", ""},
				{"W=w|I=changeme", "env_placeholder_value[I]"}, {"W=w|I=null", "i_invalid[I]/not_integer"}, {"W=TODO", "~env_placeholder_value[W]"},
				{"W=w|O=changeme", ""}, {"W=w|A=changed", ""},
			}},
		{"service links", "keys: {A: {type: port}, U: {type: url}, S: {}, T: {type: text}, L: {type: list}, H: {type: http_url}}", [][2]string{
			{"A=tcp://10.0.0.1:80", "env_service_link_collision[A]"}, {"A=udp://10.0.0.1:80", "env_service_link_collision[A]"},
			{"H=tcp://10.0.0.1:80", "env_service_link_collision[H]"}, {"U=tcp://10.0.0.1:80", ""}, {"S=tcp://x|T=tcp://x|L=tcp://x", ""},
		}},
		{"whole numbers", "keys: {A: {type: int, min: 2, max: 100000}, M: {type: millis}}", [][2]string{
			{"A=10", ""}, {"A=010", "a_invalid[A]/not_integer"}, {"A=0x1F", "a_invalid[A]/not_integer"}, {"A=1_000", "a_invalid[A]/not_integer"},
			{"A=+5", "a_invalid[A]/not_integer"}, {"A=-5", "a_invalid[A]/not_integer"}, {"A=1e+06", "a_invalid[A]/not_integer"}, {"A=5.0", "a_invalid[A]/not_integer"},
			{"A=1", "a_invalid[A]/below_min"}, {"A=100001", "a_invalid[A]/above_max"}, {"A=" + strings.Repeat("9", 33), "a_invalid[A]/out_of_range"}, {"A=0", "a_invalid[A]/below_min"},
			{"M=500", ""}, {"M=5s", "m_invalid[M]/unit_not_allowed"}, {"M=0.5", "m_invalid[M]/not_integer"},
		}},
		{"numbers", "keys: {A: {type: number}, S: {type: seconds}, D: {type: duration, max: 1h}}", [][2]string{
			{"A=0.5", ""}, {"A=.5", "a_invalid[A]/not_number"}, {"A=5.", "a_invalid[A]/not_number"}, {"A=1,5", "a_invalid[A]/not_number"}, {"A=0.0000000001", "a_invalid[A]/out_of_range"},
			{"S=5", ""}, {"S=5s", "s_invalid[S]/unit_not_allowed"}, {"S=five", "s_invalid[S]/not_number"},
			{"D=1m30s", ""}, {"D=5", "d_invalid[D]/unit_missing"}, {"D=soon", "d_invalid[D]/not_duration"}, {"D=-5s", "d_invalid[D]/not_duration"}, {"D=61m", "d_invalid[D]/above_max"},
		}},
		{"bools", "keys: {A: {type: bool}, B: {type: bool, spelling: any}}", [][2]string{
			{"A=true", ""}, {"A=0", ""}, {"A=True", "a_invalid[A]/bool_spelling"}, {"A=yes", "a_invalid[A]/bool_spelling"}, {"A=OFF", "a_invalid[A]/bool_spelling"},
			{"A=maybe", "a_invalid[A]/not_bool"}, {"A=2", "a_invalid[A]/not_bool"}, {"B=True", ""}, {"B=no", ""}, {"B=maybe", "b_invalid[B]/not_bool"},
		}},
		{"policy: spelling", "policy: {spelling: any}\nkeys: {A: {type: bool}, B: {type: bool, spelling: strict}}", [][2]string{
			{"A=Yes", ""}, {"B=Yes", "b_invalid[B]/bool_spelling"},
		}},
		{"enum", "keys: {A: {enum: [one, Two]}}", [][2]string{
			{"A=one", ""}, {"A=ONE", "a_invalid[A]/case_mismatch"}, {"A=three", "a_invalid[A]/not_in_enum"},
		}},
		{"ports", "keys: {A: {type: port}}", [][2]string{
			{"A=1", ""}, {"A=65535", ""}, {"A=0", "a_invalid[A]/out_of_range"}, {"A=65536", "a_invalid[A]/out_of_range"}, {"A=08", "a_invalid[A]/not_integer"},
		}},
		{"texts", "keys: {A: {pattern: '[a-z]+', min_len: 3}, E: {type: email}, F: {type: path}, P: {type: pem}}", [][2]string{
			{"A=abc", ""}, {"A=ab", "a_invalid[A]/too_short"}, {"A=abc1", "a_invalid[A]/pattern_mismatch"},
			{"E=a@b.c", ""}, {"E=a@b", "e_invalid[E]/not_email"}, {"E=a", "e_invalid[E]/not_email"},
			{"F=/a/b", ""}, {"F=a", "f_invalid[F]/not_absolute"}, {"F=/a/../b", "f_invalid[F]/not_clean"}, {"F=/a/", "f_invalid[F]/not_clean"},
			{`P=-----BEGIN X-----\nx\n-----END X-----`, "p_invalid[P]/literal_backslash_n"}, {"P=MIIB", "p_invalid[P]/no_pem_block"},
		}},
		{"URLs", "keys: {U: {type: url}, H: {type: http_url}, D: {type: postgres_url}, R: {type: redis_url}}", [][2]string{
			{"U=amqp://u:p@h:1/x", ""}, {"H=https://h/x?y=@z", ""}, {"D=postgresql://u:p%40w@h/db", ""}, {"R=rediss://h", ""},
			{"U=h:1", "u_invalid[U]/scheme_missing"}, {"H=ftp://h", "h_invalid[H]/scheme_unsupported"}, {"H=https://", "h_invalid[H]/host_missing"},
			{"H=http://h:99999", "h_invalid[H]/port_invalid"}, {"H=http://a b", "h_invalid[H]/control_or_space"},
			{"D=postgres://u:12/3@h/db", "d_parse_failed[D]/credentials_not_encoded"}, {"D=postgres://u:p@w@h/db", "d_parse_failed[D]/credentials_not_encoded"},
			{"D=postgres://u:aB@cD/eF@db/app", "d_parse_failed[D]/credentials_not_encoded"}, {"D=postgres://u:p@h:5432/d@b", ""},
			{"D=postgres://u:%zz@h", "d_parse_failed[D]/bad_percent_encoding"}, {"R=h:6379", "r_parse_failed[R]/scheme_missing"},
		}},
		{"twice", "keys: {A: {}, B: {}}", [][2]string{
			{"A=x|A=x", ""}, {"A=x|A=y", "env_duplicate_key[A]"}, {"X=1|X=2", ""},
		}},
		{"duplicates: warn", "policy: {duplicates: warn}\nkeys: {A: {type: int}}", [][2]string{
			{"A=1|A=y", "~env_duplicate_key[A]"}, {"A=y|A=1", "~env_duplicate_key[A] a_invalid[A]/not_integer"},
		}},
		{"duplicates: off", "policy: {duplicates: off}\nkeys: {A: {}}", [][2]string{{"A=1|A=y", ""}}},
		{"no variables", "keys: {A: {}}", [][2]string{{"A|=x|=A=y", ""}, {"my.key=x|1X=y", ""}}},
		{"near names", "owns: [MAIL_*]\nkeys: {MAIL_KEY: {required: true}, OTHER_KEY: {}}", [][2]string{
			{"MAIL_KYE=x", "mail_key_missing[MAIL_KEY] ~env_unknown_key[MAIL_KYE]"}, {"MAIL_KEY=x|MAIL_KEYS=x", "~env_unknown_key[MAIL_KEYS]"},
			{"MAIL_KEY=x|MAIL_HOST=x|MAIL_QUEUE=y", "~env_unknown_keys[]"}, {"MAIL_KEY=x|OTHER_KYE=x|Mail_x=y", ""},
			{"MAIL_KEY=x|STARTGATE_MAIL_KEY=x", ""}, {"MAIL_KEY=x|MAIL_/path=y", "~env_unknown_keys[]"},
		}},
		{"unknown: error", "policy: {unknown: error}\nowns: [A_*, '*_Z']\nkeys: {A_B: {}}", [][2]string{
			{"A_LONG_NAME=x", "env_unknown_keys[]"}, {"ANY_Z=x", "env_unknown_keys[]"}, {"A_C=x", "env_unknown_key[A_C]"}, {"B=x", ""},
		}},
		{"unknown: off", "policy: {unknown: off}\nowns: ['*']\nkeys: {A: {}}", [][2]string{{"LONG_NAME=x", ""}}},
		{"KEY_FILE is known", "owns: ['*']\nkeys: {KEY: {secret: true}, OPEN: {}}", [][2]string{{"KEY_FILE=", ""}, {"OPEN_FILE=x", "~env_unknown_keys[]"}}},
		{"forbidden", "keys: {A: {forbidden: {when: set(B), level: warn}}, B: {}, C: {forbidden: true, type: int}}", [][2]string{
			{"A=x", ""}, {"A=x|B=x", "~env_forbidden_key[A]"}, {"A=x|A=y|B=x", "~env_forbidden_key[A] env_duplicate_key[A]"}, {"C=x|C=y", "env_forbidden_key[C]"}, {"C=x", "env_forbidden_key[C]"}, {"C=", ""},
		}},
		{"deprecated", "keys: {A: {deprecated: {use: B}}, B: {}, C: {deprecated: {use: B, level: error}}}", [][2]string{
			{"A=x", "~env_deprecated_key[A,B]"}, {"C=x", "env_deprecated_key[C,B]"}, {"B=x", ""}, {"A=", ""},
		}},
		{"fallback", "keys: {A: {required: true, fallback: [B, C]}, B: {type: int}, C: {}}", [][2]string{
			{"A=x|B=y", "~b_invalid[B]/not_integer"}, {"B=5", "i:env_fallback_used[A,B]"}, {"B=y", "b_invalid[B]/not_integer"},
			{"C=x", "i:env_fallback_used[A,C]"}, {"", "a_missing[A]"},
		}},
		{"fallback of another type", "keys: {A: {enum: [x], fallback: [B]}, B: {}}", [][2]string{
			{"B=x", "i:env_fallback_used[A,B]"}, {"B=y", "i:env_fallback_used[A,B] a_invalid[B]/not_in_enum"},
		}},
		{"fallback not permitted", "keys: {A: {required: set(R), fallback: {keys: [B], when: P}}, B: {}, P: {type: bool}, R: {}}", [][2]string{
			{"B=x|R=1", "env_fallback_not_permitted[A,B]"}, {"B=x", ""}, {"B=x|R=1|P=1", "i:env_fallback_used[A,B]"}, {"B=x|R=1|P=so", "p_invalid[P]/not_bool"},
		}},
		{"fallback whose condition asks for a later one", "conditions: {c: set(B)}\nkeys: {A: {required: true, fallback: {keys: [X], when: c}}, B: {fallback: [Y]}, X: {}, Y: {}}", [][2]string{
			{"X=1|Y=1", "i:env_fallback_used[A,X] i:env_fallback_used[B,Y]"}, {"X=1", "env_fallback_not_permitted[A,X]"},
		}},
		{"fallback whose condition asks for an earlier one", "conditions: {c: set(B)}\nkeys: {B: {fallback: [Y]}, A: {required: true, fallback: {keys: [X], when: c}}, X: {}, Y: {}}", [][2]string{
			{"X=1|Y=1", "i:env_fallback_used[B,Y] i:env_fallback_used[A,X]"}, {"X=1", "env_fallback_not_permitted[A,X]"},
		}},
		{"fallbacks whose conditions ask for each other", "keys: {A: {required: true, fallback: {keys: [X], when: set(B)}}, B: {fallback: {keys: [Y], when: set(A)}}, X: {}, Y: {}}", [][2]string{
			{"X=1|Y=1", "env_fallback_not_permitted[A,X]"}, {"X=1|B=1", "i:env_fallback_used[A,X]"},
		}},
		{"fallback of a fallback", "keys: {A: {required: true, fallback: [B]}, B: {fallback: [C]}, C: {}}", [][2]string{
			{"C=1", "a_missing[A] i:env_fallback_used[B,C]"},
		}},
		{"fallback of a later fallback", "keys: {B: {fallback: [C]}, A: {required: true, fallback: [B]}, C: {}}", [][2]string{
			{"C=1", "i:env_fallback_used[B,C] a_missing[A]"},
		}},
		{"reasons: off", "policy: {reasons: off}\nkeys: {A: {type: int}, B: {type: redis_url}, C: {type: redis_url}}\nrules: [{code: r, aligned: [B, C]}]", [][2]string{
			{"A=x|B=redis://b|C=redis://c", "a_invalid[A] r[B,C]"}, {"B=h", "b_parse_failed[B]"},
		}},
		{"topics", "keys: {REDIS_DB: {type: int}, REDIS_HOST: {required: true}, _: {required: true}}", [][2]string{
			{"REDIS_DB=x", "env_redis_db_invalid[REDIS_DB]/not_integer redis_host_missing[REDIS_HOST] env__missing[_]"},
		}},
	} {
		c.run(t)
	}
}

func TestRules(t *testing.T) {
	for _, c := range []checks{
		{"require_any", "keys: {A: {}, B: {type: int}}\nrules: [{code: r, require_any: [A, B]}]", [][2]string{
			{"", "r[A,B]"}, {"A=x", ""}, {"B=x", "b_invalid[B]/not_integer"},
		}},
		{"all_or_none", "keys: {A: {}, B: {}, C: {type: int}}\nrules: [{code: r, all_or_none: [A, B, C], level: warn}]", [][2]string{
			{"", ""}, {"A=x", "~r[B,C]"}, {"A=x|B=x|C=1", ""}, {"A=x|B=x|C=x", "c_invalid[C]/not_integer"},
		}},
		{"at_most_one", "keys: {A: {}, B: {}, C: {}}\nrules: [{code: r, at_most_one: [A, B, C]}]", [][2]string{
			{"A=x|C=x", "r[A,C]"}, {"B=x", ""}, {"", ""},
		}},
		{"distinct", "keys: {A: {type: port, default: '1'}, B: {type: port}, C: {type: port}}\nrules: [{code: r, distinct: [A, B, C]}]", [][2]string{
			{"B=1", "r[A,B]"}, {"B=2|C=2", "r[B,C]"}, {"B=1|C=1", "r[A,B,C]"}, {"A=3|B=x|C=4", "b_invalid[B]/not_integer"}, {"", ""},
		}},
		{"aligned", "keys: {A: {type: redis_url}, B: {type: redis_url}, C: {type: redis_url}}\nrules: [{code: r, aligned: [A, B, C], ignore: [credentials]}]", [][2]string{
			{"A=redis://h|B=redis://H:6379/0", ""}, {"B=redis://h|C=redis://h/1", "r[B,C]/db_differs"}, {"A=redis://h|B=redis://h:1", "r[A,B]/port_differs"},
			{"A=redis://h|B=redis://g|C=rediss://h", "r[A,B]/host_differs r[A,C]/tls_differs"}, {"A=redis://:x@h|B=redis://h", ""}, {"A=redis://h", ""},
		}},
		{"less", "keys: {A: {type: seconds, default: '5'}, B: {type: millis}, C: {type: duration}}\nrules: [{code: r, less: [A, B]}, {code: s, less: [B, C]}]", [][2]string{
			{"", ""}, {"B=5000", "r[A,B]"}, {"B=5001", ""}, {"A=0.1|B=200", ""}, {"B=6000|C=6s", "s[B,C]"}, {"B=6000|C=1m", ""}, {"A=x|B=1", "a_invalid[A]/not_number"},
		}},
		{"assert", "keys: {A: {type: bool}, B: {type: bool}, C: {enum: [x, y]}}\nconditions: {both: A and B}\nrules: [{code: r, when: C == x, assert: both and C != y}]", [][2]string{
			{"", ""}, {"C=x", "r[A,B]"}, {"C=x|A=1", "r[B]"}, {"C=x|A=1|B=True", "b_invalid[B]/bool_spelling"}, {"C=X", "c_invalid[C]/case_mismatch"}, {"C=y", ""},
			{"C=x|A=True", "a_invalid[A]/bool_spelling r[B]"},
		}},
	} {
		c.run(t)
	}
}

func TestSkip(t *testing.T) {
	for _, c := range []checks{
		{"key", "keys: {ENABLED: {type: bool}, A: {required: true, type: int}}\nskip_when: not ENABLED\nskip_key: ENABLED\nskip_code: off_duty", [][2]string{
			{"", "~off_duty[ENABLED]"}, {"ENABLED=0", "i:off_duty[ENABLED]"}, {"ENABLE=1", "~off_duty[ENABLED]"}, {"ENABLED=0|ENABLE=1", "~off_duty[ENABLED]"},
			{"ENABLED=no", "enabled_invalid[ENABLED]/bool_spelling a_missing[A]"}, {"ENABLED=1", "a_missing[A]"}, {"ENABLED=0|A='5'", "~env_quoted_value[A] i:off_duty[ENABLED]"},
		}},
		{"no key", "keys: {A: {}, B: {}}\nskip_when: set(A) and set(B)", [][2]string{
			{"A=x|B=y", "i:worker_disabled[A,B]"}, {"A=x", ""},
		}},
		{"blank with a fallback", "keys: {ON: {type: bool}, A: {whitespace: warn, fallback: [B]}, B: {}}\nskip_when: not ON", [][2]string{
			{"ON=0|A= |B=x", "~env_surrounding_whitespace[A] i:worker_disabled[ON]"},
		}},
	} {
		c.run(t)
	}
	for contract, want := range map[string]string{
		"keys: {}\nskip_when: true":                   "worker disabled",
		"keys: {A: {}}\nskip_when: true\nskip_key: A": "worker disabled by A",
	} {
		if got := string(contractOf(t, contract).Check(nil).Diagnostics[0].Text); got != want {
			t.Errorf("%s: says %q", contract, got)
		}
	}
	c := contractOf(t, "keys: {A: {}}\nskip_when: set(A)\non_skip: exit")
	if r := c.Check(Environ{"A=1"}); !r.Skipped || !c.SkipExits || !r.OK() {
		t.Errorf("skipped %v exits %v", r.Skipped, c.SkipExits)
	}
}

func TestSecretFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	token := write("token", "s3cret-token\n\n")
	c := contractOf(t, "keys: {A: {secret: true, required: true, min_len: 6}, R: {type: redis_url}, O: {}, E: {secret: true, export: true}}")
	for _, e := range []struct{ env, want string }{
		{"A_FILE=" + token, ""},
		{"A=|A_FILE=" + token, ""},
		{"A=s3cret-token|A_FILE=", ""},
		{"A=s3cret-token|A_FILE=/dev/null", ""},
		{"A_FILE=/dev/null", "a_missing[A]"},
		{"A=s3cret-token|A_FILE=" + token, "secret_source_conflict[A,A_FILE]"},
		{"A_FILE=token", "secret_file_unreadable[A_FILE]/path_not_absolute"},
		{"A_FILE=" + dir, "secret_file_unreadable[A_FILE]/is_directory"},
		{"A_FILE=/dev/zero", "secret_file_unreadable[A_FILE]/not_regular"},
		{"A_FILE=" + dir + "/none", "secret_file_unreadable[A_FILE]/not_found"},
		{"A_FILE=" + token + "/x", "secret_file_unreadable[A_FILE]/not_found"},
		{"A_FILE=" + write("large", strings.Repeat("x", maxSecretFile+1)), "secret_file_unreadable[A_FILE]/too_large"},
		{"A_FILE=" + write("short", "abc\n"), "a_invalid[A_FILE]/too_short"},
		{"A_FILE=" + write("crlf", "s3cret-token\r\n"), "env_trailing_newline[A_FILE]/cr"},
		{"A_FILE=" + write("nul", "s3cret\x00token"), "env_control_character[A_FILE]"},
		{"A_FILE=" + write("nothing", "\n"), "a_missing[A]"},
		{"A=s3cret-token|R_FILE=" + write("url", "redis://h\n"), ""},
		{"A=s3cret-token|O_FILE=/nowhere", ""},
		{"A=s3cret-token|E_FILE=" + write("long", strings.Repeat("x", maxEnvString-2)), "env_value_too_long[E]"},
		{"A=s3cret-token|E_FILE=" + write("fits", strings.Repeat("x", maxEnvString-3)), ""},
	} {
		env := Environ(strings.Split(e.env, "|"))
		if got := strings.Join(c.Check(env).Codes(), " "); got != e.want {
			t.Errorf("%s: got %s, want %s", strings.ReplaceAll(e.env, dir, ""), got, e.want)
		}
	}
}

func TestExport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := contractOf(t, "keys: {A: {secret: true, export: true}, B: {secret: true}}")
	env := []string{"X=1", "A_FILE=" + path, "noeq", "A=", "B_FILE=" + path}
	if got := strings.Join(c.Check(env).WorkerEnviron(env), "|"); got != "X=1|noeq|B_FILE="+path+"|A=s3cret" {
		t.Errorf("environment %s", strings.ReplaceAll(got, path, "PATH"))
	}
	plain := []string{"A=s3cret", "X=1"}
	if got := c.Check(plain).WorkerEnviron(plain); &got[0] != &plain[0] {
		t.Error("the environment was copied and nothing changes in it")
	}
}

func TestSecretInArgs(t *testing.T) {
	c := contractOf(t, "keys: {A: {secret: true}, R: {type: redis_url}, S: {secret: true}}")
	r := c.CheckProcess(Process{
		Environ: Environ{"A=s3cret-token", "R=redis://:pw@h:6379", "S=w"},
		Args:    []string{"worker", "--token=s3cret-token", "-u", "redis://:pw@h:6379"},
	})
	if got := strings.Join(r.Codes(), " "); got != "~secret_in_argv[A] ~secret_in_argv[R]" {
		t.Errorf("got %s", got)
	}
	if got := string(r.Diagnostics[1].AppendText(nil)); !strings.Contains(got, " arg=3:") {
		t.Errorf("got %s", got)
	}
}

func TestDuplicatesComeFromTheKernelsView(t *testing.T) {
	c := contractOf(t, "keys: {A: {}, B: {}}")
	raw := ParseEnviron([]byte("A=1\x00B=x\x00\x00A=2\x00B=x\x00B\x00=x\x00=y\x00"))
	r := c.CheckProcess(Process{Environ: Environ{"A=1", "B=x"}, Raw: raw})
	if got := strings.Join(r.Codes(), " "); got != "env_duplicate_key[A]" {
		t.Errorf("got %s", got)
	}
}

func TestNumbersOfHints(t *testing.T) {
	c := contractOf(t, "owns: [MAIL_*]\nkeys: {MAIL_KEY: {required: true, purpose: mail}}")
	r := c.Check(Environ{"MAIL_KYE=x", "MAIL_SOMETHING=1", "MAIL_ELSE=1"})
	var lines strings.Builder
	for _, d := range r.Diagnostics {
		lines.Write(append(d.AppendText(nil), '\n'))
	}
	want := `startgate: error mail_key_missing key=MAIL_KEY: mail missing MAIL_KEY; MAIL_KYE may be a misspelling of it; set it
startgate: warn  env_unknown_key key=MAIL_KYE: the contract does not know this key; it is close to MAIL_KEY
startgate: warn  env_unknown_keys count=2: the contract does not know these keys that have a name of its own; declare them, or remove them
`
	if got := lines.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
