package compose

// Rules that are found while the files are loaded, SG105 not only then.
const (
	badYAML        = "SG101"
	notCompose     = "SG102"
	missingFile    = "SG103"
	absentEnvFile  = "SG104"
	noValue        = "SG105"
	badSuppression = "SG108"
	badConfig      = "SG109"
)

// rules is the one place where a rule is declared. Its page is in rules.md.
var rules = [...]rule{
	{Rule: Rule{ID: badYAML, Severity: Error, Title: "a file is not YAML", Since: "1.0"}, unjudged: true, fix: "correct it at this place"},
	{Rule: Rule{ID: notCompose, Severity: Error, Title: "compose refuses the model", Since: "1.0"}, unjudged: true, fix: "see the Compose specification for this key"},
	{Rule: Rule{ID: missingFile, Severity: Error, Title: "a file of the stack cannot be read", Since: "1.0"}, unjudged: true, fix: "give the file, or --allow-partial to judge the rest"},
	{Rule: Rule{ID: absentEnvFile, Severity: Info, Title: "an env_file is not here", Since: "1.0"}, fix: "give --env-file-stub a file with example values to judge it here"},
	{Rule: Rule{ID: badSuppression, Severity: Warn, Title: "a suppression without reason or use", Since: "1.0"}, fix: "write the reason behind --"},
	{Rule: Rule{ID: badConfig, Severity: Error, Title: "the configuration or the contract is malformed", Since: "1.0"}, unjudged: true, fix: "see the configuration's JSON Schema"},

	// 1xx: input and coverage.
	{Rule: Rule{ID: noValue, Severity: Info, Title: "a variable that must be set has no value here", Since: "1.0"}, fix: "give --env-file a file with example values to judge it here", all: unsetVariables},
	{Rule: Rule{ID: "SG106", Severity: Warn, Title: "a worker only starts with a profile", Since: "1.0"}, fix: "take the worker out of the profile, or set COMPOSE_PROFILES where it is to run", of: worker, each: hiddenWorker},
	{Rule: Rule{ID: noService, Severity: Error, Title: "a check that checks nothing", Since: "1.0"}, fix: "say which service it is for", all: nothingJudged},

	// 2xx: the environment.
	{Rule: Rule{ID: notGiven, Severity: Error, Title: "a worker does not get a required key", Contract: true, Since: "1.0"}, fix: "set it under environment", of: worker, each: requiredKey},
	{Rule: Rule{ID: maybeBlank, Severity: Error, Title: "a required key may be empty", Contract: true, Since: "1.0"}, fix: "write ${NAME:?what to set}", of: worker, each: blankKey},
	{Rule: Rule{ID: forbidDefault, Severity: Warn, Title: "a required key has a default that leads nowhere", Contract: true, Since: "1.0"}, fix: "write ${NAME:?what to set}", of: worker, each: defaultElsewhere},
	{Rule: Rule{ID: emptyPasses, Severity: Error, Title: "? lets an empty variable through", Contract: true, Since: "1.0"}, fix: "write :? instead of ?", of: worker, each: emptyKey},
	{Rule: Rule{ID: badValue, Severity: Error, Title: "a value is not what the contract asks for", Contract: true, Since: "1.0"}, fix: "give a value of the key's type", of: worker, each: value},
	{Rule: Rule{ID: "SG206", Severity: Warn, Title: "a variable without a value disappears when it is unset", Since: "1.0"}, fix: "give it a value, or leave it out", of: worker, each: passedKey},
	{Rule: Rule{ID: "SG207", Severity: Error, Title: "a variable of the compose file is only in an env_file", Since: "1.0"}, fix: "put it in .env, which compose reads for its files, or leave the key to the env_file", each: foreignVariable},
	{Rule: Rule{ID: quotedInList, Severity: Error, Title: "quotes are a part of the value", Since: "1.0"}, fix: "take them out, or quote the whole item", each: listQuotes},
	{Rule: Rule{ID: "SG209", Severity: Warn, Title: "YAML writes a value in another way", Since: "1.0"}, fix: "quote it", each: retyped},
	{Rule: Rule{ID: hidesEnvFile, Severity: Error, Title: "an empty value hides the one of an env_file", Contract: true, Since: "1.0"}, fix: "take the line out, so that the env_file counts, or write ${NAME:?what to set}", of: worker, each: hiddenValue},
	{Rule: Rule{ID: misspelled, Severity: Warn, Title: "a key is close to one of the contract", Contract: true, Since: "1.0"}, fix: "correct the name", of: worker, each: misspelledKey},
	{Rule: Rule{ID: twoSources, Severity: Warn, Title: "a secret is given twice", Since: "1.0"}, fix: "keep one of the two", each: bothSources},
	{Rule: Rule{ID: "SG214", Severity: Error, Title: "a secret's file is not mounted", Since: "1.0"}, fix: "name the secret under secrets of the service", each: noSecret},
	{Rule: Rule{ID: brokenRule, Severity: Error, Title: "a rule of the contract is broken", Contract: true, Since: "1.0"}, fix: "see the contract", of: worker, each: contractRule},
	{Rule: Rule{ID: unusedKey, Severity: Info, Title: "keys of what the worker does not do", Contract: true, Since: "1.0"}, fix: "leave them to the workers that need them", of: worker, each: unusedKeys},

	// 3xx: Redis URLs.
	{Rule: Rule{ID: notAligned, Severity: Error, Title: "keys that belong together lead to different Redis servers", Contract: true, Since: "1.0"}, fix: "make both from one variable", of: worker, each: alignedURLs},
	{Rule: Rule{ID: noRedisURL, Severity: Error, Title: "a value is no Redis URL", Since: "1.0"}, fix: "write redis://HOST:PORT/DB", each: badURL},
	{Rule: Rule{ID: "SG303", Severity: Error, Title: "a Redis URL leads to the worker's own container", Since: "1.0"}, fix: "name the broker's service as the host", each: loopbackHost},
	{Rule: Rule{ID: "SG304", Severity: Warn, Title: "a Redis URL leads to a host that nobody is", Since: "1.0"}, fix: "name a service, or list the host under external in startgate.compose.yaml", each: unknownHost},
	{Rule: Rule{ID: "SG305", Severity: Warn, Title: "a password is pasted into a Redis URL", Since: "1.0"}, fix: "give the whole URL in one variable, or the password in a key of its own, or percent-encode it", each: rawPassword},
	{Rule: Rule{ID: "SG307", Severity: Info, Title: "scheme and server do not agree about TLS", Since: "1.0"}, fix: "write rediss:// for TLS, redis:// without", of: worker, each: tlsMismatch},
	{Rule: Rule{ID: "SG308", Severity: Error, Title: "worker and broker have no network in common", Since: "1.0"}, fix: "put both in one network", of: worker, each: noNetwork},
	{Rule: Rule{ID: "SG309", Severity: Error, Title: "the broker's command line contradicts the URL", Since: "1.0"}, fix: "make both say the same", of: worker, each: contradicted},
	{Rule: Rule{ID: "SG310", Severity: Info, Title: "a broker elsewhere without keepalive", Since: "1.0"}, fix: "startgate-compose explain SG310 has what each client takes", of: worker, each: keepalive},

	// 4xx: the gate.
	{Rule: Rule{ID: "SG401", Severity: Error, Title: "a worker is not started through the gate", Contract: true, Since: "1.0"}, fix: "entrypoint: [/startgate, --] and the worker as command", of: worker, each: ungated},
	{Rule: Rule{ID: "SG402", Severity: Error, Title: "the gate gets no worker", Since: "1.0"}, fix: "write the worker as command, behind an entrypoint that ends in --", each: idleGate},
	{Rule: Rule{ID: "SG403", Severity: Error, Title: "the gate stands behind a shell", Since: "1.0"}, fix: "entrypoint: [/startgate, --] without a shell, or exec in front of the gate", each: gateInShell},
	{Rule: Rule{ID: "SG404", Severity: Warn, Title: "a shell stays in front of a worker", Since: "1.0"}, fix: "write the worker as a list without a shell, or exec in front of it", of: worker, each: workerInShell},
	{Rule: Rule{ID: "SG405", Severity: Info, Title: "a forking worker without an init", Since: "1.0"}, fix: "init: true", of: worker, each: reaper},
	{Rule: Rule{ID: "SG406", Severity: Error, Title: "an empty entrypoint takes the gate away", Since: "1.0"}, fix: "leave out entrypoint, or write [/startgate, --]", of: worker, each: clearedGate},
	{Rule: Rule{ID: "SG407", Severity: Warn, Title: "compose replaces a variable that is meant for the container", Since: "1.0"}, fix: "write $$ for a $ that the container is to see, and start a shell that replaces it", all: expandedTooEarly},
	{Rule: Rule{ID: "SG411", Severity: Warn, Title: "a worker waits for an open port only", Since: "1.0"}, fix: "start the worker through the gate, which asks Redis itself", of: worker, each: portWait},
	{Rule: Rule{ID: "SG412", Severity: Warn, Title: "a gate that does not enforce", Since: "1.0"}, fix: "leave out STARTGATE_MODE once the fleet is ready for it", of: worker, each: unenforced},

	// 5xx: dependencies and health.
	{Rule: Rule{ID: "SG501", Severity: Error, Title: "a worker does not wait until what it needs is healthy", Since: "1.0"}, fix: "condition: service_healthy", of: worker, each: startedOnly},
	{Rule: Rule{ID: "SG502", Severity: Error, Title: "a dependency on the health of a service that has none", Since: "1.0"}, fix: "give the service a healthcheck", each: healthless},
	{Rule: Rule{ID: "SG503", Severity: Error, Title: "a worker does not depend on what it needs", Since: "1.0"}, fix: "depends_on with condition: service_healthy", of: worker, each: independent},
	{Rule: Rule{ID: "SG504", Severity: Error, Title: "a broker's healthcheck passes while it loads", Since: "1.0"}, fix: "test: [CMD, redis-cli, -e, ping]", of: broker, each: weakHealthcheck},
	{Rule: Rule{ID: "SG505", Severity: Error, Title: "a broker's healthcheck gives no password", Since: "1.0"}, fix: "set REDISCLI_AUTH in the broker's environment", of: broker, each: unauthenticatedHealthcheck},
	{Rule: Rule{ID: "SG506", Severity: Error, Title: "a healthcheck is not the command that it looks like", Since: "1.0"}, fix: "test: [CMD, program, argument, …], or [CMD-SHELL, one text]", all: healthcheckForm},
	{Rule: Rule{ID: "SG507", Severity: Error, Title: "a healthcheck that cannot fail, or cannot pass", Since: "1.0"}, fix: "ask the service itself: redis-cli -e ping, or startgate health", each: healthcheckKinds},
	{Rule: Rule{ID: "SG508", Severity: Warn, Title: "a healthcheck runs what its image does not have", Since: "1.0"}, fix: "startgate health for a worker, startgate probe for what it waits for: they need no shell", all: missingTool},
	{Rule: Rule{ID: "SG509", Severity: Warn, Title: "a worker has the healthcheck of another service", Since: "1.0"}, fix: "test: [CMD, /startgate, health]", of: worker, each: inheritedHealthcheck},
	{Rule: Rule{ID: "SG511", Severity: Warn, Title: "a worker may start without its broker", Since: "1.0"}, fix: "leave out required: false", of: worker, each: optionalBroker},
	{Rule: Rule{ID: "SG512", Severity: Error, Title: "a broker is in a profile that its worker is not in", Since: "1.0"}, fix: "give both the same profiles", of: worker, each: profiledBroker},
	{Rule: Rule{ID: "SG515", Severity: Warn, Title: "a service that is to end is restarted", Since: "1.0"}, fix: "restart: on-failure, or \"no\"", all: restartedOneShot},
	{Rule: Rule{ID: "SG518", Severity: Warn, Title: "a key of a service replaces what a merge key brings", Since: "1.0"}, fix: "merge the inner mapping too, with << below the key, or write out what is lost", of: worker, each: lostByMerge},
	{Rule: Rule{ID: "SG519", Severity: Warn, Title: "a broker has no healthcheck", Since: "1.0"}, fix: "test: [CMD, redis-cli, -e, ping] with a start_period", of: broker, each: uncheckedBroker},

	// 6xx: time budgets.
	{Rule: Rule{ID: "SG601", Severity: Warn, Title: "a broker has less time to load than its workers give it", Since: "1.0"}, fix: "let start_period be at least as long as the gate waits: 300s, unless STARTGATE_TIMEOUT says otherwise", all: brokerWindow},
	{Rule: Rule{ID: "SG602", Severity: Warn, Title: "a broker's healthcheck has no start_period", Since: "1.0"}, fix: "give it start_period: 300s", all: brokerStartPeriod},
	{Rule: Rule{ID: "SG603", Severity: Warn, Title: "a worker counts as unhealthy while its gate waits", Contract: true, Since: "1.0"}, fix: "let start_period be longer than what the gate may wait and delay", of: worker, each: workerWindow},
	{Rule: Rule{ID: "SG604", Severity: Warn, Title: "a worker is stopped before its jobs can end", Since: "1.0"}, fix: "let stop_grace_period be some seconds longer than the longest job", of: worker, each: stopGrace},
	{Rule: Rule{ID: "SG605", Severity: Warn, Title: "a restart policy that a refusal defeats", Since: "1.0"}, fix: "use restart: unless-stopped, and set STARTGATE_REFUSE_AFTER to 60s", of: worker, each: restartLoop},
	{Rule: Rule{ID: "SG606", Severity: Warn, Title: "a worker that nothing restarts", Since: "1.0"}, fix: "use restart: unless-stopped", of: worker, each: noRestart},
	{Rule: Rule{ID: "SG608", Severity: Error, Title: "durations that contradict each other", Since: "1.0"}, fix: "lower the one, or raise the other", of: worker, each: contradictions},
	{Rule: Rule{ID: "SG609", Severity: Info, Title: "a healthcheck that comes late, or too often", Since: "1.0"}, fix: "use an interval of some seconds", each: probeTimes},

	// 7xx: the fleet.
	{Rule: Rule{ID: "SG701", Severity: Error, Title: "a group without worker, or with two", Since: "1.0"}, fix: "add a worker of this group, or take the group out of groups.all", all: groupsOnce},
	{Rule: Rule{ID: "SG702", Severity: Error, Title: "workers that share what must be distinct", Since: "1.0"}, fix: "give each worker its own", all: distinctPorts},
	{Rule: Rule{ID: "SG703", Severity: Error, Title: "two ports of a worker are one", Since: "1.0"}, fix: "give each its own port", of: worker, each: ownPorts},
	{Rule: Rule{ID: "SG704", Severity: Warn, Title: "a healthcheck asks another port", Since: "1.0"}, fix: "ask the port that the key says, or use startgate health, which needs none", of: worker, each: checkedPort},
	{Rule: Rule{ID: "SG705", Severity: Error, Title: "a worker publishes a port", Contract: true, Since: "1.0"}, fix: "take ports out: other services reach the worker by its name", of: worker, each: publishedWorker},
	{Rule: Rule{ID: "SG706", Severity: Warn, Title: "a worker that cannot be scaled", Since: "1.0"}, fix: "take container_name out", each: fixedContainer},
	{Rule: Rule{ID: "SG707", Severity: Error, Title: "more than one scheduler", Since: "1.0"}, fix: "let one container run beat, in a service of its own with one replica", all: oneScheduler},
	{Rule: Rule{ID: "SG708", Severity: Error, Title: "other workers than declared", Since: "1.0"}, fix: "correct the number here or under workers", all: declaredWorkers},
	{Rule: Rule{ID: "SG711", Severity: Info, Title: "a worker in a network that is not its own", Since: "1.0"}, fix: "use networks, and the names of services for hosts", of: worker, each: sharedNetwork},
	{Rule: Rule{ID: "SG713", Severity: Warn, Title: "a service that is no worker is switched on as one", Since: "1.0"}, fix: "set the key in the workers alone", of: other, each: enabledElsewhere},
	{Rule: Rule{ID: "SG714", Severity: Warn, Title: "a fixed name for several workers", Since: "1.0"}, fix: "let each container have its own name", of: worker, each: fixedNode},

	// 8xx: secrets and exposure.
	{Rule: Rule{ID: "SG801", Severity: Error, Title: "a secret in plain text", Since: "1.0"}, fix: "take it from a variable without a default, or from a file: secrets, and the key with _FILE", all: literalSecrets},
	{Rule: Rule{ID: "SG802", Severity: Error, Title: "a URL with a password in plain text", Since: "1.0"}, fix: "take the whole URL from a variable without a default", all: literalCredentials},
	{Rule: Rule{ID: "SG803", Severity: Error, Title: "a broker is published on all interfaces", Since: "1.0"}, fix: "take ports out, since services of the stack need none, or publish it on 127.0.0.1", of: broker, each: publishedBroker},
	{Rule: Rule{ID: "SG804", Severity: Warn, Title: "a broker that lets anyone in", Since: "1.0"}, fix: "give it a password", all: openBroker},
	{Rule: Rule{ID: "SG805", Severity: Warn, Title: "a secret in a build argument or a label", Since: "1.0"}, fix: "use secrets of the build and RUN --mount=type=secret, or the service's environment", all: builtInSecrets},
	{Rule: Rule{ID: "SG807", Severity: Warn, Title: "a password in a command line", Since: "1.0"}, fix: "set REDISCLI_AUTH in the environment: redis-cli takes the password from there", each: shownPasswords},

	// 9xx: the broker.
	{Rule: Rule{ID: "SG901", Severity: Error, Title: "a broker that evicts keys of its queues", Since: "1.0"}, fix: "use maxmemory-policy noeviction, and another server for caches", all: eviction},
	{Rule: Rule{ID: "SG902", Severity: Warn, Title: "a broker that keeps nothing", Since: "1.0"}, fix: "use appendonly yes and a named volume at /data", all: unsaved},
	{Rule: Rule{ID: "SG904", Severity: Warn, Title: "a broker without a version", Since: "1.0"}, fix: "name a version, as in redis:7", all: floatingTag},
}
