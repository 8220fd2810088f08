package compose

import "slices"

// facts are what many rules ask of a service, which is made once: from when on
// the services of the stack are settled.
type facts struct {
	names, hosts   fact[string]
	urls, readable fact[target]
	brokers        fact[*service]
	words          fact[word]
}

// fact is a list that is made at most once.
type fact[T any] struct {
	all  []T
	made bool
}

// of is the list. It is shared: callers must not change what is in it.
func (f *fact[T]) of(v *service, list func() []T) []T {
	if f.made {
		return f.all
	}
	all := slices.Clip(list())
	if v.stack.settled {
		f.all, f.made = all, true
	}
	return all
}
