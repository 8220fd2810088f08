package compose

import (
	"bytes"
	"maps"
	"slices"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/override"
	"github.com/compose-spec/compose-go/v2/transform"
)

// loaderWords are in the text of each file of which compose-go's loader makes
// more than [merge] does: it reads other files, takes things out, or renames
// them.
var loaderWords = [...]string{"include", "extends", "!reset", "!override", "x-develop", "x-initialSync", "jobs:"}

// merge makes the model of plain files with compose-go's own parts, as its
// loader does, from what is parsed already. The loader holds each path of the
// model so far against each short form, for each file once more, which takes
// three times as long as all else. false leaves the files to it.
func merge(files []*document) (model map[string]any, ok bool) {
	defer func() {
		if recover() != nil { // some of the parts expect a valid model
			model, ok = nil, false
		}
	}()
	for _, f := range files {
		for _, word := range loaderWords {
			if bytes.Contains(f.text, []byte(word)) {
				return nil, false
			}
		}
		for _, n := range f.nodes {
			var decoded any
			if n.Decode(&decoded) != nil || !stringKeys(decoded) {
				return nil, false
			}
			value, isMap := decoded.(map[string]any)
			if !isMap {
				return nil, false
			}
			// Beside another file's services, the merge would not miss them.
			if services, has := value["services"]; has {
				if _, ok := services.(map[string]any); !ok {
					return nil, false
				}
			}
			if model = add(model, value); model == nil {
				return nil, false
			}
		}
	}
	return model, len(model) > 0
}

// add merges what a document says into the model, nil for what cannot be.
func add(model, value map[string]any) map[string]any {
	if model == nil {
		model = map[string]any{}
	}
	model, err := override.Merge(model, value)
	if err != nil {
		return nil
	}
	if model, err = override.EnforceUnicity(model); err != nil {
		return nil
	}
	services, ok := model["services"].(map[string]any)
	if !ok {
		return nil
	}
	// The model without those attributes of services that have no short form.
	short := maps.Clone(model)
	shortened := map[string]any{}
	for name, service := range services {
		attributes, ok := service.(map[string]any)
		if !ok {
			return nil
		}
		some := maps.Clone(attributes)
		maps.DeleteFunc(some, func(name string, _ any) bool { return slices.Contains(plain, name) })
		shortened[name] = some
	}
	short["services"] = shortened
	if short, err = transform.Canonical(short, true); err != nil {
		return nil
	}
	if short, err = override.EnforceUnicity(loader.OmitEmpty(short)); err != nil {
		return nil
	}
	for name, some := range shortened {
		maps.Copy(services[name].(map[string]any), some.(map[string]any))
	}
	short["services"] = services
	return short
}

// plain are attributes of a service that are often there and have no short form.
var plain = []string{
	"command", "container_name", "entrypoint", "environment", "healthcheck", "hostname", "image", "init", "labels", "logging", "restart", "stop_grace_period",
}

// stringKeys reports whether all keys of all mappings are texts.
func stringKeys(value any) bool {
	switch v := value.(type) {
	case map[any]any:
		return false
	case map[string]any:
		for _, below := range v {
			if !stringKeys(below) {
				return false
			}
		}
	case []any:
		for _, below := range v {
			if !stringKeys(below) {
				return false
			}
		}
	}
	return true
}
