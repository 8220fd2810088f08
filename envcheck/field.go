package envcheck

import (
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"
)

// A kind is what may stand at one place of the contract file: how it is read
// and how the JSON Schema describes it, so that the two cannot drift apart.
type kind[V any] struct {
	schema func() schema
	read   func(l *loader, n *yaml.Node) (V, bool)
}

// schema is a JSON Schema.
type schema = map[string]any

// A field is a named place in a mapping that is read into a T.
type field[T any] struct {
	name     string
	doc      string
	required bool
	schema   func() schema
	read     func(l *loader, n *yaml.Node, to *T)
}

// fieldOf is a field that holds a kind.
func fieldOf[T, V any](name, doc string, k kind[V], set func(*T, V)) field[T] {
	return field[T]{name: name, doc: doc, schema: k.schema, read: func(l *loader, n *yaml.Node, to *T) {
		if v, ok := k.read(l, n); ok {
			set(to, v)
		}
	}}
}

// must makes a field required.
func must[T any](f field[T]) field[T] {
	f.required = true
	return f
}

// object is a mapping with these fields and no others.
func object[T any](fields func() []field[T]) kind[*T] {
	table := sync.OnceValue(fields)
	return kind[*T]{
		schema: func() schema { return objectSchema(table()) },
		read: func(l *loader, n *yaml.Node) (*T, bool) {
			to := new(T)
			return to, readFields(l, n, table(), to)
		},
	}
}

func objectSchema[T any](table []field[T]) schema {
	properties, required := schema{}, []string{}
	for _, f := range table {
		s := schema{"description": f.doc}
		for k, v := range f.schema() {
			s[k] = v
		}
		properties[f.name] = s
		if f.required {
			required = append(required, f.name)
		}
	}
	s := schema{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// readFields reads a mapping into to and reports whether it was one.
func readFields[T any](l *loader, n *yaml.Node, table []field[T], to *T) bool {
	pairs, ok := l.mapping(n)
	if !ok {
		return false
	}
	l.places[place{to, ""}] = n
	for _, p := range pairs {
		i := slices.IndexFunc(table, func(f field[T]) bool { return f.name == p.name })
		if i < 0 {
			l.faultFix(p.key, ContractUnknownField, "", nearField(p.name, table))
			continue
		}
		l.places[place{to, p.name}] = p.value
		table[i].read(l, p.value, to)
	}
	for _, f := range table {
		if f.required && !l.has(to, f.name) {
			l.faultFix(n, ContractMissingField, "", Word("add the field "+f.name))
		}
	}
	return true
}

// nearField says which field name is a misspelling of.
func nearField[T any](name string, table []field[T]) Word {
	for _, f := range table {
		if near(name, f.name) {
			return Word("it is close to " + f.name)
		}
	}
	return ""
}

// mapOf is a mapping whose values are described by s.
func mapOf(s func() schema) func() schema {
	return func() schema { return schema{"type": "object", "additionalProperties": s()} }
}

// anyOf is one of several.
func anyOf(choices ...func() schema) func() schema {
	return func() schema {
		all := make([]any, len(choices))
		for i, s := range choices {
			all[i] = s()
		}
		return schema{"anyOf": all}
	}
}

func listOf[V any](k kind[V], least int) kind[[]V] {
	return kind[[]V]{
		schema: func() schema {
			s := schema{"type": "array", "items": k.schema()}
			if least > 0 {
				s["minItems"] = least
			}
			return s
		},
		read: func(l *loader, n *yaml.Node) ([]V, bool) {
			items, ok := l.list(n)
			if !ok {
				return nil, false
			}
			if len(items) < least {
				l.fault(n, ContractBadValue, TooFew)
				return nil, false
			}
			var all []V
			for _, item := range items {
				if v, ok := k.read(l, item); ok {
					all = append(all, v)
				}
			}
			return all, true
		},
	}
}

// exprSchema describes an expression.
func exprSchema() schema {
	return schema{"type": []string{"string", "boolean"}}
}

// exprField is a field that holds an expression. It is parsed once all keys and
// conditions are known.
func exprField[T any](name, doc string, at func(*T) **Expr) field[T] {
	return field[T]{name: name, doc: doc, schema: exprSchema, read: func(l *loader, n *yaml.Node, to *T) {
		l.later(n, at(to))
	}}
}
