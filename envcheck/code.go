package envcheck

import "slices"

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
	Usage          Code = "usage_invalid"
	InternalError  Code = "internal_error"
	SettingInvalid Code = "gate_setting_invalid"
	SettingUnknown Code = "gate_setting_unknown"
	ExecNotFound   Code = "exec_not_found"
	ExecDenied     Code = "exec_denied"
	ExecTooLarge   Code = "exec_too_large"
	ExecFragile    Code = "exec_fragile"
	PathUnset      Code = "path_unset"
	WorkerInShell  Code = "worker_in_shell"
)

// The contract file. Its faults have a line and a column.
const (
	ContractUnreadable         Code = "contract_unreadable"
	ContractSyntax             Code = "contract_syntax"
	ContractVersionUnsupported Code = "contract_version_unsupported"
	ContractUnknownField       Code = "contract_unknown_field"
	ContractMissingField       Code = "contract_missing_field"
	ContractDuplicateKey       Code = "contract_duplicate_key"
	ContractBadValue           Code = "contract_bad_value"
	ContractBadExpression      Code = "contract_bad_expression"
	ContractKeyUndeclared      Code = "contract_key_undeclared"
	ContractDuplicateCode      Code = "contract_duplicate_code"
	ContractValid              Code = "contract_valid"
)

// The environment against the contract. Beside these there are the codes of
// the contract: TOPIC_missing, TOPIC_invalid, TOPIC_parse_failed, and one for
// each rule.
const (
	RedisMissing           Code = "redis_missing"
	RedisParseFailed       Code = "redis_parse_failed"
	BrokerNotRedis         Code = "broker_not_redis"
	RedisURLDoubtful       Code = "redis_url_doubtful"
	EnvInvalidUTF8         Code = "env_invalid_utf8"
	EnvBOM                 Code = "env_bom"
	EnvTrailingNewline     Code = "env_trailing_newline"
	EnvSurroundingSpace    Code = "env_surrounding_whitespace"
	EnvQuotedValue         Code = "env_quoted_value"
	EnvControlCharacter    Code = "env_control_character"
	EnvUnexpandedReference Code = "env_unexpanded_reference"
	EnvPlaceholderValue    Code = "env_placeholder_value"
	EnvServiceLink         Code = "env_service_link_collision"
	EnvEmpty               Code = "env_empty"
	EnvDuplicateKey        Code = "env_duplicate_key"
	EnvValueTooLong        Code = "env_value_too_long"
	EnvFallbackUsed        Code = "env_fallback_used"
	EnvFallbackForbidden   Code = "env_fallback_not_permitted"
	EnvForbiddenKey        Code = "env_forbidden_key"
	EnvDeprecatedKey       Code = "env_deprecated_key"
	EnvUnknownKey          Code = "env_unknown_key"
	EnvUnknownKeys         Code = "env_unknown_keys"
	SecretSourceConflict   Code = "secret_source_conflict"
	SecretFileUnreadable   Code = "secret_file_unreadable"
	SecretInArgv           Code = "secret_in_argv"
	WorkerDisabled         Code = "worker_disabled"
	WaitNotDone            Code = "wait_not_done"
	WaitUnsupported        Code = "wait_unsupported"
	FactCode               Code = "fact"
)

