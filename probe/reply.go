package probe

import (
	"strings"

	"github.com/startgate/startgate/envcheck"
)

// replyPrefixes are the starts of Redis's error replies, with the blank behind
// the word: BUSY is not BUSYKEY. The texts are those of Redis 2.8 to 8.0,
// Valkey 7.2 to 8.1, KeyDB and Dragonfly, which share the first word.
var replyPrefixes = [...]struct {
	prefix string
	code   envcheck.Code
}{
	{"LOADING ", envcheck.RedisLoading},
	{"NOAUTH ", envcheck.RedisAuthRequired},
	{"WRONGPASS ", envcheck.RedisAuthRejected},
	{"ERR invalid password", envcheck.RedisAuthRejected},                       // ≤ 5.0
	{"ERR AUTH <password> called", envcheck.RedisAuthNotConfigured},            // ≥ 6.0
	{"ERR Client sent AUTH, but no password", envcheck.RedisAuthNotConfigured}, // ≤ 5.0
	{"NOPERM ", envcheck.RedisNotPermitted},
	{"READONLY ", envcheck.RedisReadOnly},
	{"MASTERDOWN ", envcheck.RedisMasterDown},
	{"CLUSTERDOWN ", envcheck.RedisClusterDown},
	{"MOVED ", envcheck.RedisClusterRedirect},
	{"ASK ", envcheck.RedisClusterRedirect},
	{"MISCONF ", envcheck.RedisPersistenceFailing},
	{"OOM ", envcheck.RedisOutOfMemory},
	{"NOREPLICAS ", envcheck.RedisNotEnoughReplicas},
	{"BUSY ", envcheck.RedisBusy},
	{"DENIED ", envcheck.RedisProtectedMode},
	{"ERR max number of clients", envcheck.RedisMaxClients},
	{"ERR SELECT is not allowed in cluster", envcheck.RedisDBOnCluster},
	{"ERR DB index is out of range", envcheck.RedisDBInvalid},
	{"ERR invalid DB index", envcheck.RedisDBInvalid}, // ≤ 5.0
	{"ERR value is out of range", envcheck.RedisDBInvalid},
}

// replyFault classifies the text of an error reply. The text goes no further:
// servers echo arguments, user names and addresses in it.
func replyFault(text string) envcheck.Code {
	for _, p := range replyPrefixes {
		if strings.HasPrefix(text, p.prefix) {
			return p.code
		}
	}
	return envcheck.RedisErrorReply
}

// unknownCommand reports whether err is a server's answer to a command that it
// does not have, or not under that name.
func unknownCommand(err error) bool { return strings.HasPrefix(err.Error(), "ERR unknown command") }

// unasked returns the code of an error that the server sent at accept, "" if
// first is none.
func unasked(first []byte) envcheck.Code {
	text, isError := strings.CutPrefix(string(first), "-")
	if code := replyFault(text); isError && (code == envcheck.RedisProtectedMode || code == envcheck.RedisMaxClients) {
		return code
	}
	return ""
}
