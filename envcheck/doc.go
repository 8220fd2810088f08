// Package envcheck holds an environment against a contract and says everything
// that is wrong with it, without a value.
//
// Start with [Load], which reads a contract file, and [Contract.Check], whose
// [Result] lists the diagnostics. [Builtin] is the contract without a file. A
// [Diagnostic] has no field that could hold a value; values that are needed
// later, such as a Redis URL, are [Sealed] and cannot be formatted.
//
// The package connects nowhere and looks no name up. The only files that it
// reads are those that KEY_FILE variables name, of secrets and of what else the
// contract reads from files.
package envcheck
