package envcheck

import "strings"

// Code names one thing that the gate can report. Codes are API: lower-case
// snake_case, only ever added, never renamed or used again for something else.
// Each has a page, see [Explain].
type Code string

// Level says how bad a diagnostic is.
type Level string

// The three levels. An error keeps the worker from starting, a warning does not.
const (
	Info  Level = "info"
	Warn  Level = "warn"
	Error Level = "error"
)

// Events: what the gate does.
const (
	Start      Code = "start"       // settings are read, the first probe follows
	Waiting    Code = "waiting"     // the state has not changed for a while
	Ready      Code = "ready"       // a wait is over
	Delay      Code = "delay"       // the pause after readiness begins
	Exec       Code = "exec"        // the worker takes over
	Stopped    Code = "stopped"     // a signal ended the gate
	ContractOK Code = "contract_ok" // the environment meets the contract
	Plan       Code = "plan"        // what would be waited for
	ModeOff    Code = "mode_off"
	Observed   Code = "mode_observe"
)

// The gate itself: command line, settings, contract file, worker.
const (
	Usage              Code = "usage_invalid"
	InternalError      Code = "internal_error"
	SettingInvalid     Code = "gate_setting_invalid"
	SettingUnknown     Code = "gate_setting_unknown"
	ContractUnreadable Code = "contract_unreadable"
	ExecNotFound       Code = "exec_not_found"
	ExecDenied         Code = "exec_denied"
	ExecTooLarge       Code = "exec_too_large"
	ExecFragile        Code = "exec_fragile"
	PathUnset          Code = "path_unset"
	WorkerInShell      Code = "worker_in_shell"
)

// The environment against the contract.
const (
	RedisMissing           Code = "redis_missing"
	RedisParseFailed       Code = "redis_parse_failed"
	BrokerNotRedis         Code = "broker_not_redis"
	EnvInvalidUTF8         Code = "env_invalid_utf8"
	EnvBOM                 Code = "env_bom"
	EnvTrailingNewline     Code = "env_trailing_newline"
	EnvSurroundingSpace    Code = "env_surrounding_whitespace"
	EnvQuotedValue         Code = "env_quoted_value"
	EnvControlCharacter    Code = "env_control_character"
	EnvUnexpandedReference Code = "env_unexpanded_reference"
	EnvPlaceholderValue    Code = "env_placeholder_value"
	EnvServiceLink         Code = "env_service_link_collision"
)

// Redis: the conditions of a wait.
const (
	RedisRefused            Code = "redis_refused"
	RedisUnreachable        Code = "redis_unreachable"
	RedisConnectTimeout     Code = "redis_connect_timeout"
	RedisLoading            Code = "redis_loading"
	RedisReplyTimeout       Code = "redis_reply_timeout"
	RedisReadOnly           Code = "redis_read_only"
	RedisMasterDown         Code = "redis_master_down"
	RedisAuthRequired       Code = "redis_auth_required"
	RedisAuthRejected       Code = "redis_auth_rejected"
	RedisAuthNotConfigured  Code = "redis_auth_not_configured"
	RedisNotPermitted       Code = "redis_not_permitted"
	RedisInfoUnavailable    Code = "redis_info_unavailable"
	RedisWriteUnverified    Code = "redis_write_unverified"
	RedisUnverified         Code = "redis_unverified"
	RedisDBInvalid          Code = "redis_db_invalid"
	RedisDBOnCluster        Code = "redis_db_on_cluster"
	RedisClusterDown        Code = "redis_cluster_down"
	RedisClusterRedirect    Code = "redis_cluster_redirect"
	RedisProtectedMode      Code = "redis_protected_mode"
	RedisMaxClients         Code = "redis_max_clients"
	RedisBusy               Code = "redis_busy"
	RedisPersistenceFailing Code = "redis_persistence_failing"
	RedisOutOfMemory        Code = "redis_out_of_memory"
	RedisNotEnoughReplicas  Code = "redis_not_enough_replicas"
	RedisWritePaused        Code = "redis_write_paused"
	RedisClosed             Code = "redis_closed"
	RedisErrorReply         Code = "redis_error_reply"
	RedisIsSentinel         Code = "redis_is_sentinel"
	RedisNotRedis           Code = "redis_not_redis"
	RedisHostInvalid        Code = "redis_host_invalid"
	RedisDNSNotFound        Code = "redis_dns_not_found"
	RedisDNSFailed          Code = "redis_dns_failed"
	RedisDNSTimeout         Code = "redis_dns_timeout"
	RedisTLSTimeout         Code = "redis_tls_timeout"
	RedisTLSClosed          Code = "redis_tls_closed"
	RedisTLSRequired        Code = "redis_tls_required"
	RedisTLSNotSpoken       Code = "redis_tls_not_spoken"
	RedisTLSUntrusted       Code = "redis_tls_untrusted"
	RedisTLSNameMismatch    Code = "redis_tls_name_mismatch"
	RedisTLSExpired         Code = "redis_tls_expired"
	RedisTLSNotYetValid     Code = "redis_tls_not_yet_valid"
	RedisTLSClientCert      Code = "redis_tls_client_cert_required"
	RedisTLSRefused         Code = "redis_tls_refused"
	RedisTLSUnverified      Code = "redis_tls_unverified"
	NeverConnected          Code = "never_connected"
)

