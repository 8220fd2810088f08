package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

// familyURLs are forms of a URL that clients read differently, with the canary
// in each of their parts.
var familyURLs = [...]string{
	"redis://CANARY@127.0.0.1:1", "redis://CANARY:CANARY@127.0.0.1:1", "redis://CAN%41RY:CANARY@127.0.0.1:1", "redis://:CANARY+x@127.0.0.1:1",
	"redis://:CANARY @127.0.0.1:1", "redis://:CANARY%@127.0.0.1:1", "redis://:CANARY^@127.0.0.1:1", "redis://:CANARY/x@127.0.0.1:1", "redis://:CANARY[@127.0.0.1:1",
	"redis://CANARY", "redis://127.0.0.1/CANARY", "redis://127.0.0.1:1/7/CANARY", "redis://127.0.0.1:1//9", "redis://127.0.0.1:CANARY",
	"redis://127.0.0.1:1?db=CANARY", "redis://127.0.0.1:1/2?db=9", "redis://127.0.0.1:1?db=9", "redis://127.0.0.1:1?CANARY=CANARY", "redis://127.0.0.1:1?username=CANARY&password=CANARY",
	"redis://127.0.0.1:1?protocol=3", "redis://127.0.0.1:1?tls=true", "redis://127.0.0.1:1?virtual_host=CANARY", "redis://127.0.0.1:1#CANARY",
	"rediss://127.0.0.1:1?ssl_cert_reqs=CANARY", "rediss://127.0.0.1:1?ssl_cert_reqs=none", "rediss://127.0.0.1:1?ssl_ca_certs=/CANARY", "rediss://127.0.0.1:1?ssl_certfile=/CANARY&ssl_keyfile=/CANARY",
	"rediss://127.0.0.1:1?ssl_check_hostname=CANARY", "Rediss://CANARY@127.0.0.1:1",
	"unix:///CANARY", "unix:///CANARY?db=2", "unix://:CANARY@/CANARY", "unix://CANARY/CANARY", "unix:///CANARY%41", "/CANARY", "/CANARY?db=2", "./CANARY",
	"redis+socket:///CANARY", "redis+socket://:CANARY@/CANARY?virtual_host=2", "redis-socket:///CANARY", "redis+CANARY://127.0.0.1",
	"sentinel://:CANARY@127.0.0.1:1/0;sentinel://127.0.0.1:2", "redis-sentinel://:CANARY@127.0.0.1:1/1?master=CANARY", "redis-sentinel://127.0.0.1:1",
	"redis://:CANARY@127.0.0.1:1;redis://:CANARY@127.0.0.1:2", "redis://127.0.0.1:1,CANARY:2",
	"CANARY", "CANARY:1", "127.0.0.1:1", "//:CANARY@127.0.0.1:1", "tcp://CANARY", "amqp://CANARY@127.0.0.1",
}

// familyReasons are those that only some family brings about.
var familyReasons = [...]envcheck.Reason{
	envcheck.PortMissing, envcheck.SocketPathInvalid, envcheck.ParameterUnsupported, envcheck.MasterMissing,
	envcheck.CredentialsIgnored, envcheck.DBIgnored, envcheck.ParameterIgnored,
}

// TestFamilies gives each of the forms to each of the families.
func TestFamilies(t *testing.T) {
	needsExec(t)
	t.Parallel()
	commands := [][]string{{"check"}, {"check", "--format=json"}, {"wait", "--timeout=0"}, {"probe", "--format=json"}}
	var jobs []func()
	for _, client := range envcheck.Clients() {
		for i, form := range familyURLs {
			args := pick(commands, i+len(client))
			jobs = append(jobs, func() {
				canary := newCanary()
				url := strings.ReplaceAll(form, "CANARY", canary)
				p := process{
					label: string(client) + " " + form + ", " + args[0], canary: canary, exit: anyExit, args: args,
					env: slices.Concat([]string{"STARTGATE_CLIENT=" + string(client), "REDIS_URL=" + url}, hasty),
				}
				p.evaluate(t)
			})
		}
	}
	together(jobs)
	if missed := unreachedReasons(familyReasons[:]); len(missed) > 0 {
		t.Errorf("no form brought about the reasons %v", missed)
	}
}
