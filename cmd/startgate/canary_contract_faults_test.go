package main

import (
	"strings"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

// A contractFault is a contract file with one thing wrong with it, and the
// canary beside that or in it. A fault says line and column, and no text of
// the file.
type contractFault struct {
	name   string
	reason envcheck.Reason // "" is none
	code   envcheck.Code
	text   string // with CANARY
}

// started is the head of a contract, and declaring one with keys.
const (
	started   = "contract: 1 # CANARY\nname: canary\n"
	declaring = started + "keys: {A: {}, B: {type: bool}, N: {type: int}, T: {type: seconds}, S: {secret: true}, R: {type: redis_url}, W: {enum: [on, off]}}\n"
)

// contractFaults have every code and every reason of a contract file.
var contractFaults = [...]contractFault{
	{"an open bracket", "", envcheck.ContractSyntax, "name: [CANARY\n"},
	{"an open quote", "", envcheck.ContractSyntax, "name: \"CANARY\n"},
	{"a tab", "", envcheck.ContractSyntax, "name:\n\tCANARY: CANARY\n"},
	{"an unknown anchor", "", envcheck.ContractSyntax, "name: *CANARY\n"},
	{"an unknown escape", "", envcheck.ContractSyntax, "name: \"\\qCANARY\"\n"},
	{"two values on a line", "", envcheck.ContractSyntax, "name: CANARY: CANARY\n"},
	{"an unknown directive", "", envcheck.ContractSyntax, "%CANARY CANARY\n---\nname: CANARY\n"},
	{"an unknown tag", "", envcheck.ContractSyntax, "name: !CANARY!CANARY x\n"},
	{"invalid UTF-8", "", envcheck.ContractSyntax, "name: CANARY\xff\n"},
	{"a control character", "", envcheck.ContractSyntax, "name: CANARY\x01\n"},
	{"two documents", envcheck.SeveralDocuments, envcheck.ContractSyntax, declaring + "---\nCANARY: CANARY\n"},
	{"a comment alone", envcheck.EmptyDocument, envcheck.ContractSyntax, "# CANARY\n"},
	{"too large a file", envcheck.TooLarge, envcheck.ContractSyntax, strings.Repeat("# CANARY\n", 200_000)},
	{"aliases of aliases", envcheck.TooLarge, envcheck.ContractSyntax, manyAliases},
	{"a secret instead of a contract", envcheck.NotAMapping, envcheck.ContractBadValue, "CANARY\n"},

	{"a later version", "", envcheck.ContractVersionUnsupported, "contract: 2 # CANARY\nCANARY: CANARY\n"},
	{"another version", envcheck.NotInEnum, envcheck.ContractBadValue, "contract: CANARY\nname: canary\nkeys: {}\n"},
	{"no keys", "", envcheck.ContractMissingField, started},
	{"an unknown field", "", envcheck.ContractUnknownField, declaring + "CANARY: CANARY\n"},
	{"an unknown field of a key", "", envcheck.ContractUnknownField, started + "keys: {A: {CANARY: CANARY, tpye: CANARY}}\n"},
	{"an unknown setting", "", envcheck.ContractUnknownField, declaring + "settings: {CANARY: A}\n"},
	{"a field twice", "", envcheck.ContractDuplicateKey, declaring + "doc: CANARY\ndoc: CANARY\n"},
	{"a key twice", "", envcheck.ContractDuplicateKey, started + "keys: {A: {enum: [CANARY]}, A: {enum: [CANARY]}}\n"},
	{"a code twice", "", envcheck.ContractDuplicateCode, declaring + "rules: [{code: x, doc: CANARY, assert: B}, {code: x, doc: CANARY, assert: B}]\n"},
	{"a code of the gate", "", envcheck.ContractDuplicateCode, declaring + "rules: [{code: redis_refused, doc: CANARY, assert: B}]\n"},
	{"a key that is not declared", "", envcheck.ContractKeyUndeclared, declaring + "skip_key: CAPITALS\n"},
	{"a wait for such a key", "", envcheck.ContractKeyUndeclared, declaring + "waits: [{redis: CAPITALS}]\n"},
	{"an expression of such a key", "", envcheck.ContractKeyUndeclared, declaring + "skip_when: set(CAPITALS) and A == 'CANARY'\n"},

	{"a list for a text", envcheck.NotAText, envcheck.ContractBadValue, "contract: 1\nname: [CANARY]\nkeys: {}\n"},
	{"a list for a field's name", envcheck.NotAText, envcheck.ContractBadValue, declaring + "? [CANARY]\n: CANARY\n"},
	{"nothing for a text", envcheck.NullValue, envcheck.ContractBadValue, declaring + "skip_code: # CANARY\n"},
	{"a text for keys", envcheck.NotAMapping, envcheck.ContractBadValue, started + "keys: CANARY\n"},
	{"a text for a list", envcheck.NotAList, envcheck.ContractBadValue, declaring + "owns: CANARY\n"},
	{"an odd name of a key", envcheck.NotAKey, envcheck.ContractBadValue, started + "keys: {CANARY: {}}\n"},
	{"an odd name", envcheck.NotAName, envcheck.ContractBadValue, "contract: 1\nname: CANARY\nkeys: {}\n"},
	{"a forged line", envcheck.NotPrintable, envcheck.ContractBadValue, started + "keys: {A: {purpose: \"CANARY\\n" + injected + " CANARY\"}}\n"},
	{"terminal escapes", envcheck.NotPrintable, envcheck.ContractBadValue, declaring + "rules: [{code: x, assert: B, fix: \"\\e[2JCANARY\"}]\n"},
	{"a long text", envcheck.TooLong, envcheck.ContractBadValue, started + "keys: {A: {purpose: CANARY" + strings.Repeat("x", 200) + "}}\n"},
	{"an empty list", envcheck.TooFew, envcheck.ContractBadValue, started + "keys: {A: {enum: [], default: CANARY}}\n"},
	{"a word twice", envcheck.Repeated, envcheck.ContractBadValue, started + "keys: {A: {enum: [CANARY, CANARY]}}\n"},
	{"a word of the language", envcheck.ReservedName, envcheck.ContractBadValue, declaring + "conditions: {and: A == 'CANARY'}\n"},
	{"no glob", envcheck.NotAGlob, envcheck.ContractBadValue, declaring + "owns: [CANARY*]\n"},
	{"no regular expression", envcheck.PatternInvalid, envcheck.ContractBadValue, started + "keys: {A: {pattern: '(?P<CANARY'}}\n"},
	{"a rule of no kind", envcheck.NoKind, envcheck.ContractBadValue, declaring + "rules: [{code: x, doc: CANARY}]\n"},
	{"a rule of two kinds", envcheck.SeveralKinds, envcheck.ContractBadValue, declaring + "rules: [{code: x, doc: CANARY, assert: B, distinct: [A, W]}]\n"},
	{"a path of Redis", envcheck.NotForThisKind, envcheck.ContractBadValue, declaring + "waits: [{redis: R, path: /CANARY}]\n"},
	{"no version", envcheck.NotAVersion, envcheck.ContractBadValue, declaring + "waits: [{redis: R, require: ['version>=CANARY']}]\n"},

	{"an odd expression", envcheck.UnexpectedToken, envcheck.ContractBadExpression, declaring + "skip_when: A == CANARY CANARY\n"},
	{"an open quote in one", envcheck.QuoteOpen, envcheck.ContractBadExpression, declaring + "skip_when: A == 'CANARY\n"},
	{"a deep one", envcheck.TooDeep, envcheck.ContractBadExpression, declaring + "skip_when: " + strings.Repeat("not ", 99) + "A == 'CANARY'\n"},
	{"an unknown condition", envcheck.ConditionUnknown, envcheck.ContractBadExpression, declaring + "skip_when: B or CANARY\n"},
	{"a later condition", envcheck.ConditionLater, envcheck.ContractBadExpression, declaring + "conditions: {one: two, two: A == 'CANARY'}\n"},
	{"a text alone", envcheck.BareKeyNotBool, envcheck.ContractBadExpression, declaring + "skip_when: A # CANARY\n"},
	{"a secret compared", envcheck.ComparesSecret, envcheck.ContractBadExpression, declaring + "skip_when: S == 'CANARY'\n"},
	{"no literal", envcheck.LiteralMissing, envcheck.ContractBadExpression, declaring + "skip_when: A in [CANARY, ]\n"},
	{"a literal that cannot be", envcheck.LiteralImpossible, envcheck.ContractBadExpression, declaring + "skip_when: W == CANARY\n"},

	{"a secret's default", envcheck.SecretWithDefault, envcheck.ContractBadValue, started + "keys: {S: {secret: true, default: CANARY}}\n"},
	{"a secret's words", envcheck.SecretWithEnum, envcheck.ContractBadValue, started + "keys: {S: {secret: true, enum: [CANARY]}}\n"},
	{"a secret shown", envcheck.SecretExposed, envcheck.ContractBadValue, started + "keys: {S: {secret: true, expose: value, doc: CANARY}}\n"},
	{"a text shown", envcheck.OpenTypeExposed, envcheck.ContractBadValue, started + "keys: {A: {expose: value, default: CANARY}}\n"},
	{"a number's pattern", envcheck.NotForThisType, envcheck.ContractBadValue, started + "keys: {N: {type: int, pattern: CANARY}}\n"},
	{"no words", envcheck.EnumMissing, envcheck.ContractBadValue, started + "keys: {W: {type: enum, default: CANARY}}\n"},
	{"crossed bounds", envcheck.MinAboveMax, envcheck.ContractBadValue, started + "keys: {N: {type: int, min: 3, max: 2, doc: CANARY}}\n"},
	{"a default of another type", envcheck.DefaultInvalid, envcheck.ContractBadValue, started + "keys: {N: {type: int, default: CANARY}}\n"},
	{"a bound of another type", envcheck.BoundInvalid, envcheck.ContractBadValue, started + "keys: {N: {type: int, min: CANARY}}\n"},
	{"an export of no file", envcheck.ExportWithoutFile, envcheck.ContractBadValue, started + "keys: {A: {export: true, default: CANARY}}\n"},
	{"a fallback to itself", envcheck.NamesItself, envcheck.ContractBadValue, started + "keys: {A: {fallback: [A], default: CANARY}}\n"},
	{"a wait for a text", envcheck.KeyOfOtherType, envcheck.ContractBadValue, declaring + "waits: [{redis: A, key_prefix: CANARY}]\n"},
	{"a number less than a time", envcheck.KeysNotComparable, envcheck.ContractBadValue, declaring + "rules: [{code: x, less: [N, T], doc: CANARY}]\n"},
	{"a skip without a condition", envcheck.SkipWithoutWhen, envcheck.ContractBadValue, declaring + "on_skip: run # CANARY\n"},
	{"a Redis without a host", envcheck.PartsWithoutHost, envcheck.ContractBadValue, declaring + "waits: [{redis: {db: N}, key_prefix: CANARY}]\n"},
	{"a URL and a host", envcheck.URLBesideParts, envcheck.ContractBadValue, declaring + "waits: [{redis: {url: R, host: A}, key_prefix: CANARY}]\n"},
	{"Sentinels without a master", envcheck.MasterMissing, envcheck.ContractBadValue, declaring + "waits: [{redis: {sentinels: A}, key_prefix: CANARY}]\n"},
	{"a master of a host", envcheck.TopologyNotForThat, envcheck.ContractBadValue, declaring + "waits: [{redis: {host: A, master: CANARY}}]\n"},
	{"a secret as a fallback", envcheck.SecretFallback, envcheck.ContractBadValue, started + "keys: {A: {doc: CANARY, fallback: [B]}, B: {secret: true}}\n"},
	{"a heartbeat of no age", envcheck.BelowMin, envcheck.ContractBadValue, declaring + "health: {heartbeat: {rq: true, max_age: 0}} # CANARY\n"},
}

// manyAliases stand for 40,000 names in a file of some hundred.
var manyAliases = started + "keys: {A: {doc: CANARY}}\nrules:\n- {code: x, require_any: &a [A" + strings.Repeat(", A", 199) + "]}\n" +
	strings.Repeat("- {code: x, doc: CANARY, require_any: *a}\n", 199)

// TestContractFaults gives each of these contracts to commands that load it.
func TestContractFaults(t *testing.T) {
	needsExec(t)
	t.Parallel()
	var jobs []func()
	for i, f := range contractFaults {
		for _, c := range []invocation{lint, pick(contracting[:], i), pick(gating[:], 3*i)} {
			jobs = append(jobs, func() {
				canary := newCanary()
				text := strings.ReplaceAll(f.text, "CANARY", canary)
				p := atContract(t, "a contract with "+f.name, canary, text, c)
				p.want(t, p.evaluate(t), string(f.code))
			})
		}
	}
	together(jobs)
	reasons := make([]envcheck.Reason, len(contractFaults))
	for i, f := range contractFaults {
		reasons[i] = f.reason
	}
	if missed := unreachedReasons(reasons); len(missed) > 0 {
		t.Errorf("no contract brought about the reasons %v", missed)
	}
}
