package main

import (
	"os"
	"strings"
	"testing"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe/probetest"
)

// A contractEvent is something that the contract of testdata says, with the
// canary wherever there is room for one. SERVER is a Redis without a password.
type contractEvent struct {
	name  string
	codes string
	exit  int
	env   string // entries, one a line
	args  string // of check, if nothing else
}

var contractEvents = [...]contractEvent{
	{"facts", "contract_ok fact plan", 0, "KEY_SECRET=CANARY\nKEY_WORD=CANARY\nKEY_SHOWN=green\nKEY_INT=5", "check"},
	{"all well", "start ready exec", 0, "KEY_SECRET=CANARY\nKEY_FILED=CANARY\nQUEUE_URL=redis://:CANARY@SERVER/0#CANARY", "-- true CANARY CANARY"},
	{"by parts", "plan", 0, "KEY_HOST=CANARY\nKEY_PORT=6379\nKEY_SECRET=CANARY", "check"},
	{"two waits", "ready", 0, "KEY_HOST=127.0.0.1\nKEY_PORT=PORT\nKEY_SECRET=CANARY", "probe"},
	{"a host that is none", "key_host_invalid", 78, "KEY_HOST=CANARY@CANARY\nKEY_PORT=6379", "wait"},
	{"a wait that is not done", "wait_not_done", 0, "KEY_SECRET=CANARY", "wait"},
	{"disabled", "worker_disabled exec", 0, "WORKER_ENABLED=0\nQUEUE_URL=CANARY\nKEY_SECRET=CANARY", "run -- true CANARY"},
	{"disabled with warnings", "worker_disabled env_quoted_value", 0, "WORKER_ENABLED=false\nQUEUE_URL='CANARY'", "probe"},
	{"disabled, with a near miss", "worker_disabled", 0, "WORKER_ENABLED=0\nWORKER_ENABLD=CANARY", "check"},

	{"nothing required", "queue_missing", 78, "QUEUE_URL=\nQUEUE_URI=CANARY\nKEY_SECRET=CANARY", "check"},
	{"a URL of Redis", "queue_parse_failed", 78, "QUEUE_URL=redis:CANARY", "run -- true CANARY"},
	{"a URL of PostgreSQL", "key_postgres_parse_failed", 78, "KEY_POSTGRES=mysql://CANARY:CANARY@CANARY", "probe"},
	{"an empty value", "env_empty", 78, "KEY_TEXT=\nKEY_SECRET=CANARY", "check"},
	{"a fallback", "env_fallback_used", 0, "QUEUE_URL=\nWORKER_OLD_QUEUE=yes\nOLD_QUEUE_URL=redis://:CANARY@SERVER/0", "probe"},
	{"a fallback of any text", "env_fallback_used", 0, "KEY_PLAIN=CANARY", "check"},
	{"a fallback that is not permitted", "env_fallback_not_permitted", 78, "QUEUE_URL=\nOLD_QUEUE_URL=redis://:CANARY@SERVER/0", "wait"},
	{"a forbidden key", "env_forbidden_key", 78, "KEY_FORBIDDEN=CANARY", "run -- true CANARY"},
	{"an unwelcome key", "env_forbidden_key", 0, "KEY_UNWELCOME=CANARY", "check"},
	{"a deprecated key", "env_deprecated_key", 0, "KEY_OLD=CANARY", "check"},
	{"unknown keys", "env_unknown_key env_unknown_keys", 0, "KEY_PLAN=CANARY\nKEY_CANARY=CANARY\nWORKER_CANARY=CANARY", "check"},
	{"a secret among the arguments", "secret_in_argv exec", 0, "KEY_SECRET=CANARY", "-- true --password=CANARY"},
	{"warnings", "env_quoted_value env_surrounding_whitespace", 0, "KEY_LENIENT='CANARY'\nKEY_WARNED= CANARY", "check"},
	{"a placeholder", "env_placeholder_value", 0, "KEY_WARNED=<CANARY>", "check"},
	{"roots that are no file", "gate_setting_invalid", 78, "KEY_ROOTS=/CANARY/CANARY", "wait"},
	{"a setting by a key", "delay start", 0, "KEY_SECONDS=0.02\nKEY_SECRET=CANARY", "wait"},
	{"a bad setting by a key", "gate_setting_invalid", 78, "KEY_SECONDS=99999999999\nKEY_SECRET=CANARY", "run -- true CANARY"},

	{"none of the keys of a rule", "one_needed", 78, "WORKER_RULES=true\nKEY_SECRET=CANARY", "check"},
	{"some of the keys of a rule", "both_needed", 78, "WORKER_RULES=true\nKEY_PLAIN=CANARY", "run -- true CANARY"},
	{"too many of the keys of a rule", "one_too_many", 78, "WORKER_RULES=true\nKEY_PLAIN=CANARY\nKEY_SECRET=CANARY", "wait"},
	{"the same value", "not_distinct", 78, "WORKER_RULES=true\nKEY_SECRET=CANARY\nKEY_HOST=CANARY", "probe"},
	{"other credentials", "not_aligned", 78, "WORKER_RULES=true\nQUEUE_URL=redis://:CANARY@h\nTHIRD_QUEUE_URL=redis://:xCANARY@i:1", "check"},
	{"another database", "not_aligned", 78, "WORKER_RULES=true\nQUEUE_URL=redis://:CANARY@h/1\nTHIRD_QUEUE_URL=redis://:CANARY@h/2", "check"},
	{"other TLS", "not_aligned", 78, "WORKER_RULES=true\nQUEUE_URL=redis://:CANARY@h\nTHIRD_QUEUE_URL=rediss://:CANARY@h", "check"},
	{"too great a number", "not_less", 78, "WORKER_RULES=true\nKEY_SECONDS=60\nKEY_DURATION=30s\nKEY_SECRET=CANARY", "check"},
	{"a false assertion", "not_spoken", 78, "WORKER_RULES=true\nKEY_PLAIN=CANARY\nKEY_BOOL=1", "check"},

	{"a value that is nearly a bool", "key_bool_invalid", 78, "KEY_BOOL=True\nKEY_SECRET=CANARY", "check"},
	{"numbers out of bounds", "key_int_invalid key_number_invalid key_port_invalid", 78, "KEY_INT=2\nKEY_NUMBER=1\nKEY_PORT=65536\nKEY_SECRET=CANARY", "check"},
	{"units", "key_seconds_invalid key_duration_invalid", 78, "KEY_SECONDS=5s\nKEY_DURATION=5\nKEY_SECRET=CANARY", "check"},
	{"texts that are nearly right", "key_shown_invalid key_path_invalid key_secret_invalid key_pem_invalid", 78,
		"KEY_SHOWN=Green\nKEY_PATH=/CANARY//CANARY\nKEY_SECRET=short\nKEY_PEM=-----BEGIN CANARY-----\\nCANARY", "check"},
}

