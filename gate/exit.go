package gate

// Exit codes are API. Those of the gate lie outside of what workers and
// container engines commonly use; 64 to 78 are sysexits.h's.
const (
	ExitOK                 = 0
	ExitUsage              = 64  // bad command line
	ExitContractMalformed  = 65  // contract file malformed
	ExitContractUnreadable = 66  // contract file unreadable
	ExitRefused            = 69  // a wait was refused for good
	ExitInternal           = 70  // a fault of the gate
	ExitBudgetSpent        = 75  // the budget ran out, trying again may help
	ExitEnvironment        = 78  // the environment does not meet the contract
	ExitNotExecutable      = 126 // the worker is there and cannot be executed
	ExitNotFound           = 127 // the worker is not there
	// A gate that a signal ends exits with 128 and the signal's number.
)
