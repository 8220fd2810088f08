package compose

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	specification "github.com/compose-spec/compose-go/v2/schema"
	"go.yaml.in/yaml/v4"
)

// The words of JSON Schema that schema.go understands, and those that say
// nothing of a value.
var understood = map[string]bool{
	"$schema": false, "$id": false, "$defs": false, "title": false, "description": false, "deprecated": false, "default": false,
	"$ref": true, "type": true, "enum": true, "const": true, "required": true, "properties": true, "patternProperties": true,
	"additionalProperties": true, "unevaluatedProperties": true, "items": true, "minItems": true, "uniqueItems": true,
	"minLength": true, "pattern": true, "format": true, "minimum": true, "maximum": true, "allOf": true, "anyOf": true, "oneOf": true,
}

func TestUnknownKeysOfAnAttribute(t *testing.T) {
	got := suppressRun(t, map[string]string{"compose.yaml": "services:\n  web:\n    image: nginx\n    healthcheck:\n      tests: x\n      intervall: 1s\n"}, "")
	if want := []string{"SG102 compose.yaml:5", "SG102 compose.yaml:6"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// A new version of the specification may use a word that we would pass over.
func TestSchemaWordsAreUnderstood(t *testing.T) {
	for _, text := range []string{specification.Schema, ConfigSchema} {
		var visit func(v any, names bool)
		visit = func(v any, names bool) {
			switch v := v.(type) {
			case map[string]any:
				for word, below := range v {
					if _, ok := understood[word]; !ok && !names {
						t.Errorf("%q is not understood", word)
					}
					visit(below, !names && (word == "properties" || word == "patternProperties" || word == "$defs"))
				}
			case []any:
				for _, below := range v {
					visit(below, false)
				}
			}
		}
		var root any
		if err := json.Unmarshal([]byte(text), &root); err != nil {
			t.Fatal(err)
		}
		visit(root, false)
	}
}

// models are a compose file of the project, and one with every attribute that
// is written in several ways.
func models(t *testing.T) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for _, file := range []string{"../examples/rq/compose.yaml", "testdata/schema.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var model map[string]any
		if err := yaml.Unmarshal(text, &model); err != nil {
			t.Fatal(err)
		}
		all[file] = model
	}
	return all
}

// TestSchemaAgreesWithCompose changes every value of models into values of
// every other kind, and has compose-go and us judge the result.
func TestSchemaAgreesWithCompose(t *testing.T) {
	others := []any{nil, true, 5, -1.5, 100000, "", "x", []any{"a", "a"}, []any{1}, map[string]any{"a": "b"}}
	judged, refused := 0, 0
	for file, model := range models(t) {
		agree := func(where path) {
			t.Helper()
			theirs := specification.Validate(model)
			ours := composeSchema().validate(model)
			if (theirs == nil) != (len(ours) == 0) {
				t.Errorf("%s with another value at %v: compose-go %v, we %v", file, where, theirs, ours)
			}
			if judged++; theirs != nil {
				refused++
			}
		}
		agree(nil)
		var visit func(container any, p path)
		visit = func(container any, p path) {
			change := func(name string, old any, set func(any)) {
				for _, other := range others {
					set(other)
					agree(p.with(name))
				}
				set(old)
				visit(old, p.with(name))
			}
			switch c := container.(type) {
			case map[string]any:
				for _, name := range sortedKeys(c) {
					old := c[name]
					change(name, old, func(v any) { c[name] = v })
					delete(c, name)
					agree(p.with(name))
					c[name] = old
				}
				c["unheard_of"] = "x"
				agree(p.with("unheard_of"))
				delete(c, "unheard_of")
			case []any:
				for i := range c {
					change(itoa(i), c[i], func(v any) { c[i] = v })
				}
			}
		}
		visit(model, nil)
	}
	t.Logf("%d models judged, %d refused", judged, refused)
	if refused < judged/10 || judged-refused < judged/10 {
		t.Errorf("%d of %d models are refused: the corpus shows too little", refused, judged)
	}
}