// Redis: the conditions of a wait.
const (
	RedisRefused             Code = "redis_refused"
	RedisUnreachable         Code = "redis_unreachable"
	RedisConnectTimeout      Code = "redis_connect_timeout"
	RedisLoading             Code = "redis_loading"
	RedisReplyTimeout        Code = "redis_reply_timeout"
	RedisReadOnly            Code = "redis_read_only"
	RedisMasterDown          Code = "redis_master_down"
	RedisAuthRequired        Code = "redis_auth_required"
	RedisAuthRejected        Code = "redis_auth_rejected"
	RedisAuthNotConfigured   Code = "redis_auth_not_configured"
	RedisNotPermitted        Code = "redis_not_permitted"
	RedisInfoUnavailable     Code = "redis_info_unavailable"
	RedisWriteUnverified     Code = "redis_write_unverified"
	RedisUnverified          Code = "redis_unverified"
	RedisDBInvalid           Code = "redis_db_invalid"
	RedisDBOnCluster         Code = "redis_db_on_cluster"
	RedisClusterDown         Code = "redis_cluster_down"
	RedisClusterRedirect     Code = "redis_cluster_redirect"
	RedisProtectedMode       Code = "redis_protected_mode"
	RedisMaxClients          Code = "redis_max_clients"
	RedisBusy                Code = "redis_busy"
	RedisPersistenceFailing  Code = "redis_persistence_failing"
	RedisOutOfMemory         Code = "redis_out_of_memory"
	RedisNotEnoughReplicas   Code = "redis_not_enough_replicas"
	RedisWritePaused         Code = "redis_write_paused"
	RedisClosed              Code = "redis_closed"
	RedisErrorReply          Code = "redis_error_reply"
	RedisIsSentinel          Code = "redis_is_sentinel"
	RedisNotRedis            Code = "redis_not_redis"
	RedisHostInvalid         Code = "redis_host_invalid"
	RedisDNSNotFound         Code = "redis_dns_not_found"
	RedisDNSFailed           Code = "redis_dns_failed"
	RedisDNSTimeout          Code = "redis_dns_timeout"
	RedisTLSTimeout          Code = "redis_tls_timeout"
	RedisTLSClosed           Code = "redis_tls_closed"
	RedisTLSRequired         Code = "redis_tls_required"
	RedisTLSNotSpoken        Code = "redis_tls_not_spoken"
	RedisTLSUntrusted        Code = "redis_tls_untrusted"
	RedisTLSNameMismatch     Code = "redis_tls_name_mismatch"
	RedisTLSExpired          Code = "redis_tls_expired"
	RedisTLSNotYetValid      Code = "redis_tls_not_yet_valid"
	RedisTLSClientCert       Code = "redis_tls_client_cert_required"
	RedisTLSRefused          Code = "redis_tls_refused"
	RedisTLSUnverified       Code = "redis_tls_unverified"
	RedisSocketMissing       Code = "redis_socket_missing"
	RedisSocketDenied        Code = "redis_socket_denied"
	RedisAddressInvalid      Code = "redis_address_invalid"
	RedisNotACluster         Code = "redis_not_a_cluster"
	RedisClusterMode         Code = "redis_cluster_mode"
	RedisVersionTooOld       Code = "redis_version_too_old"
	RedisEvictionPolicy      Code = "redis_eviction_policy"
	RedisScriptsForbidden    Code = "redis_scripts_forbidden"
	RedisPersistenceWarning  Code = "redis_persistence_warning"
	RedisSentinelUnreachable Code = "redis_sentinel_unreachable"
	RedisSentinelNoMaster    Code = "redis_sentinel_no_master"
	RedisNotASentinel        Code = "redis_not_a_sentinel"
	NeverConnected           Code = "never_connected"
)

// PostgreSQL: the conditions of a wait.
const (
	PostgresRefused         Code = "postgres_refused"
	PostgresUnreachable     Code = "postgres_unreachable"
	PostgresConnectTimeout  Code = "postgres_connect_timeout"
	PostgresDNSNotFound     Code = "postgres_dns_not_found"
	PostgresDNSFailed       Code = "postgres_dns_failed"
	PostgresReplyTimeout    Code = "postgres_reply_timeout"
	PostgresClosed          Code = "postgres_closed"
	PostgresNotPostgres     Code = "postgres_not_postgres"
	PostgresStarting        Code = "postgres_starting"
	PostgresMaxConnections  Code = "postgres_max_connections"
	PostgresNoDatabase      Code = "postgres_no_database"
	PostgresNotPermitted    Code = "postgres_not_permitted"
	PostgresErrorReply      Code = "postgres_error_reply"
	PostgresTLSNotOffered   Code = "postgres_tls_not_offered"
	PostgresTLSUntrusted    Code = "postgres_tls_untrusted"
	PostgresTLSNameMismatch Code = "postgres_tls_name_mismatch"
	PostgresTLSExpired      Code = "postgres_tls_expired"
	PostgresTLSNotYetValid  Code = "postgres_tls_not_yet_valid"
	PostgresTLSRefused      Code = "postgres_tls_refused"
	PostgresTLSUnverified   Code = "postgres_tls_unverified"
)

