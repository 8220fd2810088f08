package compose

import (
	"regexp"
	"strconv"
	"strings"
)

// maxGrown bounds how long texts may be together once their variables are
// replaced and their ranges of ports written out.
const maxGrown = 4 << 20

// checkGrowth refuses files that become many times as long. What stands in
// defaults counts as often as it is read.
func (s *stack) checkGrowth() {
	grown := 0
	s.index.root.scalars(nil, func(p path, w written) {
		if grown > maxGrown {
			return
		}
		if len(p) > 1 && p[len(p)-2] == "ports" {
			grown += 100 * rangeIn(w.value.Value)
		}
		for _, v := range variables(w.value.Value) {
			grown += len(s.environment[v.name]) + len(v.rest)
		}
		if grown > maxGrown {
			s.say(notCompose, w.Position, nil, "the files are longer than 4 MiB with their variables and ranges of ports written out")
		}
	})
}

var portRange = regexp.MustCompile(`(\d{1,5})-(\d{1,5})`)

// rangeIn is how many ports a text is for, at most.
func rangeIn(text string) int {
	most := 0
	for _, m := range portRange.FindAllStringSubmatch(text, -1) {
		first, _ := strconv.Atoi(m[1])
		last, _ := strconv.Atoi(m[2])
		most = max(most, last-first)
	}
	return most
}

// grows reports whether the variables of an env file, of which each may be made
// of those before it, become longer than that.
func grows(content []byte, outer environment) bool {
	sizes := map[string]int{}
	name, quote, all := "", "", 0
	for line := range strings.Lines(string(content)) {
		rest, size := line, sizes[name]
		if quote == "" {
			i := strings.IndexAny(line, "=:")
			if i < 0 {
				continue
			}
			name = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line[:i]), "export "))
			rest, size = strings.TrimSpace(line[i+1:]), 0
			if strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "'") {
				quote, rest = rest[:1], rest[1:]
			}
		}
		size += len(rest)
		for _, v := range variables(rest) {
			size += max(sizes[v.name], len(outer[v.name]))
		}
		sizes[name] = size
		if all += size; all > maxGrown {
			return true
		}
		if quote != "" && strings.Contains(strings.ReplaceAll(rest, `\`+quote, ""), quote) {
			quote = ""
		}
	}
	return false
}
