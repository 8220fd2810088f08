package main

// conversions are those to a type that diagnostics print, outside of package
// envcheck, with the reason why no value gets through.
var conversions = map[finding]string{
	`cmd/startgate/parse.go checkArgs: envcheck.Word(c.args[0])`:                 "to compare it with words",
	`gate/health.go record: envcheck.Word(strings.Join(l.contract.Queues, ","))`: "names that the contract gives to be printed",
	`compose/discover.go discover: envcheck.Client(v.config.Client)`:             "the configuration's schema takes families alone",
	`compose/rules_fleet.go ruledDistinct: envcheck.Key(a)`:                      "to compare it with a rule's keys",
	`compose/rules_fleet.go ruledDistinct: envcheck.Key(b)`:                      "to compare it with a rule's keys",
	`gate/contract.go setBy: envcheck.Word(b.Name)`:                              "the name of a setting's variable or flag, or of a key that the contract declares",

	`gate/lines.go startLine: envcheck.Word(l.settings.Mode)`: "a Mode is made from a word alone, see parseSettings",
	`gate/lines.go startLine: envcheck.Word(t.Client)`:        "a Client is made from a word alone, see parseSettings",
	`gate/lines.go sayPlan: envcheck.Word(t.Client)`:          "a Client is made from a word alone, see parseSettings",
	`gate/lines.go sayPlan: envcheck.Word(t.Require)`:         "a Require is made from a word alone, see parseSettings",

	`gate/contract.go Contract: envcheck.Word(action)`:                                                                                            "one of ContractActions: parse takes no other",
	`gate/health.go sayHealth: envcheck.Word(l.settings.Mode)`:                                                                                    "a Mode is made from a word alone, see parseSettings",
	`gate/health.go tell: envcheck.Word(s.Phase)`:                                                                                                 "readState takes only the phases that there are",
	`gate/settings_parse.go parseSettings: Mode(p.word(&t.Mode, "mode", "enforce", "observe", "off"))`:                                            "word returns one of its own arguments",
	`gate/settings_parse.go parseSettings: envcheck.Client(p.word(&t.Client, "client", "generic", "rq", "celery", "sidekiq", "bullmq", "asynq"))`: "word returns one of its own arguments",
	`gate/settings_parse.go parseSettings: envcheck.Require(p.word(&t.Require, "require", "reachable", "ping", "write"))`:                         "word returns one of its own arguments",
	`gate/settings_parse.go word: envcheck.Word(p.info(name).Default)`:                                                                            "a default is a struct tag",
	`gate/settings_parse.go value: envcheck.Word(strings.ReplaceAll(name, "-", "_"))`:                                                             "the name of a setting",

	`gate/settings.go SettingInfos: envcheck.Key(envPrefix + "_" + strings.ToUpper(name))`: "the name of a struct's field",
	`gate/settings_parse.go value: envcheck.Key("--" + name)`:                              "the name of a flag that is a setting",
	`gate/settings_parse.go parseKeys: envcheck.Key(name)`:                                 "the names in STARTGATE_REDIS_KEYS are declared by whoever sets it; ValidKey has passed them",
	`gate/settings_unknown.go unknownSettings: envcheck.Key(name)`:                         "within two bytes of a setting's name; but see canary_known_test.go",
}

