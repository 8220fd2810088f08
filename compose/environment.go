package compose

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/template"
	"go.yaml.in/yaml/v4"
)

// readEnvironment is what interpolation sees, as docker compose has it: the
// process's environment, and below it the .env file of the project directory,
// or the files that were given instead.
func (s *stack) readEnvironment() environment {
	env := environment{}
	for _, entry := range s.options.Environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			env[name] = value
		}
	}
	files := s.options.EnvFiles
	given := files != nil
	if !given {
		files = []string{filepath.Join(s.dir, ".env")}
	}
	outer := maps.Clone(env)
	for _, file := range files {
		content, reason := readFile(file)
		if reason != "" {
			if given {
				s.say(missingFile, Position{File: file}, nil, "the file "+phrase(reason)+": variables from it were not known")
			}
			continue
		}
		values, asked, ok := parseDotenv(content, outer)
		if !ok {
			s.say(notCompose, Position{File: file}, nil, "compose cannot read this file of variables")
		}
		s.sayAsked(asked, Position{File: file}, nil)
		for name, value := range values {
			if _, set := outer[name]; !set {
				env[name] = value
			}
		}
	}
	return env
}

// readIncluded reads what an include takes variables from: its env_file, or the
// .env of its directory. All files of a stack have one environment here, so that
// what two includes set to different values is not known. It reports whether
// compose-go's loader, which keeps to no bounds, may read the same.
func (s *stack) readIncluded(given *yaml.Node, home, dir string, asked Position) bool {
	var files []string
	for _, file := range listed(given) {
		if file.Value != os.DevNull {
			files = append(files, beside(file.Value, dir))
		}
	}
	if len(listed(given)) == 0 {
		files = append(files, filepath.Join(home, ".env"))
	}
	for _, file := range files {
		content, reason := readFile(file)
		switch {
		case len(listed(given)) == 0 && (reason == notFound || reason == directory):
			continue
		case strings.Contains(file, "$"):
			s.sayMissing(asked, "a variable names the env_file of this include: what it includes was not judged")
			return false
		case reason != "":
			s.sayMissing(asked, "the env_file of this include "+phrase(reason)+": what it includes was not judged")
			return false
		case s.opened == maxFiles:
			s.say(notCompose, asked, nil, tooManyFiles)
			return false
		}
		s.opened++
		values, without, ok := parseDotenv(content, s.environment)
		if !ok {
			s.say(notCompose, asked, nil, "compose cannot read the env_file of this include")
			return false
		}
		s.sayAsked(without, asked, nil)
		for name, value := range values {
			old, known := s.environment[name]
			switch {
			case strings.HasPrefix(name, "COMPOSE_"): // is for what is included alone
			case !known:
				s.environment[name], s.included[name] = value, true
			case s.included[name] && old != value:
				s.environment[name] = mark(name)
			}
		}
		// Those that have a value here have none in what the loader is given.
		_, required, _ := parseDotenv(content, nil)
		for _, name := range required {
			s.required[name] = mark(name)
		}
	}
	return true
}

// Variables are what an env file such as .env sets by itself, nil when it is not
// there or cannot be read.
func Variables(file string) map[string]string {
	content, reason := readFile(file)
	if reason != "" {
		return nil
	}
	values, asked, ok := parseDotenv(content, nil)
	if !ok || len(asked) > 0 {
		return nil
	}
	return values
}

// parseDotenv reads what compose's own dialect says. Its errors quote lines of
// the file and are dropped. asked are variables that the file asks for and that
// have no value: what is made of them is not known.
func parseDotenv(content []byte, env environment) (values map[string]string, asked []string, ok bool) {
	if grows(content, env) {
		return nil, nil, false
	}
	for {
		values, err := dotenv.ParseWithLookup(bytes.NewReader(content), func(name string) (string, bool) {
			if slices.Contains(asked, name) {
				return mark(name), true
			}
			value, ok := env[name]
			return value, ok
		})
		var missing *template.MissingRequiredError
		if !errors.As(err, &missing) || slices.Contains(asked, missing.Variable) ||
			len(asked)*len(content) > maxGrown { // each takes one more reading
			return values, asked, err == nil
		}
		asked = append(asked, missing.Variable)
	}
}

// sayAsked tells of variables that a file of variables asks for.
func (s *stack) sayAsked(asked []string, at Position, p path) {
	for _, variable := range asked {
		s.say(noValue, at, p, "%s, which an env file asks for, has no value here: what is made of it is not known", keyName(variable))
	}
}

// source says where a service's variable comes from. A later one beats an
// earlier one.
type source uint8

const (
	fromImage source = iota
	fromEnvFile
	fromEnvironment
)

// envVar is an environment variable of a service, as the container gets it.
type envVar struct {
	text
	name     string
	source   source
	node     node     // in environment, else the env_file entry
	position Position // where it is written
	// passed is a variable without a value, which compose takes from its own
	// environment and leaves out when it is unset there.
	passed bool
	// hides is the variable of an env_file that this one is taken instead of.
	hides *envVar
}

