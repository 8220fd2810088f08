package compose

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/startgate/startgate/envcheck"
)

// passedKey looks for variables that are not there when they are unset where
// compose runs. Those that the contract has no need of may be.
func passedKey(c *check, v *service) {
	for _, name := range v.variableNames() {
		e := v.variables[name]
		if !e.passed || e.known || e.hides != nil || v.declared(name) != nil {
			continue
		}
		found := c.sayOf(v, e, "%s has no value here: it is left out when it is unset where compose runs", keyName(name))
		if e.inList() {
			found.as(Info) // that is what this form is for
		} else {
			found.fixed(`write "" for an empty value, or ${%s:?what to set}`, keyName(name))
		}
	}
}

// inList reports whether a variable is written as an item of a list.
func (e *envVar) inList() bool {
	w, ok := e.node.stack.index.exact(e.node.path)
	return ok && e.source == fromEnvironment && w.key == nil
}

// quoted reports whether a variable's quotes are a part of its value, since
// they stand inside an item of a list.
func (e *envVar) quoted() bool {
	s := e.effective
	if len(s) < 2 || s[0] != '"' && s[0] != '\'' || s[len(s)-1] != s[0] {
		return false
	}
	return !strings.ContainsRune(s[1:len(s)-1], rune(s[0])) && e.inList()
}

func listQuotes(c *check, v *service) {
	told := map[*envVar]bool{}
	c.faultsOf(v, func(f fault) {
		told[f.variable] = true
		c.sayFault(v, f, "the quotes are a part of the value of %s", keyName(f.variable.name))
	})
	for _, name := range v.variableNames() {
		if e := v.variables[name]; e.quoted() && !told[e] {
			c.sayOf(v, e, "the quotes are a part of the value of %s", keyName(name))
		}
	}
}

// foreignVariable looks for variables that only an env_file of the service
// has, and that the compose file uses. Command lines are not its matter: there
// the container may be meant to put the variable in.
func foreignVariable(c *check, v *service) {
	var visit func(n node)
	visit = func(n node) {
		if !n.isText() {
			for _, below := range n.each() {
				visit(below)
			}
			return
		}
		if text, ok := n.value.(string); ok && strings.Contains(text, "$") {
			c.foreign(v, n, variables(text))
		}
	}
	for _, name := range v.names() {
		switch name {
		case "entrypoint", "command", "healthcheck", "environment":
		default:
			visit(v.at(name))
		}
	}
	for _, name := range v.variableNames() {
		if e := v.variables[name]; e.source == fromEnvironment {
			c.foreign(v, e.node, e.variables)
		}
	}
}

func (c *check) foreign(v *service, n node, used []variable) {
	key := n.path[len(n.path)-1]
	for _, u := range used {
		if _, set := c.environment[u.name]; set || u.form == ifSet || u.form == ifNotBlank {
			continue
		}
		inFile := v.variables[u.name]
		if inFile != nil && inFile.source == fromEnvironment {
			inFile = inFile.hides
		}
		if !inFile.set() || inFile.source != fromEnvFile || key == u.name && v.declared(key) != nil && u.form == bare {
			continue
		}
		found := c.say(n, "%s is in an env_file of %s, which compose does not take variables of its files from", keyName(u.name), nameOf(v.name))
		if u.form == orDefault || u.form == orDefaultAny {
			found.as(Warn) // the default may be meant
		}
	}
}

// retyped looks for values that YAML takes for numbers or dates and writes in
// another way.
func retyped(c *check, v *service) {
	for _, name := range v.variableNames() {
		e := v.variables[name]
		if e.source != fromEnvironment || e.passed {
			continue
		}
		w, ok := c.index.exact(e.node.path)
		if !ok || w.key == nil || w.value.Kind != yaml.ScalarNode || w.value.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			continue
		}
		switch w.value.Tag {
		case "!!int", "!!float", "!!timestamp", "!!bool":
			if e.effective != w.value.Value {
				c.sayOf(v, e, "%s does not arrive as it is written: YAML reads it as a number, a date or a bool", keyName(name))
			}
		}
	}
}

// secretWords are in the names of variables that hold secrets.
var secretWords = []string{"PASSWORD", "PASSWD", "SECRET", "TOKEN", "API_KEY", "PRIVATE_KEY", "CREDENTIAL"}

// bothSources looks for a secret that is given twice.
func bothSources(c *check, v *service) {
	c.faultsOf(v, func(f fault) { c.tell(v, f) })
	for _, name := range v.variableNames() {
		file := v.variables[name]
		stem, ok := strings.CutSuffix(name, "_FILE")
		e := v.variables[stem]
		if !ok || !e.set() || file.known && (file.effective == "" || file.effective == "/dev/null") || file.passed && !file.known {
			continue
		}
		k := v.declared(stem)
		secret := slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(stem, w) })
		if k != nil && k.File {
			f := fault{Diagnostic: envcheck.Diagnostic{Code: envcheck.SecretSourceConflict}, variable: file}
			c.sayFault(v, f, "%s and %s are both set, which the gate refuses", keyName(stem), keyName(name))
		} else if k == nil && (secret || inSecrets(file.effective)) {
			c.sayOf(v, file, "%s and %s are both set: which one counts is up to the program", keyName(stem), keyName(name))
		}
	}
}

// secretsDir is where compose mounts secrets.
const secretsDir = "/run/secrets"

func inSecrets(path string) bool {
	return strings.HasPrefix(strings.TrimPrefix(path, "/var"), secretsDir+"/")
}

// noSecret looks for paths of secrets that the service does not have. Of other
// paths the image decides.
func noSecret(c *check, v *service) {
	for _, name := range v.variableNames() {
		e := v.variables[name]
		if strings.HasSuffix(name, "_FILE") && e.set() && inSecrets(e.effective) && e.source != fromImage && !v.mounts(e.effective) {
			c.sayOf(v, e, "%s names a file that no secret or volume of %s brings", keyName(name), nameOf(v.name))
		}
	}
}

// mounts reports whether something of the service is, or may be, mounted at
// the path or above it.
func (v *service) mounts(file string) bool {
	file = strings.TrimPrefix(file, "/var")
	if v.at("volumes_from").exists() {
		return true
	}
	var targets []string
	add := func(t text) {
		targets = append(targets, t.effective)
	}
	for _, s := range v.at("secrets").each() {
		target := s.at("target").text()
		switch {
		case s.isText():
			target = s.text()
		case target.effective == "":
			target = s.at("source").text()
		}
		if !strings.HasPrefix(target.effective, "/") {
			target.effective = secretsDir + "/" + target.effective
		}
		add(target)
	}
	for _, list := range [...]string{"volumes", "configs"} {
		for _, m := range v.at(list).each() {
			if m.isText() {
				for part := range strings.SplitSeq(m.text().effective, ":") {
					targets = append(targets, part)
				}
				continue
			}
			add(m.at("target").text())
		}
	}
	for _, t := range v.at("tmpfs").texts() {
		add(t)
	}
	return slices.ContainsFunc(targets, func(t string) bool {
		t = strings.TrimSuffix(strings.TrimPrefix(t, "/var"), "/")
		return marked(t) || t != "" && (file == t || strings.HasPrefix(file, t+"/"))
	})
}
