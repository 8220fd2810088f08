package envcheck

// Why a value is not of its type.
const (
	BoolSpelling      Reason = "bool_spelling"
	NotBool           Reason = "not_bool"
	NotInteger        Reason = "not_integer"
	NotNumber         Reason = "not_number"
	UnitMissing       Reason = "unit_missing"
	UnitNotAllowed    Reason = "unit_not_allowed"
	AboveMax          Reason = "above_max"
	CaseMismatch      Reason = "case_mismatch"
	NotEmail          Reason = "not_email"
	NotAbsolute       Reason = "not_absolute"
	NotClean          Reason = "not_clean"
	TooShort          Reason = "too_short"
	PatternMismatch   Reason = "pattern_mismatch"
	NoPEMBlock        Reason = "no_pem_block"
	LiteralBackslashN Reason = "literal_backslash_n"
	PathNotAbsolute   Reason = "path_not_absolute"
)

// What differs between two URLs that are to name the same Redis.
const (
	TLSDiffers         Reason = "tls_differs"
	HostDiffers        Reason = "host_differs"
	PortDiffers        Reason = "port_differs"
	CredentialsDiffers Reason = "credentials_differs"
	DBDiffers          Reason = "db_differs"
)

// What is wrong with the text of a contract file.
const (
	SeveralDocuments Reason = "several_documents"
	EmptyDocument    Reason = "empty_document"
	NotAText         Reason = "not_a_text"
	NullValue        Reason = "null_value"
	NotAMapping      Reason = "not_a_mapping"
	NotAList         Reason = "not_a_list"
	NotAKey          Reason = "not_a_key"
	NotAName         Reason = "not_a_name"
	NotPrintable     Reason = "not_printable"
	TooFew           Reason = "too_few"
	TooLong          Reason = "too_long"
	Repeated         Reason = "repeated"
	ReservedName     Reason = "reserved_name"
	NotAGlob         Reason = "not_a_glob"
	PatternInvalid   Reason = "pattern_invalid"
	NoKind           Reason = "no_kind"
	SeveralKinds     Reason = "several_kinds"
	NotForThisKind   Reason = "not_for_this_kind"
	NotAVersion      Reason = "not_a_version"
)

// What is wrong with an expression.
const (
	UnexpectedToken   Reason = "unexpected_token"
	QuoteOpen         Reason = "quote_open"
	TooDeep           Reason = "too_deep"
	ConditionUnknown  Reason = "condition_unknown"
	ConditionLater    Reason = "condition_later"
	KeyUndeclared     Reason = "key_undeclared"
	BareKeyNotBool    Reason = "bare_key_not_bool"
	ComparesSecret    Reason = "compares_secret"
	LiteralMissing    Reason = "literal_missing"
	LiteralImpossible Reason = "literal_impossible"
)

// What does not go together in a contract.
const (
	SecretWithDefault  Reason = "secret_with_default"
	SecretWithEnum     Reason = "secret_with_enum"
	SecretExposed      Reason = "secret_exposed"
	SecretFallback     Reason = "secret_fallback"
	MaxAgeMissing      Reason = "max_age_missing"
	OpenTypeExposed    Reason = "open_type_exposed"
	NotForThisType     Reason = "not_for_this_type"
	EnumMissing        Reason = "enum_missing"
	MinAboveMax        Reason = "min_above_max"
	DefaultInvalid     Reason = "default_invalid"
	BoundInvalid       Reason = "bound_invalid"
	ExportWithoutFile  Reason = "export_without_file"
	NamesItself        Reason = "names_itself"
	KeyOfOtherType     Reason = "key_of_other_type"
	KeysNotComparable  Reason = "keys_not_comparable"
	SkipWithoutWhen    Reason = "skip_without_when"
	PartsWithoutHost   Reason = "parts_without_host"
	MasterMissing      Reason = "master_missing"
	URLBesideParts     Reason = "url_beside_parts"
	TopologyNotForThat Reason = "topology_not_for_that"
)

