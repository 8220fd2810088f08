package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// textLine is the grammar of a line of text. It is printable ASCII all over: a
// value that gets into it can neither end it nor speak to the terminal.
var textLine = regexp.MustCompile(`^startgate: (?:error|warn |info ) ([a-z0-9_]+)((?: [a-z_]+=[!-~]*)*)(?:: [ -~]+)?$`)

// jsonLine is what every line of JSON has.
type jsonLine struct {
	V                   int
	Time                time.Time
	Level, Code, Reason string
}

// A printed line, as far as the suite cares.
type printed struct{ code, reason string }

// parseLine reads a line that startgate has printed.
func parseLine(line []byte) (p printed, ok bool) {
	if m := textLine.FindSubmatch(line); m != nil {
		p.code = string(m[1])
		for field := range strings.FieldsSeq(string(m[2])) {
			if reason, ok := strings.CutPrefix(field, "reason="); ok {
				p.reason = reason
			}
		}
		return p, true
	}
	var l jsonLine
	if json.Unmarshal(line, &l) != nil || l.V != envcheck.SchemaVersion || l.Time.IsZero() || l.Level == "" || l.Code == "" {
		return p, false
	}
	return printed{l.Code, l.Reason}, true
}

// linesOf lists what a process has printed, in the order in which it came.
func linesOf(out output) (all []printed) {
	for _, s := range out.streams() {
		for line := range bytes.Lines(s.text) {
			if p, ok := parseLine(bytes.TrimSuffix(line, []byte("\n"))); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// grammarFaults finds lines that startgate does not write. Stdout also has help,
// pages, tables and the schema, which are text of any form.
func grammarFaults(out output) (faults []string) {
	for _, s := range [...]stream{{"stderr", out.stderr}, {"stdout", out.stdout}} {
		odd, first := 0, 0
		for i, line := range bytes.Split(bytes.TrimSuffix(s.text, []byte("\n")), []byte("\n")) {
			ours := s.name == "stderr" || bytes.HasPrefix(line, []byte("startgate: ")) || bytes.HasPrefix(line, []byte(`{"`))
			if _, ok := parseLine(line); ours && !ok && len(s.text) > 0 {
				odd++
				first = cmp.Or(first, i+1)
			}
		}
		if odd > 0 {
			faults = append(faults, fmt.Sprintf("%d lines of %s are not in the grammar, line %d the first", odd, s.name, first))
		}
	}
	return faults
}

// codesIn lists the codes of a process's lines, each once.
func codesIn(out output) (codes []string) {
	for _, p := range linesOf(out) {
		if !slices.Contains(codes, p.code) {
			codes = append(codes, p.code)
		}
	}
	return codes
}

// seen are the codes and the reasons that processes have printed.
var seen struct {
	sync.Mutex
	codes, reasons map[string]bool
}

// reached notes what a process has printed.
func reached(out output) {
	seen.Lock()
	defer seen.Unlock()
	if seen.codes == nil {
		seen.codes, seen.reasons = map[string]bool{}, map[string]bool{}
	}
	for _, p := range linesOf(out) {
		seen.codes[p.code], seen.reasons[p.reason] = true, true
	}
}

// unreached lists the codes of the catalogue that no process has printed.
func unreached() (missed []envcheck.Code) {
	seen.Lock()
	defer seen.Unlock()
	for _, code := range envcheck.Codes() {
		if !seen.codes[string(code)] {
			missed = append(missed, code)
		}
	}
	return missed
}

// unreachedReasons lists those of the reasons that no process has printed.
func unreachedReasons(reasons []envcheck.Reason) (missed []envcheck.Reason) {
	seen.Lock()
	defer seen.Unlock()
	for _, reason := range reasons {
		if !seen.reasons[string(reason)] {
			missed = append(missed, reason)
		}
	}
	return missed
}
