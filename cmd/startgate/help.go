package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"github.com/startgate/startgate/gate"
)

const overview = `startgate checks a worker's environment, waits until Redis is truly ready, and becomes the worker.

usage:
  startgate [run] [flags] -- WORKER ARG...   check, wait, become the worker
  startgate check [flags]                    judge the environment, connect nowhere
  startgate wait [flags]                     check and wait, start nothing
  startgate probe [flags] [WAIT...]          check and make one attempt
  startgate health [flags]                   is the worker's container well? 0 or 1
  startgate explain CODE                     what a code means and what to do
  startgate contract lint|docs|example|schema [FILE]
                                             check a contract file; print its table, its .env, its schema
  startgate version                          what this binary is
`

const verbsLine = `
check the environment · probe + one attempt · wait + until ready · health the worker container
`

const examples = `
examples:
  ENTRYPOINT ["/startgate", "--"]            in a Dockerfile; CMD stays the worker's own
  startgate --timeout 60 -- rq worker
`

// synopsis is the start of a verb's help.
func synopsis(verb string) string {
	switch verb {
	case "run":
		return "usage: startgate [run] [flags] -- WORKER ARG...\n\nCheck the environment, wait until Redis is ready, and become the worker: same PID, signals and exit code.\n"
	case "check":
		return "usage: startgate check [flags]\n\nJudge the environment by the contract and say what would be waited for. Connects nowhere.\n"
	case "wait":
		return "usage: startgate wait [flags]\n\nCheck, and wait until everything is ready. Starts nothing: for init containers and one-shot services.\n"
	case "probe":
		return "usage: startgate probe [flags] [WAIT...]\n\nCheck, and make one attempt at every wait or at those named. Does not wait.\n"
	case "health":
		return "usage: startgate health [--liveness|--readiness] [flags]\n\nSay in one line whether the container is well: exit 0 or 1. Readiness, the default, wants the worker to run, and what the contract's health asks for; liveness is content with a gate that waits, and asks nobody.\n"
	case "explain":
		return "usage: startgate explain CODE\n\nSay what a code means, why it happens and what to do.\n"
	}
	if verb == "contract" {
		return "usage: startgate contract [flags] lint|docs|example|schema [FILE]\n\nCheck a contract file; print its keys as a table, as an example .env file, or the JSON Schema of contracts.\n"
	}
	return "usage: startgate version\n\nSay what this binary is.\n"
}

// help is the text for -h of a verb, or of the program when verb is "".
func help(verb string) string {
	var b strings.Builder
	if verb == "" {
		b.WriteString(overview + verbsLine)
		verb = "run"
	} else {
		b.WriteString(synopsis(verb) + verbsLine)
	}
	if verb != "explain" && verb != "version" {
		writeSettings(&b)
	}
	if verb == "run" {
		b.WriteString(examples)
	}
	return b.String()
}

// writeSettings writes the table of settings.
func writeSettings(b *strings.Builder) {
	b.WriteString("\nflags, each also a variable: --start-jitter is STARTGATE_START_JITTER; the flag wins\n")
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, s := range gate.SettingInfos() {
		name := "--" + s.Name
		if !s.Flag {
			name = string(s.Variable)
		}
		fmt.Fprintf(w, "  %s\t%s", name, s.Doc)
		if s.Default != "" {
			fmt.Fprintf(w, " (default %s)", s.Default)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	b.WriteString("\nDurations are seconds, as in 300 or 0.5, or as in 5m30s.\n")
}

// version says what this binary is, as the Go build recorded it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "startgate, unknown build\n"
	}
	version, revision, cgo, redis := info.Main.Version, "unknown", "0", "unknown"
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "CGO_ENABLED":
			cgo = s.Value
		}
	}
	for _, d := range info.Deps {
		if d.Path == "github.com/redis/go-redis/v9" {
			redis = d.Version
		}
	}
	text := fmt.Sprintf("startgate %s\nrevision  %s\ngo        %s %s/%s\ngo-redis  %s\n",
		version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH, redis)
	if cgo != "0" {
		text += "cgo       on: a signal can be lost in the moment the worker starts; build with CGO_ENABLED=0\n"
	}
	return text
}