// set reports whether the container gets the variable with something in it.
func (v *envVar) set() bool { return v != nil && v.known && v.effective != "" }

// readVariables makes the service's environment: what its image is said to
// have, its env_files, and over them its environment.
func (v *service) readVariables() {
	v.variables = map[string]*envVar{}
	for name, value := range v.image.Env {
		v.variables[name] = &envVar{text: text{symbolic: value, effective: value, known: true}, name: name, source: fromImage, node: v.node, position: v.position()}
	}
	v.complete = true
	for _, entry := range v.at("env_file").each() {
		v.readEnvFile(entry)
	}
	for name, e := range v.written() {
		if old := v.variables[name]; old != nil && old.source == fromEnvFile {
			e.hides = old
		}
		v.variables[name] = e
	}
}

// written are the variables under environment, in its two spellings.
func (v *service) written() map[string]*envVar {
	env := v.at("environment")
	found := map[string]*envVar{}
	if m, ok := env.value.(map[string]any); ok {
		for name, value := range m {
			n := env.at(name)
			found[name] = &envVar{name: name, text: n.text(), passed: value == nil, node: n}
		}
	}
	items, _ := env.value.([]any)
	for _, item := range items {
		entry, _ := item.(string)
		name, value, valued := strings.Cut(entry, "=")
		// compose-go writes the values of an include's .env into its lists.
		if w, ok := v.stack.index.exact(env.path.with(name)); ok && w.key == nil && !strings.Contains(w.value.Value, "=") {
			valued, value = false, ""
		}
		n := node{stack: v.stack, path: env.path.with(name), value: value}
		found[name] = &envVar{name: name, text: v.stack.environment.interpolate(value), passed: !valued, node: n}
	}
	for name, e := range found {
		e.source, e.position = fromEnvironment, e.node.position()
		if !e.passed {
			continue
		}
		value, set := v.stack.environment[name]
		e.text = text{effective: value, known: set && !marked(value)}
	}
	return found
}

// readEnvFile reads one entry of env_file. What a required file that is absent
// would hold is not known.
func (v *service) readEnvFile(entry node) {
	if v.stack.variables > maxNodes {
		v.complete = false
		return
	}
	name := entry.at("path").text()
	required, known := entry.at("required").truth()
	required = required || !known || !entry.has("required")
	file := beside(name.effective, v.stack.dir)
	content, reason := readFile(file)
	if reason == notFound && required && v.stack.options.EnvFileStub != "" {
		file = v.stack.options.EnvFileStub
		content, reason = readFile(file)
	}
	switch {
	case name.known && reason == notFound && !required:
		return
	case !name.known || reason == notFound || reason == notAllowed:
		v.complete = false
		v.stack.say(absentEnvFile, entry.position(), entry.path, "an env_file of %s is not here: what it would set is not known", nameOf(v.name))
		return
	case reason != "":
		v.complete = false
		v.stack.say(missingFile, entry.position(), entry.path, "the env_file "+phrase(reason)+": what it holds was not judged")
		return
	}
	values, ok := rawVariables(content), true
	if entry.at("format").text().effective != "raw" {
		var asked []string
		values, asked, ok = parseDotenv(content, v.stack.environment.marking(content))
		v.stack.sayAsked(asked, entry.position(), entry.path)
	}
	if !ok {
		v.complete = false
		v.stack.say(notCompose, entry.position(), entry.path, "compose cannot read this env_file")
		return
	}
	// A name that a variable decides would be a value.
	shown := len(name.variables) == 0
	if shown {
		v.stack.texts[file] = content
	}
	if v.stack.variables += len(values); v.stack.variables > maxNodes {
		v.complete = false
		v.stack.say(notCompose, entry.position(), entry.path, "with this env_file the stack has more than 50,000 variables")
		return
	}
	lines := linesOf(content)
	for key, value := range values {
		e := &envVar{text: text{symbolic: value, effective: value, known: !marked(value)}, name: key, source: fromEnvFile, node: entry, position: entry.position()}
		if line, known := lines[key]; shown && known {
			e.position = Position{File: file, Line: line, Column: 1}
		} else if shown {
			e.position = Position{File: file}
		}
		v.variables[key] = e
	}
}

// rawVariables reads lines as they stand, which is what format: raw means.
func rawVariables(content []byte) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(string(content)) {
		line = strings.TrimRight(line, "\r\n")
		name, value, ok := strings.Cut(line, "=")
		if ok && name != "" && !strings.HasPrefix(name, "#") {
			values[name] = value
		}
	}
	return values
}

// exported is what may stand before the name of a variable (compose-go, dotenv).
var exported = regexp.MustCompile(`^\s*(export\s+)?`)

// linesOf are the lines of an env file that set its variables, the last one of
// each.
func linesOf(content []byte) map[string]int {
	n, found := 0, map[string]int{}
	for line := range strings.Lines(strings.TrimPrefix(string(content), "\ufeff")) {
		n++
		name := exported.ReplaceAllString(line, "")
		if i := strings.IndexAny(name, "= :\t"); i > 0 {
			found[name[:i]] = n
		}
	}
	return found
}
