package compose

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"

	"github.com/startgate/startgate/envcheck"
)

// Options say what files are judged by. The zero value judges them by
// themselves.
type Options struct {
	// Contract is that of every worker, unless Config names another one.
	// Without any, only the rules that need none apply.
	Contract *envcheck.Contract
	// Config is what startgate.compose.yaml says, see [LoadConfig]. nil says
	// nothing.
	Config *Config
	// Environ is what variables of the files are replaced by, as NAME=VALUE,
	// before .env files.
	Environ []string
	// EnvFiles are read instead of the project's .env.
	EnvFiles []string
	// EnvFileStub is read in place of each env_file of a service that is not
	// there, as in a checkout without secrets.
	EnvFileStub string
	// AllowPartial judges what is there of a stack of which a file is missing.
	AllowPartial bool
	// Stdin is what the file "-" holds. nil leaves that an ordinary name.
	Stdin     io.Reader
	contracts map[string]*envcheck.Contract // of single services, by file
}

// ErrNoFiles is that there is nothing to check.
var ErrNoFiles = errors.New("compose: no files")

// Check judges the stack that the files make together, as docker compose -f
// takes them, or without files each stack of the configuration.
//
// Everything that is wrong with the files is a finding. The error is
// [ErrNoFiles] or the context's.
func Check(ctx context.Context, files []string, o Options) (Report, error) {
	if o.Config == nil {
		o.Config = &Config{}
	}
	var r Report
	r.Findings = o.loadContracts()
	type one struct {
		name  string
		files []string
	}
	stacks := []one{{o.Config.stackOf(files), files}}
	if len(files) == 0 {
		stacks = nil
		for _, name := range sortedKeys(o.Config.Stacks) {
			var paths []string
			for _, f := range o.Config.Stacks[name].Files {
				paths = append(paths, o.Config.beside(f))
			}
			stacks = append(stacks, one{name, paths})
		}
	}
	if len(stacks) == 0 {
		return r, ErrNoFiles
	}
	used := newSuppressions(o.Config)
	var judged []*stack
	for _, each := range stacks {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		s := load(ctx, each.name, each.files, &o)
		r.Cases = append(r.Cases, s.run()...)
		judged = append(judged, s)
		used.apply(s)
		r.Findings = append(r.Findings, s.findings...)
		for _, f := range each.files {
			if !slices.Contains(r.Files, f) {
				r.Files = append(r.Files, f)
			}
		}
	}
	gone := &stack{findings: goneServices(o.Config, judged, len(files) == 0)}
	used.apply(gone)
	r.Findings = append(r.Findings, gone.findings...)
	r.Findings = append(r.Findings, used.unused()...)
	r.sort()
	return r, ctx.Err()
}

// stackOf is the name of the stack that the files are, "" when they are none of
// the configuration.
func (c *Config) stackOf(files []string) string {
	for _, name := range sortedKeys(c.Stacks) {
		same := func(given, configured string) bool {
			return filepath.Clean(given) == filepath.Clean(c.beside(configured))
		}
		if slices.EqualFunc(files, c.Stacks[name].Files, same) {
			return name
		}
	}
	return ""
}

// beside is a file that the configuration names.
func (c *Config) beside(file string) string {
	return beside(file, filepath.Dir(c.Source))
}

// loadContracts reads the contracts that the configuration names.
func (o *Options) loadContracts() []Finding {
	files := []string{}
	if o.Contract == nil && o.Config.Contract != "" {
		files = append(files, o.Config.Contract)
	}
	for _, name := range sortedKeys(o.Config.Services) {
		if f := o.Config.Services[name].Contract; f != "" && !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	o.contracts = map[string]*envcheck.Contract{}
	var found []Finding
	for _, f := range files {
		c, faults := LoadContract(o.Config.beside(f))
		found = append(found, faults...)
		o.contracts[f] = c
	}
	if o.Contract == nil {
		o.Contract = o.contracts[o.Config.Contract]
	}
	return found
}

// LoadContract reads a contract file. That it cannot be used is a finding.
func LoadContract(file string) (*envcheck.Contract, []Finding) {
	s := &stack{files: []string{file}, index: newIndex()}
	content, reason := readFile(file)
	if reason != "" {
		s.say(missingFile, Position{File: file}, nil, "the contract "+phrase(reason))
		return nil, s.findings
	}
	c, faults := envcheck.Load(bytes.NewReader(content))
	if len(faults) > 0 {
		s.say(badConfig, Position{File: file}, nil, "the contract is malformed: startgate contract lint says where")
		return nil, s.findings
	}
	return c, nil
}
