package gate

import (
	"strings"
	"testing"
)

func TestShellWorkerWarns(t *testing.T) {
	for command, want := range map[string]bool{
		"sh -c worker":                        true,
		"/bin/sh -c worker":                   true,
		"/usr/bin/bash -lc worker":            true,
		"dash -ec worker":                     true,
		"ash -c worker":                       true,
		"bash -euo pipefail -c worker":        true,
		"bash --noprofile --norc -c worker":   true,
		"bash -O extglob +e -c worker":        true,
		"sh":                                  false,
		"sh -e worker.sh -c":                  false,
		"sh -- -c":                            false,
		"sh -":                                false,
		"bash --rcfile":                       false,
		"worker -c x":                         false,
		"/opt/sh/worker -c":                   false,
		"python -c pass":                      false,
		"":                                    false,
		"bash worker.sh --config -c file.yml": false,
	} {
		if got := isShellCommand(strings.Fields(command)); got != want {
			t.Errorf("%s: got %v, want %v", command, got, want)
		}
	}
}