// HTTP: the conditions of a wait.
const (
	HTTPRefused          Code = "http_refused"
	HTTPUnreachable      Code = "http_unreachable"
	HTTPConnectTimeout   Code = "http_connect_timeout"
	HTTPDNSNotFound      Code = "http_dns_not_found"
	HTTPDNSFailed        Code = "http_dns_failed"
	HTTPReplyTimeout     Code = "http_reply_timeout"
	HTTPClosed           Code = "http_closed"
	HTTPNotHTTP          Code = "http_not_http"
	HTTPUnavailable      Code = "http_unavailable"
	HTTPNotFound         Code = "http_not_found"
	HTTPForbidden        Code = "http_forbidden"
	HTTPRedirected       Code = "http_redirected"
	HTTPStatusUnexpected Code = "http_status_unexpected"
	HTTPTLSNotSpoken     Code = "http_tls_not_spoken"
	HTTPTLSUntrusted     Code = "http_tls_untrusted"
	HTTPTLSNameMismatch  Code = "http_tls_name_mismatch"
	HTTPTLSExpired       Code = "http_tls_expired"
	HTTPTLSNotYetValid   Code = "http_tls_not_yet_valid"
	HTTPTLSRefused       Code = "http_tls_refused"
	HTTPTLSUnverified    Code = "http_tls_unverified"
)

// A bare port: the conditions of a wait.
const (
	TCPRefused        Code = "tcp_refused"
	TCPUnreachable    Code = "tcp_unreachable"
	TCPConnectTimeout Code = "tcp_connect_timeout"
	TCPDNSNotFound    Code = "tcp_dns_not_found"
	TCPDNSFailed      Code = "tcp_dns_failed"
)