// reveals are the places where a value leaves its seal.
var reveals = map[finding]string{
	`compose/budget.go settingOf: s.Text.Reveal`:                         "for the length of a budget: a finding has names alone, see compose/name.go",
	`compose/target.go redisURL: u.Reveal`:                               "to compare its parts: a finding has names alone, see compose/name.go",
	`compose/target.go looseURL: u.Reveal`:                               "to compare its parts: a finding has names alone, see compose/name.go",
	`envcheck/builtin.go sayURL: r.value.redis.Reveal`:                   "to seal it again as a target's",
	`envcheck/reading.go sayDoubt: r.value.redis.Reveal`:                 "a doubt is a reason",
	`envcheck/check_wait.go redis: j.readings[k.URL].value.redis.Reveal`: "to put it together with other keys: target seals it again",
	`envcheck/check_wait.go WorkerEnviron: e.value.Reveal`:               "for the worker's own environment: it is on no line",
	`envcheck/rules.go aligned: j.readings[first].value.redis.Reveal`:    "to compare it: differs returns a reason",
	`envcheck/rules.go aligned: j.readings[k].value.redis.Reveal`:        "to compare it: differs returns a reason",

	`gate/contract.go loadContract: l.settings.Contract.Reveal`: "to open the file: readContract returns codes, reasons and lines",
	`gate/contract.go Contract: s.Contract.Reveal`:              "to open the file: readContract returns codes, reasons and lines",
	`gate/contract.go Explain: s.Contract.Reveal`:               "to open the file: what is wrong with it is not said",
	`gate/tlsfiles.go roots: t.CAFile.Reveal`:                   "to open the file: readRoots returns a reason",
	`gate/tlsfiles.go roots: t.URL.Reveal`:                      "to open the file: readRoots returns a reason",
	`gate/tlsfiles.go certificate: t.URL.Reveal`:                "to open the files: readFile returns a reason",
	`gate/gate.go listen: l.settings.HealthListen.Reveal`:       "to listen there: it is on no line",
	`gate/gate.go Run: l.settings.StateFile.Reveal`:             "to write the file: it is on no line",
	`gate/health.go Health: s.StateFile.Reveal`:                 "to read the file: readState returns a reason",
	`gate/health.go fileFault: l.judged.HeartbeatFile.Reveal`:   "to see how old the file is",
	`gate/health.go httpFault: l.judged.HealthPort.Reveal`:      "to seal it again as a part of a URL",
	`gate/settings_parse.go path: secret.Reveal`:                "to see whether it is absolute",
	`gate/settings_parse.go address: secret.Reveal`:             "to see whether it has a port",
	`probe/heartbeat.go Beat: s.master.parts.Reveal`:            "to send user, password and database",
	`probe/heartbeat.go Beat: u.Reveal`:                         "to send user, password and database",
	`gate/gate.go Fail: format.Reveal`:                          "to compare it with a word",
	`gate/settings_parse.go word: secret.Reveal`:                "to compare it with words",
	`gate/settings_parse.go duration: secret.Reveal`:            "to read a number: parseDuration returns a reason",
	`gate/settings_parse.go redisKeys: secret.Reveal`:           "to read names: parseKeys returns names that are valid, or nothing",
	`gate/settings_parse.go keyPrefix: secret.Reveal`:           "to send it to Redis: it is on no line",
	`gate/settings_parse.go roots: secret.Reveal`:               "to open the file: readFile returns a reason",

	`probe/redis.go NewRedis: u.Reveal`:             "to see how many servers there are",
	`probe/redis.go newServer: u.Reveal`:            "to dial it",
	`probe/redis.go newDialer: o.ServerName.Reveal`: "to compare it with the certificate's",
	`probe/redis.go Probe: r.parts.Reveal`:          "one of three words",
	`probe/redis.go attempt: r.parts.Reveal`:        "to send user, password and database",
	`probe/redis.go facts: r.parts.Reveal`:          "to compare them with constants",
	`probe/cluster.go askNode: r.parts.Reveal`:      "to seal them again with another address",
	`probe/sentinel.go Probe: s.parts.Reveal`:       "to compare them with constants",
	`probe/sentinel.go ask: s.parts.Reveal`:         "to send user, password and the master's name",
	`probe/sentinel.go setMaster: s.parts.Reveal`:   "to seal them again with the master's address",

	`envcheck/check_address.go addressOf: r.value.redis.Reveal`: "to seal host and port again, in another form",
	`gate/wait.go prober: t.CAFile.Reveal`:                      "to see whether it is empty",

	`probe/postgres.go NewPostgres: u.Reveal`:            "to dial host and port",
	`probe/postgres.go Probe: p.parts.Reveal`:            "facts compares them with constants",
	`probe/postgres.go attempt: p.parts.Reveal`:          "one of six words is compared with constants",
	`probe/postgres.go try: p.parts.Reveal`:              "as attempt",
	`probe/postgres.go postgresTLS: o.ServerName.Reveal`: "the handshake needs it: tlsFault returns a code",
	`probe/postgres.go login: p.parts.Reveal`:            "to send user and database",
	`probe/postgres.go errorCode: p.parts.Reveal`:        "to see whether there is a user",

	`probe/http.go NewHTTP: u.Reveal`:                "to dial host and port",
	`probe/http.go NewHTTP: o.ServerName.Reveal`:     "the handshake needs it: tlsFault returns a code",
	`probe/http.go Probe: h.parts.Reveal`:            "facts compares them with constants",
	`probe/http.go request: h.parts.Reveal`:          "to send path and credentials",
	`probe/http.go request: h.options.Header.Reveal`: "to send it",

	`probe/tcp.go NewTCP: u.Reveal`:      "to dial host and port",
	`probe/tcp.go Probe: t.parts.Reveal`: "facts compares them with constants",
}

// errorTexts are the places that look at the text of an error, or make one.
var errorTexts = map[finding]string{
	`cmd/startgate/parse.go parse: err.Error`:     "package flag has no type for a missing value: the start of the text is compared",
	`envcheck/load.go yamlFault: err.Error`:       "a number of digits behind the word line: no text that the parser quotes has a blank before it",
	`probe/answer.go brokenCode: a.err.Error`:     "the start of the text is compared",
	`probe/examine.go notAllowed: reply.Error`:    "the text of a server's reply: replyFault compares its start",
	`probe/redis.go attempt: a.write.Err().Error`: "the text of a MOVED: its address is dialled",
	`probe/reply.go unknownCommand: err.Error`:    "the start of the text is compared",
	`probe/tls.go alerted: op.Err.Error`:          "the name of an alert is compared",
	`probe/sentinel.go ask: err.Error`:            "the text of a server's reply: replyFault compares its start",
	`probe/answer.go errorCode: cmd.Err().Error`:  "the text of a server's reply: replyFault compares its start",
	`probe/answer.go writable: write.Err().Error`: "the text of a server's reply: its start is compared",
}
