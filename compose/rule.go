package compose

// A Rule is one thing that is looked for. Its identifier is never used for
// anything else.
type Rule struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"` // unless the finding knows better
	Title    string   `json:"title"`
	Contract bool     `json:"contract,omitempty"` // it needs one
	Since    string   `json:"since"`              // the version that first had it
}

// rule is a Rule with how it is held against a stack: as a whole, or each
// service of a role. A rule with neither is found while loading.
type rule struct {
	Rule
	fix      phrase
	unjudged bool
	all      func(*check)
	of       role
	each     func(*check, *service)
}

// Rules lists all rules by their identifiers.
func Rules() []Rule {
	all := make([]Rule, len(rules))
	for i := range rules {
		all[i] = rules[i].Rule
	}
	return all
}

// ruleOf is the rule of that identifier.
func ruleOf(id string) *rule {
	for i := range rules {
		if rules[i].ID == id {
			return &rules[i]
		}
	}
	panic("compose: no such rule")
}
