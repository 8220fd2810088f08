package probe

import (
	"strconv"
	"strings"
)

// Bounds on what a peer may send in answer to one write. go-redis allocates
// from a header before its elements are there: a HELLO reply of
// "*100000000\r\n" took 2.6 GB in v9.23.0.
const (
	maxBulk      = 64 << 10
	maxElements  = 64
	maxDepth     = 4
	maxReply     = 1 << 20
	maxHeader    = 20 // digits of a length, sign and line end included
	lineTypes    = "+-:_,#("
	bulkTypes    = "$=!"
	elementTypes = "*%~>"
)

// guard follows a stream of RESP2 or RESP3 and refuses what is not RESP or is
// out of bounds, before anything reads it.
type guard struct {
	many   int           // elements of an aggregate, 0 for maxElements
	total  int           // bytes since the last write
	kind   byte          // of the value under way, 0 between values
	line   int           // bytes of a simple value
	header []byte        // of a bulk or an aggregate
	skip   int           // bytes of a bulk to come
	open   [maxDepth]int // elements to come of each open aggregate
	depth  int
}

// wrote starts the bounds of a new reply.
func (g *guard) wrote() { g.total = 0 }

// accept follows b and reports whether it is RESP within bounds.
func (g *guard) accept(b []byte) bool {
	if g.total += len(b); g.total > maxReply+g.many*maxHeader*maxElements {
		return false
	}
	for len(b) > 0 {
		switch {
		case g.skip > 0:
			n := min(g.skip, len(b))
			b, g.skip = b[n:], g.skip-n
			if g.skip == 0 {
				g.done()
			}
			continue
		case g.kind == 0:
			g.kind = b[0]
			if !knownType(g.kind) {
				return false
			}
		case b[0] == '\n':
			if !g.endLine() {
				return false
			}
		case isLine(g.kind):
			if g.line++; g.line > maxBulk {
				return false
			}
		default:
			if g.header = append(g.header, b[0]); len(g.header) > maxHeader {
				return false
			}
		}
		b = b[1:]
	}
	return true
}

// endLine ends a line: a simple value, or the header of a longer one.
func (g *guard) endLine() bool {
	if isLine(g.kind) {
		g.done()
		return true
	}
	digits := g.header
	if n := len(digits); n > 0 && digits[n-1] == '\r' {
		digits = digits[:n-1]
	}
	n, err := strconv.Atoi(string(digits))
	g.header = g.header[:0]
	if err != nil || n < -1 {
		return false
	}
	if isBulk(g.kind) {
		if n > maxBulk {
			return false
		}
		if n < 0 {
			g.done()
			return true
		}
		g.skip = n + len("\r\n")
		return true
	}
	if n > max(g.many, maxElements) || n > 0 && g.depth == maxDepth {
		return false
	}
	if g.kind == '%' {
		n *= 2
	}
	if n <= 0 {
		g.done()
		return true
	}
	g.open[g.depth] = n
	g.depth++
	g.kind = 0
	return true
}

// done ends a value, and with it each aggregate whose last element it is.
func (g *guard) done() {
	g.kind, g.line = 0, 0
	for g.depth > 0 {
		if g.open[g.depth-1]--; g.open[g.depth-1] > 0 {
			return
		}
		g.depth--
	}
}

func isLine(kind byte) bool { return strings.IndexByte(lineTypes, kind) >= 0 }
func isBulk(kind byte) bool { return strings.IndexByte(bulkTypes, kind) >= 0 }
func knownType(kind byte) bool {
	return isLine(kind) || isBulk(kind) || strings.IndexByte(elementTypes, kind) >= 0
}
