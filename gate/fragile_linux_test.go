package gate

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

func TestPreflightPassesWhatExecveRuns(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		want       []envcheck.Reason
	}{
		{"program", elfFile{}.String(), nil},
		{"linked program", elfFile{interp: firstLoader(t) + "\x00"}.String(), nil},
		{"script", "#!/bin/sh\n", nil},
		{"script without line end", "#!/bin/sh", nil},
		{"blanks", "#! \t/bin/sh \t-e \t\n", nil},
		{"interpreter ends at a NUL", "#!/bin/sh\x00junk\n", nil},
		{"long argument", "#!/bin/sh " + fmt.Sprintf("%0300d", 0) + "\n", nil},
		{"env", "#!/usr/bin/env sh\n", nil},
		{"env -S", "#!/usr/bin/env -S sh -e\n", nil},
		{"env with an option", "#!/usr/bin/env -i no-such-program\n", nil},
		{"env with a variable", "#!/usr/bin/env A=1 no-such-program\n", nil},
		{"env by path", "#!/usr/bin/env /bin/sh\n", nil},

		{"env without its program", "#!/usr/bin/env no-such-program\n", []envcheck.Reason{envcheck.EnvInterpreterMissing}},
		{"env -S without its program", "#!/usr/bin/env -S no-such-program -u\n", []envcheck.Reason{envcheck.EnvInterpreterMissing}},
		{"env takes all as one name", "#!/usr/bin/env sh -e\n", []envcheck.Reason{envcheck.EnvInterpreterMissing}},
		{"env and CRLF", "#!/usr/bin/env sh\r\n", []envcheck.Reason{envcheck.ShebangCRLF}},
		{"option and CRLF", "#!/bin/sh -e\r\n", []envcheck.Reason{envcheck.ShebangCRLF}},
		{"half a program", elfFile{kind: 3, filesz: 1 << 20}.String(), []envcheck.Reason{envcheck.Truncated}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := makeFile(t, tt.file)
			if errno := tryExec(path); errno != 0 {
				t.Fatalf("the kernel says %v", errno)
			}
			got, fragile := preflight(path, defaultPath)
			if got != (refusal{}) || !slices.Equal(fragile, tt.want) {
				t.Errorf("got %v %v, want %v", got, fragile, tt.want)
			}
			_, warnings, fault := lookUp(t.Context(), path, []string{"PATH=" + defaultPath})
			if fault != nil || len(warnings) != len(tt.want) {
				t.Fatalf("got %v %v", warnings, fault)
			}
			for _, w := range warnings {
				if w.Code != envcheck.ExecFragile || w.Reason != tt.want[0] || w.Exit != 0 {
					t.Errorf("got %+v", w)
				}
			}
		})
	}
}

// firstLoader is the loader of this machine's own programs.
func firstLoader(t *testing.T) string {
	t.Helper()
	f, err := openFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	image, _ := readELF(f)
	if image.loader == "" {
		return "/bin/sh" // it is static, and as good a loader as any
	}
	return image.loader
}

func TestPreflightFollowsFiveScripts(t *testing.T) {
	path := makeFile(t, scriptChain(maxNesting, ""))
	if got, _ := preflight(path, ""); got != (refusal{}) || tryExec(path) != 0 {
		t.Errorf("got %v, the kernel says %v", got, tryExec(path))
	}
}

// A script that env is to run by its own name would be looked up for ever.
func TestPreflightEndsWhereEnvLeadsBack(t *testing.T) {
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "worker"), "#!/usr/bin/env worker\n", 0o755)
	if got, fragile := preflight(path, dir); got != (refusal{}) || fragile != nil {
		t.Errorf("got %v %v", got, fragile)
	}
}
