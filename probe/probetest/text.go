package probetest

import (
	"fmt"
	"strings"
)

// The error texts of Redis 7.0.15, without the leading "-".
const (
	textNoAuth      = "NOAUTH Authentication required."
	textNoAuthHello = "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time"
	textWrongPass   = "WRONGPASS invalid username-password pair or user is disabled."
	textNoPassword  = "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"
	textOOM         = "OOM command not allowed when used memory > 'maxmemory'."
	textMisconf     = "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the data set are disabled, because this instance is configured to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB error."
	textNoReplicas  = "NOREPLICAS Not enough good replicas to write."
	textReadOnly    = "READONLY You can't write against a read only replica."
	textMasterDown  = "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
	textLoading     = "LOADING Redis is loading the dataset in memory"
	textBusy        = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
	textDBIndex     = "ERR DB index is out of range"
	textDBCluster   = "ERR SELECT is not allowed in cluster mode"
	textNotInteger  = "ERR value is not an integer or out of range"
	textNotInt32    = "ERR value is out of range, value must between -2147483648 and 2147483647"
	textProtoInt    = "ERR Protocol version is not an integer or out of range"
	textNoProto     = "NOPROTO unsupported protocol version"
	textSyntax      = "ERR syntax error"
	textClientName  = "ERR Client names cannot contain spaces, newlines or special characters."
	textNoCluster   = "ERR This instance has cluster support disabled"
)

// Banners, for Behaviour.Banner. Redis closes the connection after its own two,
// and so does the HTTP server (AcceptClose); the others go on to wait for the
// client (AcceptSilent).
const (
	ProtectedModeBanner = "-DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user. In this mode connections are only accepted from the loopback interface. If you want to connect from external computers to Redis you may adopt one of the following solutions: 1) Just disable protected mode sending the command 'CONFIG SET protected-mode no' from the loopback interface by connecting to Redis from the same host the server is running, however MAKE SURE Redis is not publicly accessible from internet if you do so. Use CONFIG REWRITE to make this change permanent. 2) Alternatively you can just disable the protected mode by editing the Redis configuration file, and setting the protected mode option to 'no', and then restarting the server. 3) If you started the server manually just for testing, restart it with the '--protected-mode no' option. 4) Setup a an authentication password for the default user. NOTE: You only need to do one of the above things in order for the server to start accepting connections from the outside.\r\n"
	MaxClientsBanner    = "-ERR max number of clients reached\r\n"

	HTTPBanner = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
	SSHBanner  = "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n"
	SMTPBanner = "220 mail.example.org ESMTP Postfix\r\n"
	AMQPBanner = "AMQP\x00\x00\x09\x01" // a broker's version; no line ends here
)

// unknownCommand repeats the first 128 bytes of the name, and of the
// arguments, each up to a NUL, as Redis's C strings do.
func unknownCommand(args []string) string {
	var rest string
	for _, a := range args[1:] {
		if len(rest) >= 128 {
			break
		}
		rest += "'" + cString(a, 128-len(rest)) + "' "
	}
	return errorLine(fmt.Sprintf("ERR unknown command '%s', with args beginning with: %s", cString(args[0], 128), rest))
}

func unknownSubcommand(args []string) string {
	return errorLine(fmt.Sprintf("ERR unknown subcommand '%s'. Try %s HELP.", cString(args[1], 128), strings.ToUpper(args[0])))
}

func wrongArity(name string) string {
	return errorLine("ERR wrong number of arguments for '" + strings.ToLower(name) + "' command")
}

func cString(s string, limit int) string {
	s, _, _ = strings.Cut(s, "\x00")
	return s[:min(len(s), limit)]
}
