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
