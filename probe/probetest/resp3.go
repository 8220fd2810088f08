package probetest

import (
	"fmt"
	"strings"
)

// The replies whose form depends on the protocol that the client has chosen.

func (c *conn) null() string {
	if c.proto == 3 {
		return "_\r\n"
	}
	return "$-1\r\n"
}

func (c *conn) nullArray() string {
	if c.proto == 3 {
		return "_\r\n"
	}
	return "*-1\r\n"
}

// dict is a map reply of keys and values that are encoded already.
func (c *conn) dict(pairs ...string) string {
	if c.proto == 3 {
		return fmt.Sprintf("%%%d\r\n%s", len(pairs)/2, strings.Join(pairs, ""))
	}
	return array(pairs...)
}

// verbatim is a reply of plain text in several lines.
func (c *conn) verbatim(s string) string {
	if c.proto == 3 {
		return fmt.Sprintf("=%d\r\ntxt:%s\r\n", len(s)+4, s)
	}
	return bulk(s)
}
