package main

import (
	"context"
	"errors"
	"os"

	"github.com/startgate/startgate/compose"
)

// check judges the files that the command line names, or else the
// configuration, or else docker compose's rules.
func (p program) check(ctx context.Context, c command) int {
	r, err := p.report(ctx, c)
	switch {
	case errors.Is(err, compose.ErrNoFiles):
		return p.fail("usage", "there is no compose file here; type startgate-compose check -f FILE")
	case err != nil:
		return p.fail("internal", "the check was ended")
	}
	for _, o := range c.outputs {
		if !p.write(o, r, c) {
			return p.fail("output", "what --format "+sentence(o.format)+" asks for cannot be written")
		}
	}
	switch {
	case r.Unjudged():
		return exitUnjudged
	case r.Failed(c.failOn):
		return exitFound
	}
	return exitClean
}

// report is what is found. Without a configuration or a contract that was asked
// for nothing is judged.
func (p program) report(ctx context.Context, c command) (compose.Report, error) {
	o := compose.Options{
		Environ: p.environ, EnvFiles: c.envFiles, EnvFileStub: c.stub, AllowPartial: c.partial, Stdin: p.stdin,
	}
	if o.EnvFiles == nil {
		o.EnvFiles = p.envFiles()
	}
	var faults, more []compose.Finding
	if c.config == "" && exists(compose.ConfigName) {
		c.config = compose.ConfigName
	}
	if c.config != "" {
		o.Config, faults = compose.LoadConfig(c.config)
	}
	if c.contract != "" {
		o.Contract, more = compose.LoadContract(c.contract)
	}
	if faults = append(faults, more...); len(faults) > 0 {
		return compose.Report{Findings: faults, Files: c.files}, nil
	}
	if len(c.files) == 0 && (o.Config == nil || len(o.Config.Stacks) == 0) {
		c.files = p.defaultFiles()
	}
	return compose.Check(ctx, c.files, o)
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}
