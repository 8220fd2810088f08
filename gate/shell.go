package gate

import (
	"path"
	"strings"
)

// isShellCommand reports whether argv is a shell with -c, as a shell-form CMD
// is, be it among other options as in -euo pipefail -c. The gate can then judge
// the shell only, and a shell passes no signals on.
func isShellCommand(argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	switch path.Base(argv[0]) {
	case "sh", "bash", "dash", "ash":
	default:
		return false
	}
	for i := 1; i < len(argv); i++ {
		option := argv[i]
		switch {
		case len(option) < 2, option == "--", option[0] != '-' && option[0] != '+':
			return false // a script, or standard input
		case strings.HasPrefix(option, "--"):
		case option[0] == '-' && strings.Contains(option, "c"):
			return true
		case strings.HasSuffix(option, "o"), strings.HasSuffix(option, "O"):
			i++ // -o and -O take a name
		}
	}
	return false
}
