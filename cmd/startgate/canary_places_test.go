package main

import (
	"strings"

	"github.com/startgate/startgate/gate"
)

// A place is where a hostile value is put.
type place struct {
	name string // without the canary
	put  func(a *attempt, v string)
}

// An attempt is a process in the making.
type attempt struct {
	env   []string // after the harness's own, over which it wins
	flags []string
	tail  []string // the worker's arguments, or what else follows the flags
}

// redisKeys are the keys of the built-in contract.
var redisKeys = [...]string{"BULLMQ_REDIS_URL", "RQ_REDIS_URL", "CELERY_BROKER_URL", "REDIS_URL"}

func variable(name string) place {
	return place{name, func(a *attempt, v string) { a.env = append(a.env, name+"="+v) }}
}

// settings are the places of every setting: its variable and its flag, in both
// ways to write one.
func settings() (places []place) {
	for i, s := range gate.SettingInfos() {
		places = append(places, variable(string(s.Variable)))
		flag := "--" + s.Name
		put := func(a *attempt, v string) { a.flags = append(a.flags, flag+"="+v) }
		if i%2 == 0 {
			put = func(a *attempt, v string) { a.flags = append(a.flags, flag, v) }
		}
		// STARTGATE_MODE has no flag: --mode is one more unknown flag then.
		places = append(places, place{flag, put})
	}
	return places
}

// bystanders are variables that are no business of the gate. Some are read by
// libraries or the system underneath it.
var bystanders = [...]place{
	variable("DATABASE_URL"), variable("REDIS_PASSWORD"), variable("REDIS_HOST"), variable("REDIS_PORT"),
	variable("TIMEOUT"), variable("FORMAT"), // what STARTGATE_TIMEOUT would be without its prefix
	variable("PATH"), variable("TERM"), variable("NO_COLOR"), variable("TZ"), variable("LANG"),
	variable("SSL_CERT_FILE"), variable("SSL_CERT_DIR"), variable("LOCALDOMAIN"), variable("RES_OPTIONS"),
	variable("GOTRACEBACK"), variable("GOGC"), variable("GOMAXPROCS"), variable("HTTPS_PROXY"),
	// GODEBUG and GOMEMLIMIT are in canary_known_test.go.

	// A declared name with a slip in it is printed. Its value is not.
	variable("STARTGATE_TIMOUT"), variable("STARTGATE_REDIS_KEY"), variable("STARTGATE_SERVICE_HOST"),
	variable("STARTGATE_PORT"), variable("STARTGATE_"), variable("startgate_timeout"),
}

// names are places in a variable's name: a wrapped base64 text in an env file
// puts a secret there.
var names = [...]place{
	{"a name after STARTGATE_", func(a *attempt, v string) { a.env = append(a.env, "STARTGATE_"+v+"=1") }},
	{"a name after a setting's", func(a *attempt, v string) { a.env = append(a.env, "STARTGATE_TIMEOUT_"+v+"=1") }},
	{"a name after a service link's", func(a *attempt, v string) { a.env = append(a.env, "STARTGATE_SERVICE_PORT_"+v+"=1") }},
	{"a name in a service link's", func(a *attempt, v string) { a.env = append(a.env, "STARTGATE_PORT_"+v+"_TCP=1") }},
	{"a name before _URL", func(a *attempt, v string) { a.env = append(a.env, v+"_URL=1") }},
	{"a name after a key's", func(a *attempt, v string) { a.env = append(a.env, "REDIS_URL"+v+"=1") }},
	{"a name", func(a *attempt, v string) { a.env = append(a.env, v+"=") }},
	{"an entry without =", func(a *attempt, v string) { a.env = append(a.env, strings.ReplaceAll(v, "=", "")) }},
}

// arguments are the places of a command line that are no setting.
var arguments = [...]place{
	{"an argument", func(a *attempt, v string) { a.tail = append(a.tail, v) }},
	{"two arguments", func(a *attempt, v string) { a.tail = append(a.tail, v, "--password="+v) }},
	{"an unknown flag", func(a *attempt, v string) { a.flags = append(a.flags, "--"+v) }},
	{"an unknown short flag", func(a *attempt, v string) { a.flags = append(a.flags, "-"+v) }},
	{"a flag after a known one", func(a *attempt, v string) { a.flags = append(a.flags, "--timeout"+v+"=1") }},
	{"a flag before one without a value", func(a *attempt, v string) { a.flags = append(a.flags, "--key-prefix="+v, "--delay") }},
}

// An invocation is a command line around an attempt.
type invocation struct {
	name string
	env  []string
	args func(a attempt) []string
}

// verb is a command that takes flags and arguments.
func verb(name string, words ...string) invocation {
	return invocation{name: name, args: func(a attempt) []string {
		return append(append(append([]string{}, words...), a.flags...), a.tail...)
	}}
}

// worker is a command with a worker that says nothing, after the words.
func worker(name string, words []string, env ...string) invocation {
	return invocation{name: name, env: env, args: func(a attempt) []string {
		return append(append(append(append([]string{}, words...), a.flags...), "--", "true"), a.tail...)
	}}
}

// gating are the commands that judge the environment.
var gating = [...]invocation{
	worker("run", []string{"run"}),
	worker("run without its name", nil),
	worker("run as JSON", []string{"run", "--format=json"}),
	worker("run in mode observe", []string{"run"}, "STARTGATE_MODE=observe"),
	verb("check", "check"),
	verb("check as JSON", "check", "--format", "json"),
	verb("wait", "wait"),
	verb("wait as JSON", "wait", "--format=json"),
	verb("probe", "probe"),
	verb("probe as JSON", "probe", "--format=json"),
}

// others are the rest of the commands, and command lines with a mistake.
var others = [...]invocation{
	worker("run in mode off", []string{"run"}, "STARTGATE_MODE=off"),
	verb("run without a worker", "run"),
	verb("a worker without --"),
	verb("a worker's name", "--"),
	{name: "a worker without --, as JSON", env: []string{"STARTGATE_FORMAT=json"}, args: func(a attempt) []string { return append(a.flags, a.tail...) }},
	{name: "run of that worker", args: func(a attempt) []string { return append(append(a.flags, "--"), a.tail...) }},
	{name: "run in a shell", args: func(a attempt) []string { return append(append(a.flags, "--", "sh", "-c", "true"), a.tail...) }},
	verb("explain", "explain"),
	verb("version", "version"),
	verb("-h", "-h"),
	verb("check -h", "check", "-h"),
	verb("explain of a code", "explain", "ready"),
	verb("contract", "contract"),
	verb("contract lint", "contract", "lint"),
	verb("contract docs", "contract", "docs"),
	verb("contract schema", "contract", "schema"),
}
