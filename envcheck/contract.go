package envcheck

import "strconv"

// A Contract declares what a worker needs.
type Contract struct {
	Name  Word
	Keys  []KeySpec
	Waits []WaitSpec
}

// A KeySpec declares one environment variable that holds a Redis URL.
type KeySpec struct {
	Key      Key
	Topic    Word  // stem of the codes that are about it
	Purpose  Word  // what the key is for, in words
	Fallback []Key // tried in order when Key is unset
}

// A WaitSpec declares something that must be ready before the worker starts.
type WaitSpec struct {
	Name      Word
	Redis     Key // declared under Keys; its fallback applies
	Client    Client
	Require   Require
	KeyPrefix string // where the no-effect write test may look
}

// Client is a family of Redis clients: whose URL dialect and needs apply.
type Client Word

// Generic takes what redis-py, ioredis, redis-client and go-redis read alike.
const Generic Client = "generic"

// Require says what Redis must be able to do before it counts as ready.
type Require Word

// The levels of readiness; each includes the ones before it.
const (
	RequirePing  Require = "ping"  // answers, and has loaded its data set
	RequireWrite Require = "write" // would accept a queue's writes
)

// Builtin returns the contract that applies when there is no file. Each group
// of keys is one wait: the first key that is set counts.
func Builtin(groups [][]Key, client Client, require Require, keyPrefix string) Contract {
	c := Contract{Name: "builtin"}
	for i, keys := range groups {
		name := Word("redis")
		if i > 0 {
			name += Word(strconv.Itoa(i + 1))
		}
		c.Keys = append(c.Keys, KeySpec{Key: keys[0], Topic: "redis", Purpose: "queue config", Fallback: keys[1:]})
		c.Waits = append(c.Waits, WaitSpec{name, keys[0], client, require, keyPrefix})
	}
	return c
}