// contractFixes are the reasonFixes of this file's reasons.
var contractFixes = [...]advice{
	{BoolSpelling, "write true, false, 1 or 0: some languages take any other text for true"},
	{NotBool, "write true, false, 1 or 0"},
	{NotInteger, "write digits only: no sign, point, exponent or leading zero"},
	{NotNumber, "write digits, and a fraction behind a point: no sign, exponent or leading zero"},
	{UnitMissing, "add the unit, as in 5s"},
	{UnitNotAllowed, "leave the unit away"},
	{AboveMax, "it must be less"},
	{CaseMismatch, "write it in the case that the contract has"},
	{NotEmail, "write it as name@example.org"},
	{NotAbsolute, "start the path with /"},
	{NotClean, "write the path without //, /./, /../ and without / at the end"},
	{TooShort, "give a longer one"},
	{PatternMismatch, "see the contract for the form that it must have"},
	{NoPEMBlock, "give the whole block, with its BEGIN and END lines"},
	{LiteralBackslashN, `give real line breaks: here nothing turns \n into one`},
	{PathNotAbsolute, "name the file by an absolute path"},

	{TLSDiffers, "one asks for TLS (rediss://) and the other does not"},
	{HostDiffers, "they name different hosts"},
	{PortDiffers, "they name different ports"},
	{CredentialsDiffers, "they have different credentials"},
	{DBDiffers, "they name different databases"},

	{SeveralDocuments, "a contract is one YAML document: remove what follows ---"},
	{EmptyDocument, "the file is empty: startgate contract schema shows what it holds"},
	{NotAText, "write one text, number or word here"},
	{NullValue, "write a value, or remove the field"},
	{NotAMapping, "write fields with values here"},
	{NotAList, "write a list here, as in [A, B]"},
	{NotAKey, "a variable's name is A to Z, 0 to 9 and _, does not start with a digit and has at most 128 characters"},
	{NotAName, "a name is a to z, 0 to 9 and _ or -, and starts with a letter"},
	{NotPrintable, "write one line without control characters"},
	{TooFew, "the list needs more entries"},
	{TooLong, "write a shorter text"},
	{Repeated, "it stands there twice"},
	{ReservedName, "this name is the gate's or the language's own"},
	{NotAGlob, "a glob is A to Z, 0 to 9, _ and *"},
	{PatternInvalid, "write the regular expression in RE2's syntax, without look-around and back-references"},
	{NoKind, "say which kind it is"},
	{SeveralKinds, "it can be of one kind only"},
	{NotForThisKind, "this field does not go with the kind"},
	{NotAVersion, "write the version as 6.2 or 7.0.11"},

	{UnexpectedToken, "an expression is like A and (not B or C == word)"},
	{QuoteOpen, "close the quote"},
	{TooDeep, "name parts of the expression as conditions"},
	{ConditionUnknown, "name a condition that stands under conditions, or a key in capitals"},
	{ConditionLater, "a condition sees only those before it"},
	{KeyUndeclared, "declare the key under keys"},
	{BareKeyNotBool, "only a key of type bool stands alone: compare it, or write set(KEY)"},
	{ComparesSecret, "only set(KEY) and unset(KEY) may ask about a secret: the literal would be one"},
	{LiteralMissing, "write a word, or a text in single quotes"},
	{LiteralImpossible, "the key can never have this value"},

	{SecretWithDefault, "remove the default: a secret has none"},
	{SecretWithEnum, "remove the enum: it would hold the secret"},
	{SecretExposed, "remove expose: a secret is never shown"},
	{MaxAgeMissing, "say with max_age how many seconds old the file may be"},
	{SecretFallback, "declare this key as secret too: it may hold the other's value"},
	{OpenTypeExposed, "only bool, numbers, port, durations and enum may be shown"},
	{NotForThisType, "the field does not go with the key's type"},
	{EnumMissing, "list the words under enum"},
	{MinAboveMax, "min must not be greater than max"},
	{DefaultInvalid, "the default must be a value that the key may have"},
	{BoundInvalid, "write the bound as a value of the key's type"},
	{ExportWithoutFile, "export is for keys that take KEY_FILE: add secret or file"},
	{NamesItself, "name another key"},
	{KeyOfOtherType, "name a key of the type that belongs here"},
	{KeysNotComparable, "name two numbers, or two times"},
	{SkipWithoutWhen, "add skip_when, or remove this"},
	{PartsWithoutHost, "name the key of the host"},
	{MasterMissing, "name the master that the Sentinels watch"},
	{URLBesideParts, "name a URL, or a host with its parts, or Sentinels"},
	{TopologyNotForThat, "sentinel goes with sentinels, standalone and cluster without"},
}
