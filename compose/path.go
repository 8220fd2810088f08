package compose

import (
	"regexp"
	"slices"
	"strings"
)

// path is where something stands in a model: services, worker, image.
type path []string

func (p path) with(names ...string) path { return append(slices.Clip(p), names...) }

// key is p as the key of a map.
func (p path) key() string { return strings.Join(p, separator) }

const separator = "\x1f"

// String is the path as a finding shows it. From a part on that could be
// something else than a name, it is cut off.
func (p path) String() string {
	var b strings.Builder
	for i := range p {
		n := p.part(i)
		if n == hidden {
			break
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(string(n))
	}
	return b.String()
}

var (
	// ofFormat is what the keys of compose and of the configuration look like.
	ofFormat = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)
	isIndex  = regexp.MustCompile(`^[0-9]{1,5}$`)
)

// unlike are keys below which there are other names than those: of labels, of
// options, of hosts.
var unlike = []string{
	"labels", "annotations", "driver_opts", "options", "sysctls", "extra_hosts", "aux_addresses", "additional_contexts", "environment", "args",
}

// named are keys below which the user gives names.
var named = []string{"services", "networks", "volumes", "secrets", "configs", "models", "stacks"}

// part is the ith part of the path as it may be shown: names where names stand,
// and keys of the format elsewhere.
func (p path) part(i int) name {
	switch {
	case i == 1 && slices.Contains(named, p[0]):
		return nameOf(p[i])
	case i == 3 && p[0] == "services" && p[2] == "environment", i == 4 && p[2] == "build" && p[3] == "args":
		if isIndex.MatchString(p[i]) {
			return name(p[i])
		}
		return keyName(p[i])
	case i == 3 && p[0] == "services" && (p[2] == "depends_on" || p[2] == "networks"):
		return nameOf(p[i])
	case i > 2 && slices.Contains(unlike, p[i-1]), !ofFormat.MatchString(p[i]) && !isIndex.MatchString(p[i]):
		return hidden
	}
	return name(p[i])
}
