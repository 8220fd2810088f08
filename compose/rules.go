package compose

// Rules that are found while the files are loaded.
const (
	badYAML        = "SG101"
	notCompose     = "SG102"
	missingFile    = "SG103"
	absentEnvFile  = "SG104"
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
	//
	//

	// 2xx: the environment.
	//
	//

	// 3xx: Redis URLs.
	//
	//

	// 4xx: the gate.
	//
	//

	// 5xx: dependencies and health.
	//
	//

	// 6xx: time budgets.
	//
	{Rule: Rule{ID: "SG601", Severity: Warn, Title: "a broker has less time to load than its workers give it", Since: "1.0"}, fix: "let start_period be at least as long as the gate waits: 300s, unless STARTGATE_TIMEOUT says otherwise", all: brokerWindow},
	{Rule: Rule{ID: "SG602", Severity: Warn, Title: "a broker's healthcheck has no start_period", Since: "1.0"}, fix: "give it start_period: 300s", all: brokerStartPeriod},
	{Rule: Rule{ID: "SG603", Severity: Warn, Title: "a worker counts as unhealthy while its gate waits", Contract: true, Since: "1.0"}, fix: "let start_period be longer than what the gate may wait and delay", of: worker, each: workerWindow},
	{Rule: Rule{ID: "SG604", Severity: Warn, Title: "a worker is stopped before its jobs can end", Since: "1.0"}, fix: "let stop_grace_period be some seconds longer than the longest job", of: worker, each: stopGrace},
	{Rule: Rule{ID: "SG605", Severity: Warn, Title: "a restart policy that a refusal defeats", Since: "1.0"}, fix: "use restart: unless-stopped, and set STARTGATE_REFUSE_AFTER to 60s", of: worker, each: restartLoop},
	{Rule: Rule{ID: "SG606", Severity: Warn, Title: "a worker that nothing restarts", Since: "1.0"}, fix: "use restart: unless-stopped", of: worker, each: noRestart},
	{Rule: Rule{ID: "SG608", Severity: Error, Title: "durations that contradict each other", Since: "1.0"}, fix: "lower the one, or raise the other", of: worker, each: contradictions},
	{Rule: Rule{ID: "SG609", Severity: Info, Title: "a healthcheck that comes late, or too often", Since: "1.0"}, fix: "use an interval of some seconds", each: probeTimes},
	//

	// 7xx: the fleet.
	//
	{Rule: Rule{ID: "SG701", Severity: Error, Title: "a group without worker, or with two", Since: "1.0"}, fix: "add a worker of this group, or take the group out of groups.all", all: groupsOnce},
	{Rule: Rule{ID: "SG702", Severity: Error, Title: "workers that share what must be distinct", Since: "1.0"}, fix: "give each worker its own", all: distinctPorts},
	{Rule: Rule{ID: "SG703", Severity: Error, Title: "two ports of a worker are one", Since: "1.0"}, fix: "give each its own port", of: worker, each: ownPorts},
	{Rule: Rule{ID: "SG704", Severity: Warn, Title: "a healthcheck asks another port", Since: "1.0"}, fix: "ask the port that the key says, or use startgate health, which needs none", of: worker, each: checkedPort},
	{Rule: Rule{ID: "SG705", Severity: Error, Title: "a worker publishes a port", Contract: true, Since: "1.0"}, fix: "take ports out: other services reach the worker by its name", of: worker, each: publishedWorker},
	{Rule: Rule{ID: "SG706", Severity: Warn, Title: "a worker that cannot be scaled", Since: "1.0"}, fix: "take container_name out", of: worker, each: fixedContainer},
	{Rule: Rule{ID: "SG707", Severity: Error, Title: "more than one scheduler", Since: "1.0"}, fix: "let one container run beat, in a service of its own with one replica", all: oneScheduler},
	{Rule: Rule{ID: "SG708", Severity: Error, Title: "other workers than declared", Since: "1.0"}, fix: "correct the number here or under workers", all: declaredWorkers},
	{Rule: Rule{ID: "SG711", Severity: Info, Title: "a worker in a network that is not its own", Since: "1.0"}, fix: "use networks, and the names of services for hosts", of: worker, each: sharedNetwork},
	{Rule: Rule{ID: "SG713", Severity: Warn, Title: "a service that is no worker is switched on as one", Since: "1.0"}, fix: "set the key in the workers alone", of: other, each: enabledElsewhere},
	{Rule: Rule{ID: "SG714", Severity: Warn, Title: "a fixed name for several workers", Since: "1.0"}, fix: "let each container have its own name", of: worker, each: fixedNode},
	//

	// 8xx: secrets and exposure.
	//
	{Rule: Rule{ID: "SG801", Severity: Error, Title: "a secret in plain text", Since: "1.0"}, fix: "take it from a variable without a default, or from a file: secrets, and the key with _FILE", all: literalSecrets},
	{Rule: Rule{ID: "SG802", Severity: Error, Title: "a URL with a password in plain text", Since: "1.0"}, fix: "take the whole URL from a variable without a default", all: literalCredentials},
	{Rule: Rule{ID: "SG803", Severity: Error, Title: "a broker is published on all interfaces", Since: "1.0"}, fix: "take ports out, since services of the stack need none, or publish it on 127.0.0.1", of: broker, each: publishedBroker},
	{Rule: Rule{ID: "SG804", Severity: Warn, Title: "a broker that lets anyone in", Since: "1.0"}, fix: "give it a password", all: openBroker},
	{Rule: Rule{ID: "SG805", Severity: Warn, Title: "a secret in a build argument or a label", Since: "1.0"}, fix: "use secrets of the build and RUN --mount=type=secret, or the service's environment", all: builtInSecrets},
	{Rule: Rule{ID: "SG807", Severity: Warn, Title: "a password in a command line", Since: "1.0"}, fix: "set REDISCLI_AUTH in the environment: redis-cli takes the password from there", each: shownPasswords},
	//

	// 9xx: the broker.
	//
	{Rule: Rule{ID: "SG901", Severity: Error, Title: "a broker that evicts keys of its queues", Since: "1.0"}, fix: "use maxmemory-policy noeviction, and another server for caches", all: eviction},
	{Rule: Rule{ID: "SG902", Severity: Warn, Title: "a broker that keeps nothing", Since: "1.0"}, fix: "use appendonly yes and a named volume at /data", all: unsaved},
	{Rule: Rule{ID: "SG904", Severity: Warn, Title: "a broker without a version", Since: "1.0"}, fix: "name a version, as in redis:7", all: floatingTag},
	//
}
