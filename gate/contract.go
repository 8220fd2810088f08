package gate

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"slices"

	"github.com/startgate/startgate/envcheck"
)

// defaultContract is the contract file that applies, when it is there, without
// one being named.
var defaultContract = "/etc/startgate/contract.yaml"

// maxContractFile bounds what is read of a contract file; the language's own
// bound is lower.
const maxContractFile = 2 << 20

// loadContract reads the contract file that is named, or the usual one when it
// is there, or takes the built-in contract. A file that is named is never
// replaced by another contract.
func (l *line) loadContract() ([]envcheck.Diagnostic, int) {
	path := l.settings.Contract.Reveal()
	if path == "" {
		if _, err := os.Stat(defaultContract); err == nil {
			path = defaultContract
		}
	}
	if path == "" {
		s := l.settings
		l.contract = envcheck.Builtin(s.RedisKeys, s.Client, s.Require, s.KeyPrefix)
		return nil, ExitOK
	}
	c, faults, code := readContract(path)
	if code != ExitOK {
		l.contract.Name = "none"
		return faults, code
	}
	l.contract, l.fromFile = *c, true
	return nil, ExitOK
}

// readContract reads a contract file.
func readContract(path string) (*envcheck.Contract, []envcheck.Diagnostic, int) {
	text, reason := readFile(path, maxContractFile)
	switch reason {
	case "":
	case envcheck.TooLarge:
		return nil, []envcheck.Diagnostic{{Code: envcheck.ContractSyntax, Reason: reason}}, ExitContractMalformed
	default:
		return nil, []envcheck.Diagnostic{{Code: envcheck.ContractUnreadable, Reason: reason}}, ExitContractUnreadable
	}
	c, faults := envcheck.Load(bytes.NewReader(text))
	if c == nil {
		return nil, faults, ExitContractMalformed
	}
	return c, nil, ExitOK
}

// ContractActions are what [Gate.Contract] does, in the order of the help.
var ContractActions = [...]envcheck.Word{"lint", "docs", "example", "schema"}

// Contract does something with a contract file and nothing with the
// environment. file is its path, "" for the one that [Gate.Run] would take.
func (g *Gate) Contract(action, file string) int {
	s, faults := LoadSettings(g.Flags)
	l := &line{Gate: g, settings: s, report: report{w: g.Stderr, json: s.JSON}}
	if len(faults) > 0 {
		return l.report.fail(ExitEnvironment, faults...)
	}
	if action == "schema" {
		g.Stdout.Write(envcheck.Schema())
		return ExitOK
	}
	c, faults, code := readContract(cmp.Or(file, s.Contract.Reveal(), defaultContract))
	if code == ExitContractUnreadable {
		faults[0].Fix = "name a contract file that can be read: startgate contract " + envcheck.Word(action) + " FILE"
	}
	if code != ExitOK {
		return l.report.fail(code, faults...)
	}
	switch action {
	case "docs":
		io.WriteString(g.Stdout, c.Docs())
	case "example":
		io.WriteString(g.Stdout, c.Example())
	default:
		l.toStdout()
		l.result.say(envcheck.Diagnostic{
			Code: envcheck.ContractValid, Head: []envcheck.Field{envcheck.Is("contract", c.Name)},
			Fields: []envcheck.Field{
				envcheck.Int("declared", len(c.Keys)), envcheck.Int("rules", len(c.Rules)), envcheck.Int("waits", len(c.Waits)),
			},
		})
	}
	return ExitOK
}

// Explain writes the page of a code. What only a contract knows of it is told
// when there is one that can be read.
func (g *Gate) Explain(code string) bool {
	s, _ := LoadSettings(g.Flags)
	page, ok := envcheck.Explain(code)
	if c, _, exit := readContract(cmp.Or(s.Contract.Reveal(), defaultContract)); exit == ExitOK {
		page, ok = c.Explain(code)
	}
	if ok {
		io.WriteString(g.Stdout, page)
	}
	return ok
}

// applySettings takes the settings that the worker's own keys give, where no
// flag and no variable does.
func (l *line) applySettings(given []envcheck.Setting) (faults []envcheck.Diagnostic) {
	if len(given) == 0 {
		return nil
	}
	l.settings, faults = LoadSettings(l.Flags, given...)
	l.report.json, l.result.json = l.settings.JSON, l.settings.JSON
	if l.settings.JSON {
		l.report.screen, l.result.screen = nil, nil
	}
	// What flags and variables get wrong has been said.
	return slices.DeleteFunc(faults, func(d envcheck.Diagnostic) bool {
		return !slices.ContainsFunc(given, func(s envcheck.Setting) bool { return slices.Contains(d.Keys, s.Key) })
	})
}

// setBy says by which name each setting was set that has not its default.
func (l *line) setBy() []envcheck.Field {
	var text envcheck.Word
	for _, b := range l.settings.SetBy {
		if text != "" {
			text += ","
		}
		text += b.Setting + ":" + envcheck.Word(b.Name)
	}
	if text == "" || !l.fromFile {
		return nil
	}
	return []envcheck.Field{envcheck.Is("set_by", text)}
}

// sayFacts says of each key of a contract file what it was found to be.
func (l *line) sayFacts() {
	if !l.fromFile {
		return
	}
	for _, f := range l.judged.Facts {
		l.result.fact(f)
	}
}
