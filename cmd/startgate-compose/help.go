package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/startgate/startgate/compose"
)

const overview = `startgate-compose judges compose files by the contract of the workers in them. It asks no engine and prints no value.

usage:
  startgate-compose check [flags]           judge the files
  startgate-compose --list-rules            what is looked for
  startgate-compose explain SGnnn           what a rule finds, why that matters and what to do
  startgate-compose version                 what this binary is

exit: 0 nothing found · 1 findings · 2 something could not be judged
`

const checkHelp = `usage: startgate-compose check [flags]

Judge compose files, as docker compose -f takes them. Without -f they are the stacks of startgate.compose.yaml, or what
docker compose would take by itself: COMPOSE_FILE, or compose.yaml and its override.

  -f, --file FILE           one of the files, again for each; - is the standard input
      --config FILE         what the files do not say (default startgate.compose.yaml when it exists)
      --contract FILE       the contract of the workers, as the gate reads it
      --format FORMAT       text, json, sarif, junit or github; FORMAT=FILE writes it to a file; again for each
      --fail-on SEVERITY    the least that makes the exit code 1: error, warning or info (default warning)
  -q, --quiet               leave out remarks and the last line of the text
      --allow-partial       judge the rest of a stack of which a file is missing
      --env-file FILE       variables for the files, in place of .env; again for each
      --env-file-stub FILE  read in place of each env_file that is not here
      --list-rules          list what is looked for; with --format json for programs

exit: 0 nothing found · 1 findings · 2 something could not be judged

examples:
  startgate-compose check -f compose.yaml -f compose.prod.yaml --contract contract.yaml
  startgate-compose check --format github --format sarif=compose.sarif
`

// help is the text for -h of a command, or of the program when verb is "".
func help(verb string) string {
	switch verb {
	case "check":
		return checkHelp
	case "explain":
		return "usage: startgate-compose explain SGnnn\n\nSay what a rule finds, why that matters and what to do. --list-rules lists the rules.\n"
	case "version":
		return "usage: startgate-compose version\n\nSay what this binary is.\n"
	}
	return overview
}

// listRules lists what is looked for.
func (p program) listRules(c command) int {
	if c.outputs[0].format == "json" {
		text, err := json.MarshalIndent(compose.Rules(), "", "  ")
		if err != nil {
			panic(err)
		}
		return p.print(string(text) + "\n")
	}
	var b strings.Builder
	for _, r := range compose.Rules() {
		fmt.Fprintf(&b, "%s  %-8s %s\n", r.ID, r.Severity, r.Title)
	}
	return p.print(b.String())
}

// version is that of the program, as the Go build recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}

func versions() string {
	revision, composeGo := "unknown", "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
		for _, d := range info.Deps {
			if d.Path == "github.com/compose-spec/compose-go/v2" {
				composeGo = d.Version
			}
		}
	}
	return fmt.Sprintf("startgate-compose %s\nrevision    %s\ngo          %s %s/%s\ncompose-go  %s\n",
		version(), revision, runtime.Version(), runtime.GOOS, runtime.GOARCH, composeGo)
}
