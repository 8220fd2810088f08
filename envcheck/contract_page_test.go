package envcheck

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// contractPage is the contract language for people. What stands behind its mark
// is made from the schema.
const (
	contractPage = "contract.md"
	contractMark = "<!-- UPDATE_GOLDEN=1 go test ./envcheck writes what follows -->\n"
)

func TestContractPage(t *testing.T) {
	text, err := os.ReadFile(contractPage)
	if err != nil {
		t.Fatal(err)
	}
	var root described
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	byHand, _, _ := strings.Cut(string(text), contractMark)
	got := byHand + contractMark + root.page()
	if update {
		if err := os.WriteFile(contractPage, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != string(text) {
		t.Errorf("%s is not what the schema says; UPDATE_GOLDEN=1 go test writes it:\n%s", contractPage, got)
	}
	for _, name := range types {
		if !strings.Contains(byHand, "`"+string(name.name)+"`") {
			t.Errorf("%s does not say what %s takes", contractPage, name.name)
		}
	}
}

// described is a part of a JSON Schema.
type described struct {
	Description string
	Type        any
	Enum        []string
	Pattern     string
	Properties  map[string]*described
	Items       *described
	AnyOf       []*described
	Additional  json.RawMessage `json:"additionalProperties"`
}

// page is a table of the contract's own fields, and one for each field that has
// fields in its turn.
func (d *described) page() string {
	var b strings.Builder
	table := func(title string, d *described) {
		fmt.Fprintf(&b, "\n## %s\n\n| field | takes | meaning |\n|---|---|---|\n", title)
		d.rows(&b, "")
	}
	shallow := described{Properties: map[string]*described{}}
	for name, f := range d.Properties {
		shallow.Properties[name] = &described{Description: f.Description, Type: f.Type, Enum: f.Enum, Pattern: f.Pattern, Items: f.Items, AnyOf: f.AnyOf}
	}
	table("A contract", &shallow)
	for _, part := range [...]struct{ title, name string }{
		{"A key", "keys"}, {"The policy", "policy"}, {"A rule", "rules"}, {"A wait", "waits"}, {"Health", "health"}, {"Settings", "settings"},
	} {
		table(part.title+": `"+part.name+"`", d.Properties[part.name].inner())
	}
	return b.String()
}

// inner is what has the fields: the object itself, or what its values or the
// items of a list are.
func (d *described) inner() *described {
	if d.Items != nil {
		return d.Items
	}
	var values described
	if len(d.Properties) == 0 && json.Unmarshal(d.Additional, &values) == nil {
		return &values
	}
	return d
}

func (d *described) rows(b *strings.Builder, prefix string) {
	for _, name := range slices.Sorted(maps.Keys(d.Properties)) {
		f := d.Properties[name]
		meaning := cmp.Or(f.Description, "key of `STARTGATE_"+strings.ToUpper(name)+"`")
		fmt.Fprintf(b, "| `%s%s` | %s | %s |\n", prefix, name, f.takes(), strings.ReplaceAll(meaning, "|", `\|`))
		f.rows(b, prefix+name+".")
		for _, other := range f.AnyOf {
			other.rows(b, prefix+name+".")
		}
	}
}

// takes is what a field can hold.
func (d *described) takes() string {
	switch {
	case len(d.Enum) > 0:
		return "`" + strings.Join(d.Enum, "`, `") + "`"
	case len(d.AnyOf) > 0:
		var all []string
		for _, other := range d.AnyOf {
			all = append(all, other.takes())
		}
		return strings.Join(slices.Compact(all), ", or ")
	case d.Items != nil && len(d.Items.Properties) > 0:
		return "a list"
	case d.Items != nil:
		item := d.Items.takes()
		if name, ok := strings.CutPrefix(item, "a "); ok {
			item = name + "s"
		}
		return "a list of " + item
	case d.Pattern == keyName().schema()["pattern"]:
		return "a key"
	case slices.Equal(words(d.Type), []string{"string", "boolean"}):
		return "a condition"
	}
	switch words(d.Type)[0] {
	case "boolean":
		return "`true`, `false`"
	case "integer", "number":
		return "a number"
	case "object":
		return "fields"
	}
	return "text"
}

// words are a schema's type or types.
func words(v any) []string {
	var all []string
	if list, ok := v.([]any); ok {
		for _, each := range list {
			all = append(all, each.(string))
		}
		return all
	}
	one, _ := v.(string)
	return []string{one}
}