// entry is a code's line in the catalogue: its level, the constant sentence
// that every diagnostic with it carries, and what to do about it.
type entry struct {
	code  Code
	level Level
	text  string
	fix   string
}

// catalogue is an array of constants and not a map, so that it costs nothing
// at start.
var catalogue = [...]entry{
	{Start, Info, "", ""},
	{Waiting, Info, "still waiting", ""},
	{Ready, Info, "", ""},
	{Delay, Info, "ready; starting the worker after the delay", ""},
	{Exec, Info, "starting the worker", ""},
	{Stopped, Info, "stopped by a signal before the worker was started", ""},
	{ContractOK, Info, "the environment meets the contract", ""},
	{Plan, Info, "", ""},
	{ModeOff, Warn, "nothing is checked and nothing is waited for", ""},
	{Observed, Warn, "the worker is started all the same", ""},

	{Usage, Error, "the command line is not one that startgate takes", ""},
	{InternalError, Error, "startgate itself failed", "report it with the output of startgate version"},
	{SettingInvalid, Error, "this setting of startgate is malformed", "startgate run -h shows what it takes"},
	{SettingUnknown, Warn, "startgate has no setting of this name", ""},
	{ContractUnreadable, Error, "the contract file cannot be read", "correct STARTGATE_CONTRACT, or unset it to use the built-in contract"},
	{ExecNotFound, Error, "the worker's command cannot be started", "correct the command, or the image's PATH"},
	{ExecDenied, Error, "the worker's command is there but cannot be executed", "correct the file in the image"},
	{ExecTooLarge, Error, "the worker's arguments and environment are too large for execve", "pass large values by file"},
	{ExecFragile, Warn, "the worker's command may fail to start", ""},
	{PathUnset, Warn, "PATH is unset; the default path is searched for the worker", ""},
	{WorkerInShell, Warn, "the worker is a shell command: look-up and signals concern the shell", "use the exec form of CMD"},

	{RedisMissing, Error, "queue config missing", "set one, or name yours in STARTGATE_REDIS_KEYS"},
	{RedisParseFailed, Error, "the Redis URL cannot be read", ""},
	{BrokerNotRedis, Warn, "the URL names another broker than Redis and is skipped", ""},
	{EnvInvalidUTF8, Error, "the value is not valid UTF-8", "write it again as UTF-8 text"},
	{EnvBOM, Error, "the value starts with a byte order mark", "save the file that it comes from without one"},
	{EnvTrailingNewline, Error, "the value ends in a line break", "remove it"},
	{EnvSurroundingSpace, Error, "the value has white space around it", "remove it"},
	{EnvQuotedValue, Error, "the value is wrapped in quotes", "remove them: here nothing strips quotes"},
	{EnvControlCharacter, Error, "the value has a control character in it", "remove it"},
	{EnvUnexpandedReference, Error, "the value has an unexpanded reference in it", "set the variable that it names, or let the tool that starts the container expand it"},
	{EnvPlaceholderValue, Error, "the value is a placeholder", "set the real value"},
	{EnvServiceLink, Error, "Kubernetes set this variable for a Service of that name", "set enableServiceLinks to false, or rename the Service"},

	{RedisRefused, Error, "nothing listens at Redis's address", "start Redis, or correct host and port"},
	{RedisUnreachable, Error, "there is no way to Redis's address", "check networks, routes and policies"},
	{RedisConnectTimeout, Error, "connecting to Redis took too long", "check the address, firewalls and network policies"},
	{RedisLoading, Info, "Redis is loading its data set", "give it a longer timeout"},
	{RedisReplyTimeout, Error, "Redis accepted the connection but did not answer in time", "see what keeps the server busy"},
	{RedisReadOnly, Error, "this Redis is a read-only replica", "point the key at the master"},
	{RedisMasterDown, Error, "this Redis is a replica that has lost its master", "bring the master back, or point the key at it"},
	{RedisAuthRequired, Error, "Redis wants a password and the key has none", "add the password to the key"},
	{RedisAuthRejected, Error, "Redis rejected the credentials", "correct user and password in the key"},
	{RedisAuthNotConfigured, Warn, "the key has a password but Redis has none; some clients refuse that", ""},
	{RedisNotPermitted, Error, "the user may not select that database", "grant it SELECT, or use database 0"},
	{RedisInfoUnavailable, Warn, "the user may not run INFO, so that loading shows by PING alone", ""},
	{RedisWriteUnverified, Warn, "the user may not write to the key of the write test", "set STARTGATE_KEY_PREFIX to a prefix that the user may write to"},
	{RedisUnverified, Warn, "the user may run none of the commands that would show readiness", ""},
	{RedisDBInvalid, Error, "Redis has no database of that number", "correct the database number in the key"},
	{RedisDBOnCluster, Error, "a Redis Cluster has database 0 only", "use database 0 in the key"},
	{RedisClusterDown, Error, "the Redis Cluster does not serve all of its slots", "see redis-cli cluster info"},
	{RedisClusterRedirect, Error, "this is one node of a Redis Cluster, which most workers cannot use", "use a Redis that is no cluster"},
	{RedisProtectedMode, Error, "Redis is in protected mode and takes local connections only", "set a password on the server"},
	{RedisMaxClients, Error, "Redis has as many clients as it allows", "raise maxclients, or close connections"},
	{RedisBusy, Error, "Redis is busy running a script", "wait for it, or end it"},
	{RedisPersistenceFailing, Error, "Redis refuses writes since it cannot save to disk", "see to the server's disk"},
	{RedisOutOfMemory, Error, "Redis is out of memory and refuses writes", "raise maxmemory, or drain the queues"},
	{RedisNotEnoughReplicas, Error, "Redis refuses writes since it has too few replicas", "bring the replicas back"},
	{RedisWritePaused, Error, "Redis answers but holds writes back", "wait for the failover or pause to end"},
	{RedisClosed, Error, "the connection to Redis was closed at once", "check what answers at the address"},
	{RedisErrorReply, Error, "Redis answered with an error", "see what the server says to PING, INFO and LPUSHX"},
	{RedisIsSentinel, Error, "this is a Redis Sentinel, not a Redis", "point the key at the master"},
	{RedisNotRedis, Error, "what answers at the address is not Redis", "correct host and port"},
	{RedisHostInvalid, Error, "the host name can never be looked up", "correct the host name"},
	{RedisDNSNotFound, Error, "Redis's host name is not known", "start the service of that name, or correct the name"},
	{RedisDNSFailed, Error, "the name server failed to look up Redis's host name", "check the name server"},
	{RedisDNSTimeout, Error, "the name server did not answer in time", "check the name server"},
	{RedisTLSTimeout, Error, "the TLS handshake with Redis took too long", "check what answers at the address"},
	{RedisTLSClosed, Error, "the connection was closed during the TLS handshake", "check what answers at the address"},
	{RedisTLSRequired, Error, "Redis speaks TLS at this port and the URL does not", "use rediss:// in the key"},
	{RedisTLSNotSpoken, Error, "the URL asks for TLS and the server does not speak it", "use redis:// in the key, or the TLS port"},
	{RedisTLSUntrusted, Error, "Redis's certificate is not signed by a trusted authority", "set STARTGATE_TLS_CA_FILE"},
	{RedisTLSNameMismatch, Error, "Redis's certificate is for another name", "use the name that the certificate has"},
	{RedisTLSExpired, Error, "Redis's certificate has expired", "renew it"},
	{RedisTLSNotYetValid, Error, "Redis's certificate is not valid yet", "check the clocks"},
	{RedisTLSClientCert, Error, "Redis wants a client certificate", "turn tls-auth-clients off, or use a server without it"},
	{RedisTLSRefused, Error, "the TLS handshake with Redis failed", "check versions and certificates on both sides"},
	{RedisTLSUnverified, Warn, "Redis's certificate is not verified", ""},
	{NeverConnected, Warn, "not one connection to Redis so far: the address may be wrong", ""},
}

// lookup returns the catalogue's line for c. A code that a contract brings is
// not in it and is an error without a sentence of its own.
func lookup(c Code) entry {
	for i := range catalogue {
		if catalogue[i].code == c {
			return catalogue[i]
		}
	}
	return entry{code: c, level: Error}
}

// Codes lists every code of the catalogue in the catalogue's order.
func Codes() []Code {
	codes := make([]Code, len(catalogue))
	for i := range catalogue {
		codes[i] = catalogue[i].code
	}
	return codes
}

// valid reports whether c is a well-formed code.
func (c Code) valid() bool {
	return c != "" && strings.Trim(string(c), "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}
