package envcheck

// Why execve does not find the worker, or what it needs to run.
const (
	NotInPath                Reason = "not_in_path"
	NoSuchFile               Reason = "no_such_file"
	NotADirectory            Reason = "not_a_directory" // a part of the path is a file
	NameTooLong              Reason = "name_too_long"
	DanglingSymlink          Reason = "dangling_symlink"
	LoaderMissing            Reason = "loader_missing"
	LoaderMissingGlibc       Reason = "loader_missing_glibc"
	LoaderMissingMusl        Reason = "loader_missing_musl"
	ShebangCRLF              Reason = "shebang_crlf"
	ShebangInterpreterAbsent Reason = "shebang_interpreter_missing"
)

// Why execve is not allowed to run the worker.
const (
	NotExecutable            Reason = "not_executable"
	NoexecMount              Reason = "noexec_mount"
	ParentNotSearchable      Reason = "parent_not_searchable"
	PathNotSearchable        Reason = "path_not_searchable" // a directory of PATH, and the worker is in no other
	LoaderDenied             Reason = "loader_denied"
	ShebangInterpreterDenied Reason = "shebang_interpreter_denied"
	NotPermitted             Reason = "not_permitted" // the kernel or a security module says no
)

// Why the worker's file is nothing that execve can run.
const (
	EmptyFile         Reason = "empty_file"
	Truncated         Reason = "truncated"
	NotAProgram       Reason = "not_a_program" // an object file, a core dump
	LoaderInvalid     Reason = "loader_invalid"
	NoShebang         Reason = "no_shebang" // neither a program nor a script that names its interpreter
	BOMBeforeShebang  Reason = "bom_before_shebang"
	ShebangEmpty      Reason = "shebang_empty"
	ShebangTooLong    Reason = "shebang_too_long"
	ShebangNested     Reason = "shebang_nested"
	MachO             Reason = "mach_o"
	WindowsExecutable Reason = "windows_executable"
	FormatUnknown     Reason = "format_unknown"
	SymlinkLoop       Reason = "symlink_loop"
)

// The worker is a program for another processor than the gate.
const (
	WrongArchAMD64   Reason = "wrong_architecture_amd64"
	WrongArchARM64   Reason = "wrong_architecture_arm64"
	WrongArch386     Reason = "wrong_architecture_386"
	WrongArchARM     Reason = "wrong_architecture_arm"
	WrongArchPPC64   Reason = "wrong_architecture_ppc64"
	WrongArchPPC64LE Reason = "wrong_architecture_ppc64le"
	WrongArchS390X   Reason = "wrong_architecture_s390x"
	WrongArchRISCV64 Reason = "wrong_architecture_riscv64"
	WrongArchLoong64 Reason = "wrong_architecture_loong64"
	WrongArchMIPS    Reason = "wrong_architecture_mips"
	WrongArchOther   Reason = "wrong_architecture_other"
)

// What stands in execve's way for a while.
const (
	Busy         Reason = "busy" // still open for writing
	OutOfMemory  Reason = "out_of_memory"
	FileLimit    Reason = "file_limit"
	ProcessLimit Reason = "process_limit"
	ExecFailed   Reason = "exec_failed" // none of the reasons that have a name
)

// Why a worker that execve takes may fail all the same.
const (
	EnvInterpreterMissing Reason = "env_interpreter_missing"
	ScriptNotReadable     Reason = "script_not_readable"
)

// execFixes are apart from the others, since a reason such as IsDirectory means
// something else there.
var execFixes = [...]advice{
	{NotInPath, "correct the command, or add its directory to PATH"},
	{NoSuchFile, "correct the path, or add the file to the image"},
	{NotADirectory, "correct the path: a part of it is a file"},
	{DanglingSymlink, "correct the link: it points to nothing"},
	{LoaderMissing, "the program is linked to a loader that the image lacks: link it statically, or use the image that it was built for"},
	{LoaderMissingGlibc, "the program is built for glibc and the image has none: use a glibc base image, or link it statically (Go: CGO_ENABLED=0)"},
	{LoaderMissingMusl, "the program is built for musl and the image has none: use Alpine as the base image, or link it statically"},
	{ShebangCRLF, "convert the script's line ends from CRLF to LF"},
	{ShebangInterpreterAbsent, "the script's first line names an interpreter that the image lacks: correct it, or install the interpreter"},

	{NotExecutable, "give the user that the container runs as the right to execute it (chmod +x)"},
	{IsDirectory, "name the program in the directory"},
	{NoexecMount, "move it from the volume, or mount that without noexec"},
	{ParentNotSearchable, "give the user that the container runs as the right to search the directories above it"},
	{PathNotSearchable, "correct the command, or PATH: the command is in none of its directories that this user may search"},
	{LoaderDenied, "the program's loader cannot be executed: correct it in the image"},
	{ShebangInterpreterDenied, "the interpreter that the script's first line names cannot be executed: correct it in the image"},
	{NotPermitted, "see the container's security profile"},

	{EmptyFile, "the file is empty: add it to the image again"},
	{Truncated, "the file is incomplete: add it to the image again"},
	{NotAProgram, "the file is not linked: name the program"},
	{LoaderInvalid, "the program's loader is not one: correct it in the image"},
	{NoShebang, "start the script with a line such as #!/bin/sh, or name its interpreter in the command"},
	{BOMBeforeShebang, "save the script without a byte order mark"},
	{ShebangEmpty, "name the interpreter in the script's first line"},
	{ShebangTooLong, "shorten the script's first line"},
	{ShebangNested, "name a program as the interpreter, not one more script"},
	{MachO, "the program is built for macOS: build it for Linux"},
	{WindowsExecutable, "the program is built for Windows: build it for Linux"},
	{SymlinkLoop, "correct the link: it leads back to itself"},

	{WrongArchAMD64, "the program is built for amd64: build it for the image's platform"},
	{WrongArchARM64, "the program is built for arm64: build it for the image's platform"},
	{WrongArch386, "the program is built for 386: build it for the image's platform"},
	{WrongArchARM, "the program is built for arm: build it for the image's platform"},
	{WrongArchPPC64, "the program is built for ppc64: build it for the image's platform"},
	{WrongArchPPC64LE, "the program is built for ppc64le: build it for the image's platform"},
	{WrongArchS390X, "the program is built for s390x: build it for the image's platform"},
	{WrongArchRISCV64, "the program is built for riscv64: build it for the image's platform"},
	{WrongArchLoong64, "the program is built for loong64: build it for the image's platform"},
	{WrongArchMIPS, "the program is built for mips: build it for the image's platform"},
	{WrongArchOther, "the program is built for another processor: build it for the image's platform"},

	{Busy, "something still writes to it: wait for that before the container starts"},
	{OutOfMemory, "give the container more memory"},
	{FileLimit, "raise the limit of open files"},
	{ProcessLimit, "raise the limit of processes"},

	{EnvInterpreterMissing, "the script's first line asks env for an interpreter that is not in PATH"},
	{ScriptNotReadable, "if it is a script, its interpreter cannot read it: give the user that the container runs as the right to read it"},
}

// ExecFix returns what to do when the worker cannot be executed for r, or ""
// when the code says it all.
func ExecFix(r Reason) Word { return adviceOn(r, execFixes[:]) }
