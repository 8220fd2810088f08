package compose

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/compose-spec/compose-go/v2/schema"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/compose-spec/compose-go/v2/types"
)

// specification is the Compose specification's schema. compose-go compiles the
// same one, but says a fault only as a text that quotes values.
var specification = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema.Schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.RegisterFormat(&jsonschema.Format{Name: "duration", Validate: validDuration})
	if err := c.AddResource("compose-spec.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("compose-spec.json")
})

func validDuration(v any) error {
	text, _ := v.(string)
	if marked(text) {
		return nil
	}
	_, err := time.ParseDuration(text)
	if err == nil {
		return nil
	}
	var d types.Duration
	return d.DecodeMapstructure(text)
}

// validate holds the model against the specification, with what is known of its
// variables. A text that holds a variable which is not known is taken as good.
func (s *stack) validate() {
	spec, err := specification()
	if err != nil {
		return
	}
	raw, err := json.Marshal(s.effective(s.model.value))
	if err != nil {
		return
	}
	model, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	if err != nil {
		return
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(spec.Validate(model), &invalid) {
		return
	}
	for _, fault := range s.faults(invalid) {
		s.sayFault(fault)
	}
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

// faults are the causes to say: of each attribute the one that lies deepest,
// since it is the alternative that was meant.
func (s *stack) faults(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	deepest := map[string]*jsonschema.ValidationError{}
	var visit func(*jsonschema.ValidationError)
	visit = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			visit(cause)
		}
		if len(e.Causes) > 0 || s.unknownAt(e.InstanceLocation) {
			return
		}
		p := path(e.InstanceLocation)
		attribute := p[:min(len(p), 3)].key()
		if known := deepest[attribute]; known == nil || depth(e) > depth(known) {
			deepest[attribute] = e
		}
	}
	visit(e)
	var found []*jsonschema.ValidationError
	for _, attribute := range slices.Sorted(maps.Keys(deepest)) {
		found = append(found, deepest[attribute])
	}
	return found
}

func depth(e *jsonschema.ValidationError) int {
	if _, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
		return len(e.InstanceLocation) + 1
	}
	return len(e.InstanceLocation)
}

// unknownAt reports whether a variable that is not known stands at p.
func (s *stack) unknownAt(p path) bool {
	n := s.model.at(p...)
	return n.isText() && !n.text().known
}

func (s *stack) sayFault(e *jsonschema.ValidationError) {
	p := path(e.InstanceLocation)
	message := phrase("compose does not take this value here")
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		message = "compose knows no such key"
		if len(k.Properties) > 0 {
			p = p.with(slices.Min(k.Properties))
		}
	case *kind.Type:
		message = "compose wants a value of another type here"
	case *kind.Required:
		message = "compose wants a key here that is not there"
	case *kind.Format:
		message = "compose cannot read this duration"
	}
	at, ok := s.index.find(p)
	if !ok {
		at.Position = Position{File: s.files[0], Line: 1, Column: 1}
	}
	s.say(notCompose, at.Position, p, message)
}
