// Package compose judges compose files by the contract of the workers in them:
// what docker compose config and linters let through, with file, line and
// column, without an engine and without a value.
//
// Start with [Check], whose [Report] lists the findings. [Test] is Check for
// go test. The rules are one table, [Rules], and each has a page, see
// [Explain]. A family of rules is one file, named as in the table.
//
// A stack is looked at in three ways. The written one is the files' YAML
// nodes, which know positions and spelling. The symbolic one is the merged
// model as compose-go makes it, its variables still in it. The effective one
// has them replaced, by the environment, .env and defaults; what cannot be
// known here is marked, and then nothing worse than a warning depends on it.
package compose
