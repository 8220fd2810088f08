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
	//
	//
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
	//
	//

	// 7xx: the fleet.
	//
	//

	// 8xx: secrets and exposure.
	//
	//

	// 9xx: the broker.
	//
	//
}