// eventReasons are those that these events have and no hostile value.
var eventReasons = [...]envcheck.Reason{
	envcheck.BoolSpelling, envcheck.BelowMin, envcheck.AboveMax, envcheck.OutOfRange, envcheck.UnitMissing, envcheck.UnitNotAllowed,
	envcheck.CaseMismatch, envcheck.NotClean, envcheck.TooShort, envcheck.LiteralBackslashN,
	envcheck.TLSDiffers, envcheck.CredentialsDiffers, envcheck.DBDiffers,
}

// TestContractEvents reaches the codes that a contract brings, in both formats.
func TestContractEvents(t *testing.T) {
	needsExec(t)
	t.Parallel()
	good := probetest.New(t, probetest.Behaviour{}).Addr()
	_, port, _ := strings.Cut(good, ":")
	var jobs []func()
	for _, e := range contractEvents {
		for _, format := range []string{"text", "json"} {
			jobs = append(jobs, func() {
				canary := newCanary()
				texts := strings.NewReplacer("CANARY", canary, "SERVER", good, "PORT=PORT", "PORT="+port)
				p := process{
					label: e.name + " as " + format, canary: canary, exit: e.exit, args: strings.Fields(texts.Replace(e.args)),
					env: append(underContract(t, canary, good), "PATH="+os.Getenv("PATH"), "STARTGATE_TIMEOUT=0", "STARTGATE_FORMAT="+format),
				}
				p.env = append(p.env, strings.Split(texts.Replace(e.env), "\n")...)
				p.want(t, p.evaluate(t), strings.Fields(e.codes)...)
			})
		}
	}
	together(jobs)
	if missed := unreachedReasons(eventReasons[:]); len(missed) > 0 {
		t.Errorf("no event brought about the reasons %v", missed)
	}
}

// unsupported is a contract with a wait that cannot be done yet. When there is
// none left, no process reaches the code any more, which then goes the way of
// redis_host_invalid: see TestProberAlone.
const unsupported = "contract: 1\nname: canary\nkeys: {QUEUE_URL: {}}\nwaits: [{tcp: QUEUE_URL}]\n"

func TestUnsupportedWait(t *testing.T) {
	needsExec(t)
	t.Parallel()
	for _, c := range gating {
		canary := newCanary()
		p := atContract(t, "an unsupported wait", canary, strings.ReplaceAll(unsupported, "CANARY", canary), c)
		p.env = append(p.env, "QUEUE_URL=redis://:"+canary+"@127.0.0.1:1")
		p.want(t, p.evaluate(t), "wait_unsupported")
	}
}
