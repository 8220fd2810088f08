// Package envcheck judges an environment by a contract: which variables must
// be set, and what they must look like.
//
// Start with [Builtin] and [Contract.Check]. What is found is a list of
// [Diagnostic], each a [Code] with keys and closed facts: nothing in it can
// hold a value. A value that has to be kept is [Sealed].
//
// The package knows nothing of networks; that a URL can be read does not mean
// that a server answers. It repairs no environment and exits no process.
package envcheck
