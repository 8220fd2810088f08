package envcheck

import "cmp"

// Reason narrows a code down. The set is closed: a reason is one of these
// words and can hold nothing of a value.
type Reason string

// Why a URL cannot be read, or a host and a port.
const (
	SchemeMissing         Reason = "scheme_missing"
	SchemeUnsupported     Reason = "scheme_unsupported"
	SocketNotSupported    Reason = "socket_not_supported"
	HostMissing           Reason = "host_missing"
	HostInvalid           Reason = "host_invalid"
	MultipleHosts         Reason = "multiple_hosts"
	PortInvalid           Reason = "port_invalid"
	DBInvalid             Reason = "db_invalid"
	DBInQuery             Reason = "db_in_query"
	BadPercentEncoding    Reason = "bad_percent_encoding"
	CredentialsNotEncoded Reason = "credentials_not_encoded"
	ControlOrSpace        Reason = "control_or_space"
	TLSModeUnsupported    Reason = "tls_mode_unsupported"
	ClientsDiffer         Reason = "clients_differ" // clients read it differently, so it means nothing by itself
	PortMissing           Reason = "port_missing"   // and the client has no default
	SocketPathInvalid     Reason = "socket_path_invalid"
	ParameterUnsupported  Reason = "parameter_unsupported"
)

// What of a Redis URL a client does not read.
const (
	CredentialsIgnored Reason = "credentials_ignored"
	DBIgnored          Reason = "db_ignored"
	ParameterIgnored   Reason = "parameter_ignored"
)

// SSLModeUnsupported is why a PostgreSQL URL cannot be waited for.
const SSLModeUnsupported Reason = "sslmode_unsupported"

// Why a value or a setting is malformed.
const (
	LF               Reason = "lf"
	CR               Reason = "cr"
	Smart            Reason = "smart" // typographic quotes
	NotDuration      Reason = "not_duration"
	OutOfRange       Reason = "out_of_range"
	BelowMin         Reason = "below_min"
	NotInEnum        Reason = "not_in_enum"
	NotKeyNames      Reason = "not_key_names"
	ControlCharacter Reason = "control_character"
	NoCertificate    Reason = "no_certificate"
)

// Why a name is unknown.
const (
	ServiceLink Reason = "service_link"
	CloseTo     Reason = "close_to"
	UnknownName Reason = "unknown_name"
)

// Why a file cannot be read.
const (
	NotFound         Reason = "not_found"
	OtherVersion     Reason = "other_version"
	PermissionDenied Reason = "permission_denied"
	IsDirectory      Reason = "is_directory"
	NotRegular       Reason = "not_regular"
	TooLarge         Reason = "too_large"
	IOError          Reason = "io_error"
	NotSupported     Reason = "not_supported"
)

// Why the command line is wrong.
const (
	CommandMissing Reason = "command_missing"
	FlagUnknown    Reason = "flag_unknown"
	FlagValue      Reason = "flag_value_missing"
	DashesMissing  Reason = "dashes_missing"
	WorkerMissing  Reason = "worker_missing"
	ExtraArgument  Reason = "extra_argument"
	CodeUnknown    Reason = "code_unknown"
	WaitUnknown    Reason = "wait_unknown"
	ActionUnknown  Reason = "action_unknown"
)

// advice says what to do about a reason, where that is more than the code's
// own.
type advice struct {
	reason Reason
	fix    Word
}

var reasonFixes = [...]advice{
	{SchemeMissing, "start the URL with redis:// or rediss://"},
	{SchemeUnsupported, "start the URL with redis:// or rediss://"},
	{SocketNotSupported, "use redis:// with a host, or write the socket as the worker's client does"},
	{HostMissing, "name the host: no worker wants localhost by accident"},
	{HostInvalid, "the host must be a name, an IPv4 address or an IPv6 address in brackets"},
	{MultipleHosts, "name one host"},
	{PortInvalid, "the port must be a number from 1 to 65535"},
	{DBInvalid, "the path must be one database number, as in /0"},
	{DBInQuery, "name the database once, in the path, as in /0"},
	{BadPercentEncoding, "write a % of the password as %25"},
	{CredentialsNotEncoded, "percent-encode user and password"},
	{ControlOrSpace, "percent-encode blanks and control characters"},
	{TLSModeUnsupported, "use rediss:// and ssl_cert_reqs=none, optional or required"},
	{ClientsDiffer, "Redis clients read this form differently: write redis://USER:PASSWORD@HOST:PORT/DB, percent-encoded"},
	{SSLModeUnsupported, "use sslmode=disable, allow, prefer, require, verify-ca or verify-full, and verify-full with sslrootcert=system"},
	{PortMissing, "write the port, as in HOST:6379: this client has no default"},
	{SocketPathInvalid, "write the socket's absolute path, as in unix:///run/redis.sock, without % and with at most 107 characters"},
	{ParameterUnsupported, "remove the parameter behind ?: the client fails at it, or it cannot be followed"},
	{CredentialsIgnored, "this client does not send the user: leave it away, and write a password as :PASSWORD@"},
	{DBIgnored, "this client uses database 0: name no other"},
	{ParameterIgnored, "this client does not read a parameter that others do: leave it away"},
	{NotDuration, "give seconds, as in 300 or 0.5, or a duration as in 5m30s"},
	{BelowMin, "it must be greater"},
	{NotKeyNames, "give names of variables, as in A|B for the first that is set or A,B for both"},
	{NoCertificate, "the file must hold certificates as PEM"},
	{ServiceLink, "Kubernetes set it for a Service named startgate: rename that, or set enableServiceLinks to false"},
	{CloseTo, "it is close to the name of a setting"},
}

// reasonFix is the advice on r in a value, a setting or a contract.
func reasonFix(r Reason) Word {
	return cmp.Or(adviceOn(r, reasonFixes[:]), adviceOn(r, contractFixes[:]))
}

func adviceOn(r Reason, table []advice) Word {
	for i := range table {
		if table[i].reason == r {
			return table[i].fix
		}
	}
	return ""
}