// Health: what the worker's container is found to be.
const (
	StateUnwritable  Code = "state_unwritable"
	ListenFailed     Code = "listen_failed"
	HealthOK         Code = "health_ok"
	HealthGating     Code = "health_gating"
	HealthFailed     Code = "health_failed"
	HealthWorkerGone Code = "health_worker_gone"
	HealthNeverGated Code = "health_never_gated"
	HealthUnreadable Code = "health_state_unreadable"
	HealthRedis      Code = "health_redis"

	HealthHeartbeatMissing Code = "health_heartbeat_missing"
	HealthHeartbeatStale   Code = "health_heartbeat_stale"
	HealthHTTP             Code = "health_http"
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
	{ContractSyntax, Error, "the contract file is not YAML that can be read", "correct the line, or the one before it"},
	{ContractVersionUnsupported, Error, "the contract is written in a version of the language that this startgate does not know", "write contract: 1, or use a newer startgate"},
	{ContractUnknownField, Error, "the contract has a field that the language does not know", "correct or remove it: startgate contract schema lists the fields"},
	{ContractMissingField, Error, "the contract lacks a field", "add it"},
	{ContractDuplicateKey, Error, "the contract has a field or a key twice in one place", "remove one"},
	{ContractBadValue, Error, "the contract has a value that cannot stand here", "startgate contract schema says what can"},
	{ContractBadExpression, Error, "an expression of the contract cannot be read", "correct it"},
	{ContractKeyUndeclared, Error, "the contract names a key that it does not declare", "declare it under keys, or correct the name"},
	{ContractDuplicateCode, Error, "the contract makes a code that is there already", "choose another code, or another topic"},
	{ContractValid, Info, "the contract has no fault", ""},
	{ExecNotFound, Error, "the worker's command cannot be started", "correct the command, or the image's PATH"},
	{ExecDenied, Error, "the worker's command is there but cannot be executed", "correct the file in the image"},
	{ExecTooLarge, Error, "the worker's arguments and environment are too large for execve", "pass large values by file"},
	{ExecFragile, Warn, "the worker's command may fail to start", ""},
	{PathUnset, Warn, "PATH is unset; the default path is searched for the worker", ""},
	{WorkerInShell, Warn, "the worker is a shell command: look-up and signals concern the shell", "use the exec form of CMD"},

	{EnvEmpty, Error, "the value is empty", "give it one, or do not set the key"},
	{EnvDuplicateKey, Error, "the key is set twice, to different values", "remove one: programs differ in which they take"},
	{EnvValueTooLong, Error, "the value is longer than execve takes", "leave it in its file"},
	{EnvFallbackUsed, Info, "the first key is unset and the second is used", ""},
	{EnvFallbackForbidden, Error, "the first key is unset and the second may not be used in its place", "set the first key"},
	{EnvForbiddenKey, Error, "the key must not be set here", "unset it"},
	{EnvDeprecatedKey, Warn, "the first key still works and is to be replaced by the second", "set the second instead"},
	{EnvUnknownKey, Warn, "the contract does not know this key", ""},
	{EnvUnknownKeys, Warn, "the contract does not know these keys that have a name of its own", "declare them, or remove them"},
	{SecretSourceConflict, Error, "the secret is given both as a value and as a file", "remove one of the two"},
	{SecretFileUnreadable, Error, "the secret's file cannot be read", "correct the path, or the file's rights"},
	{SecretInArgv, Warn, "the worker's command line holds the secret, which every process can read", "pass it by the environment or a file"},
	{WorkerDisabled, Info, "the contract does not apply to this worker", ""},
	{WaitNotDone, Info, "the condition of this wait is not true", ""},
	{WaitUnsupported, Error, "this kind of wait cannot be done yet", "remove the wait from the contract"},
	{FactCode, Info, "", ""},
	{RedisMissing, Error, "queue config missing", "set one, or name yours in STARTGATE_REDIS_KEYS"},
	{RedisParseFailed, Error, "the Redis URL cannot be read", ""},
	{BrokerNotRedis, Warn, "the URL names another broker than Redis and is skipped", ""},
	{RedisURLDoubtful, Warn, "the worker's client reads the Redis URL in a way of its own", ""},
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
	{RedisAuthNotConfigured, Error, "the key has a password but Redis has none; some clients refuse that", "set the password on the server, or take it out of the key"},
	{RedisNotPermitted, Error, "the user may not select that database", "grant it SELECT, or use database 0"},
	{RedisInfoUnavailable, Warn, "the user may not run INFO, so that loading shows by PING alone", ""},
	{RedisWriteUnverified, Warn, "the user may not run the write test, LPUSHX to a key that is not there", "grant it, or set STARTGATE_KEY_PREFIX (key_prefix in a contract) to a prefix that the user may write to"},
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
	{RedisTLSClientCert, Error, "Redis wants a client certificate", "name one in the URL, or turn tls-auth-clients off"},
	{RedisTLSRefused, Error, "the TLS handshake with Redis failed", "check versions and certificates on both sides"},
	{RedisTLSUnverified, Warn, "Redis's certificate is not verified", ""},
	{RedisSocketMissing, Error, "there is no socket at the path that the URL names", "start Redis with that unixsocket, and mount its directory"},
	{RedisSocketDenied, Error, "the user may not connect to the socket", "set unixsocketperm, or the group of the user"},
	{RedisAddressInvalid, Error, "the path of the socket is longer than the system takes", "use a path of at most 107 bytes"},
	{RedisNotACluster, Error, "this Redis is no cluster, and the contract says that it is one", "correct the key, or topology in the contract"},
	{RedisClusterMode, Error, "this Redis is in cluster mode, which workers of this family cannot use", "use a Redis that is no cluster"},
	{RedisVersionTooOld, Error, "this Redis is older than the worker needs", "use a newer one"},
	{RedisEvictionPolicy, Error, "this Redis may evict the keys of queues when its memory is full", "set maxmemory-policy to noeviction"},
	{RedisScriptsForbidden, Error, "the user may not run scripts, which workers of this family need", "grant the user EVAL and EVALSHA"},
	{RedisPersistenceWarning, Warn, "Redis last failed to save to disk, and takes writes all the same", ""},
	{RedisSentinelUnreachable, Error, "no Sentinel can be reached", "start them, or correct their addresses"},
	{RedisSentinelNoMaster, Error, "the Sentinels know no master of that name", "correct the name, or let the Sentinels monitor it"},
	{RedisNotASentinel, Error, "what answers at the address of a Sentinel is none", "use the Sentinels' port, 26379 unless they have another"},

	{PostgresRefused, Error, "nothing listens at PostgreSQL's address", "start PostgreSQL, or correct host and port"},
	{PostgresUnreachable, Error, "there is no way to PostgreSQL's address", "check networks, routes and policies"},
	{PostgresConnectTimeout, Error, "connecting to PostgreSQL took too long", "check the address, firewalls and network policies"},
	{PostgresDNSNotFound, Error, "PostgreSQL's host name is not known", "start the service of that name, or correct the name"},
	{PostgresDNSFailed, Error, "the name server failed to look up PostgreSQL's host name", "check the name server"},
	{PostgresReplyTimeout, Error, "PostgreSQL accepted the connection but did not answer in time", "see what keeps the server busy"},
	{PostgresClosed, Error, "the connection to PostgreSQL was closed at once", "check what answers at the address, and the server's log"},
	{PostgresNotPostgres, Error, "what answers at the address is not PostgreSQL", "correct host and port"},
	{PostgresStarting, Info, "PostgreSQL is starting up, shutting down or recovering", "give it a longer timeout"},
	{PostgresMaxConnections, Error, "PostgreSQL has as many connections as it allows", "raise max_connections, or close connections"},
	{PostgresNoDatabase, Error, "PostgreSQL has no database of that name", "create it, or correct the name in the key"},
	{PostgresNotPermitted, Error, "PostgreSQL does not let this user in from here", "see pg_hba.conf, and correct the user in the key"},
	{PostgresErrorReply, Error, "PostgreSQL answered with an error", "see the server's log"},
	{PostgresTLSNotOffered, Error, "the sslmode asks for TLS and PostgreSQL does not offer it", "turn ssl on at the server, or use another sslmode"},
	{PostgresTLSUntrusted, Error, "PostgreSQL's certificate is not signed by a trusted authority", "name the authority by sslrootcert, or by the contract's tls: ca"},
	{PostgresTLSNameMismatch, Error, "PostgreSQL's certificate is for another name", "use the name that the certificate has"},
	{PostgresTLSExpired, Error, "PostgreSQL's certificate has expired", "renew it"},
	{PostgresTLSNotYetValid, Error, "PostgreSQL's certificate is not valid yet", "check the clocks"},
	{PostgresTLSRefused, Error, "the TLS handshake with PostgreSQL failed", "check versions and certificates on both sides"},
	{PostgresTLSUnverified, Warn, "PostgreSQL's certificate is not verified", ""},

	{HTTPRefused, Error, "nothing listens at the HTTP server's address", "start the server, or correct host and port"},
	{HTTPUnreachable, Error, "there is no way to the HTTP server's address", "check networks, routes and policies"},
	{HTTPConnectTimeout, Error, "connecting to the HTTP server took too long", "check the address, firewalls and network policies"},
	{HTTPDNSNotFound, Error, "the HTTP server's host name is not known", "start the service of that name, or correct the name"},
	{HTTPDNSFailed, Error, "the name server failed to look up the HTTP server's host name", "check the name server"},
	{HTTPReplyTimeout, Error, "the HTTP server accepted the connection but did not answer in time", "see what keeps the server busy"},
	{HTTPClosed, Error, "the HTTP server closed the connection without an answer", "check what answers at the address, and the server's log"},
	{HTTPNotHTTP, Error, "what answers at the address does not speak HTTP/1", "correct host and port, or the URL's scheme"},
	{HTTPUnavailable, Error, "the HTTP server says that it is not ready", "see the server's log"},
	{HTTPNotFound, Error, "the HTTP server does not know the path", "wait for the application to be there, or correct the path"},
	{HTTPForbidden, Error, "the HTTP server does not let the gate in", "add header: to the wait, or ask for a path that is open to all"},
	{HTTPRedirected, Error, "the HTTP server answers with a redirect, which is not followed", "ask for the path that it leads to, or add its status to the wait"},
	{HTTPStatusUnexpected, Error, "the HTTP server answers with a status that does not mean ready", "correct path or status of the wait"},
	{HTTPTLSNotSpoken, Error, "the URL asks for TLS and the server does not speak it", "use http:// in the key, or the TLS port"},
	{HTTPTLSUntrusted, Error, "the HTTP server's certificate is not signed by a trusted authority", "name the authority by the contract's tls: ca, or set STARTGATE_TLS_CA_FILE"},
	{HTTPTLSNameMismatch, Error, "the HTTP server's certificate is for another name", "use the name that the certificate has"},
	{HTTPTLSExpired, Error, "the HTTP server's certificate has expired", "renew it"},
	{HTTPTLSNotYetValid, Error, "the HTTP server's certificate is not valid yet", "check the clocks"},
	{HTTPTLSRefused, Error, "the TLS handshake with the HTTP server failed", "check versions and certificates on both sides"},
	{HTTPTLSUnverified, Warn, "the HTTP server's certificate is not verified", ""},

	{TCPRefused, Error, "nothing listens at the address", "start the service, or correct host and port"},
	{TCPUnreachable, Error, "there is no way to the address", "check networks, routes and policies"},
	{TCPConnectTimeout, Error, "connecting took too long", "check the address, firewalls and network policies"},
	{TCPDNSNotFound, Error, "the host name is not known", "start the service of that name, or correct the name"},
	{TCPDNSFailed, Error, "the name server failed to look up the host name", "check the name server"},

	{NeverConnected, Warn, "not one connection so far: the address may be wrong", ""},

	{StateUnwritable, Warn, "the state file cannot be written, so that startgate health will fail", "mount a tmpfs at /tmp, or set STARTGATE_STATE_FILE"},
	{ListenFailed, Warn, "the port for probes cannot be listened at; the gate goes on without", "choose another port, or let the worker alone have it"},
	{HealthOK, Info, "the worker runs", ""},
	{HealthGating, Error, "the gate waits and the worker has not started", "see its cause"},
	{HealthFailed, Error, "the gate has given up", "see its cause"},
	{HealthWorkerGone, Error, "the process that became the worker is gone", "see how it ended"},
	{HealthNeverGated, Error, "no gate has run in this container", "make startgate its ENTRYPOINT"},
	{HealthUnreadable, Error, "the gate's state cannot be read", "remove the file, and start the container again"},
	{HealthRedis, Error, "the worker runs, and Redis is not ready", "see its cause"},
	{HealthHeartbeatMissing, Error, "the worker runs, and there is no heartbeat of it", "see what the worker does"},
	{HealthHeartbeatStale, Error, "the worker runs, and its heartbeat is old", "see what the worker does"},
	{HealthHTTP, Error, "the worker runs, and does not answer over HTTP as it should", "see its cause"},
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

// known reports whether c is in the catalogue.
func (c Code) known() bool {
	return slices.ContainsFunc(catalogue[:], func(e entry) bool { return e.code == c })
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
	return c != "" && only(string(c), lowers+numerals+"_")
}
