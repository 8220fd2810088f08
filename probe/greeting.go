package probe

import (
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/startgate/startgate/envcheck"
)

// cluster is a mode of HELLO and a topology of a wait.
const cluster = "cluster"

// greeting is what a server says of itself in HELLO. It takes no right, and
// works while the server loads. A server without HELLO makes no statement.
type greeting struct {
	mode    string // standalone, cluster or sentinel
	role    string // master or replica
	version string
}

// beforeHello stands for the version of a server that does not know HELLO,
// which came with 6.0.
const beforeHello = "5"

func greetingOf(hello *redis.Cmd) (g greeting) {
	if err := hello.Err(); err != nil && unknownCommand(err) {
		g.version = beforeHello
	}
	fields, _ := hello.Slice()
	for i := 0; i+1 < len(fields); i += 2 {
		value, _ := fields[i+1].(string)
		switch fields[i] {
		case "mode":
			g.mode = value
		case "role":
			g.role = value
		case "version":
			g.version = value
		}
	}
	return g
}

// fault is what of the greeting a family cannot work with.
func (g greeting) fault(o RedisOptions) envcheck.Code {
	f := familyOf(o.Client)
	switch {
	case o.Topology == cluster && g.mode != "" && g.mode != cluster:
		return envcheck.RedisNotACluster
	case o.Topology != cluster && g.mode == cluster && f.standalone:
		return envcheck.RedisClusterMode
	case older(g.version, f.atLeast), slices.ContainsFunc(o.Checks, g.tooOld):
		return envcheck.RedisVersionTooOld
	}
	return ""
}

func (g greeting) tooOld(c envcheck.Check) bool { return older(g.version, c.Version) }

// older reports whether version is before limit. What is no version of digits
// and points makes no statement.
func older(version, limit string) bool {
	v, l := strings.Split(version, "."), strings.Split(limit, ".")
	for i := range l {
		part := "0"
		if i < len(v) {
			part = v[i]
		}
		have, err := strconv.Atoi(part)
		want, unknown := strconv.Atoi(l[i])
		switch {
		case err != nil || unknown != nil:
			return false
		case have != want:
			return have < want
		}
	}
	return false
}
