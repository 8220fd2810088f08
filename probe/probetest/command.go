package probetest

import "strings"

// flags of a command, as far as Redis's checks look at them.
type flags uint8

const (
	fWrite    flags = 1 << iota // changes data
	fDenyOOM                    // needs memory
	fLoading                    // allowed while loading
	fStale                      // allowed without a link to the master
	fBusy                       // allowed while a script runs for too long
	fNoAuth                     // allowed before authentication
	fPause                      // held back by a pause of writes
	fSentinel                   // known to a sentinel
)

// A handler returns the encoded answer to a command that passed every check.
type handler func(c *conn, b *Behaviour, args []string) string

// A command has arguments at least min in number and, unless open is set, at
// most min.
type command struct {
	min   int
	open  bool
	flags flags
	run   handler
}

// lookup returns the command of that name, in capitals, for a server in mode m.
func lookup(name string, m Mode) (command, bool) {
	const (
		always = fLoading | fStale | fBusy | fNoAuth | fSentinel
		admin  = fLoading | fStale | fSentinel
		write  = fWrite | fDenyOOM | fPause
	)
	var c command
	switch name {
	case "AUTH":
		c = command{1, true, always, auth}
	case "CLIENT":
		c = command{1, true, admin, client}
	case "CLUSTER":
		c = command{1, true, fStale, cluster}
	case "ECHO":
		c = command{1, false, fLoading | fStale, echo}
	case "EVAL":
		c = command{2, true, fPause, eval}
	case "EXISTS", "LLEN":
		c = command{1, name == "EXISTS", 0, zero}
	case "GET":
		c = command{1, false, 0, get}
	case "HELLO":
		c = command{0, true, always, hello}
	case "INFO":
		c = command{0, true, admin, info}
	case "LPUSHX", "RPUSHX":
		c = command{2, true, write, zero}
	case "PING":
		c = command{0, true, fSentinel, ping}
	case "QUIT":
		c = command{0, true, always &^ fSentinel, quit}
	case "RESET":
		c = command{0, false, always, reset}
	case "ROLE":
		c = command{0, false, admin, role}
	case "SELECT":
		c = command{1, false, fLoading | fStale, selectDB}
	case "SENTINEL":
		c = command{1, true, admin, sentinel}
	case "SUBSCRIBE":
		c = command{1, true, admin, subscribe}
	default:
		return command{}, false
	}
	if m == Sentinel && c.flags&fSentinel == 0 || m != Sentinel && name == "SENTINEL" {
		return command{}, false
	}
	return c, true
}

// execute returns the server's own answer, or an error when there is to be
// none. The checks and their order are those of processCommand in Redis 7.0.
func (c *conn) execute(b *Behaviour, args []string) (string, error) {
	name := strings.ToUpper(args[0])
	cmd, known := lookup(name, b.mode())
	if !known {
		return unknownCommand(args), nil
	}
	if n := len(args) - 1; n < cmd.min || n > cmd.min && !cmd.open {
		return wrongArity(name), nil
	}
	may := func(f flags) bool { return cmd.flags&f != 0 }
	switch {
	case b.Password != "" && !c.authed && !may(fNoAuth):
		return errorLine(textNoAuth), nil
	case b.OOM && may(fDenyOOM):
		return errorLine(textOOM), nil
	case b.Misconf && (may(fWrite) || name == "PING"):
		return errorLine(textMisconf), nil
	case b.NoReplicas && may(fWrite) && !b.replica():
		return errorLine(textNoReplicas), nil
	case b.replica() && may(fWrite):
		return errorLine(textReadOnly), nil
	case b.MasterDown && !may(fStale):
		return errorLine(textMasterDown), nil
	case b.blocksWhileLoading() && !may(fLoading):
		return errorLine(textLoading), nil
	case b.Busy && !may(fBusy):
		return errorLine(textBusy), nil
	case b.WritePause && may(fPause):
		return "", errSilence
	}
	return cmd.run(c, b, args), nil
}

func (b *Behaviour) blocksWhileLoading() bool {
	l := b.loading()
	return l != nil && !l.Async
}
