package compose

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"

	specification "github.com/compose-spec/compose-go/v2/schema"
)

// composeSchema is the Compose specification's schema, which all checks share.
var composeSchema = sync.OnceValue(func() *schema { return parseSchema(specification.Schema, nil) })

// validate holds the model against the specification, with what is known of its
// variables. A text that holds a variable which is not known is taken as good.
func (s *stack) validate() {
	for _, f := range s.causes(composeSchema().validate(s.effective(s.model.value))) {
		s.refuse(notCompose, f, specificationSays)
	}
	s.checkTexts()
}

// effective is v with its variables replaced.
func (s *stack) effective(v any) any {
	switch v := v.(type) {
	case string:
		return s.environment.interpolate(v).effective
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, below := range v {
			out[name] = s.effective(below)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, below := range v {
			out[i] = s.effective(below)
		}
		return out
	}
	return v
}

// causes are the faults to say: of each attribute the one that lies deepest,
// since it is of the alternative that was meant, and with an unknown key those
// beside it.
func (s *stack) causes(faults []misfit) []misfit {
	deepest := map[string][]misfit{}
	for _, f := range faults {
		if s.unknownAt(f.path) {
			continue
		}
		attribute := f.path[:min(len(f.path), 3)].key()
		known := deepest[attribute]
		same := func(k misfit) bool { return k.reason != unknownKey || k.path.key() == f.path.key() }
		switch {
		case len(known) == 0 || len(f.path) > len(known[0].path):
			deepest[attribute] = []misfit{f}
		case f.reason == unknownKey && len(f.path) == len(known[0].path) && !slices.ContainsFunc(known, same):
			deepest[attribute] = append(known, f)
		}
	}
	var found []misfit
	for _, attribute := range slices.Sorted(maps.Keys(deepest)) {
		found = append(found, deepest[attribute]...)
	}
	return found
}

// unknownAt reports whether a variable that is not known stands at p.
func (s *stack) unknownAt(p path) bool {
	n := s.model.at(p...)
	return n.isText() && !n.text().known
}

// specificationSays is what is said of the refusals of the specification.
var specificationSays = map[refusal]phrase{
	refusedValue:  "compose does not take this value here",
	refusedType:   "compose wants a value of another type here",
	refusedFormat: "compose cannot read what is written here",
	missingKey:    "compose wants a key here that is not there",
	unknownKey:    "compose knows no such key",
}

// wouldBeKey is what the keys of compose and of the configuration look like.
// What is none of theirs is shown when it is only misspelt.
var wouldBeKey = regexp.MustCompile(`^[a-z][a-z_]{0,23}$`)

func (s *stack) refuse(id string, f misfit, says map[refusal]phrase) {
	at, ok := s.index.find(f.path)
	if !ok {
		at.Position = Position{File: s.files[0], Line: 1, Column: 1}
	}
	shown := f.path
	if last := len(shown) - 1; f.reason == unknownKey && !wouldBeKey.MatchString(shown[last]) {
		shown = shown[:last]
	}
	s.say(id, at.Position, shown, says[f.reason])
}

func itoa(i int) string { return strconv.Itoa(i) }
