package envcheck

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// statusCode is a final status of HTTP: one from 100 to 199 is followed by
// another.
func statusCode() kind[int] {
	number := whole()
	return kind[int]{func() schema { return schema{"type": "integer", "minimum": 200, "maximum": 599} },
		func(l *loader, n *yaml.Node) (int, bool) {
			v, ok := number.read(l, n)
			if ok && (v < 200 || v > 599) {
				l.faultFix(n, ContractBadValue, OutOfRange, "write a status from 200 to 599")
				ok = false
			}
			return v, ok
		}}
}

func readStatus(l *loader, n *yaml.Node, w *WaitSpec) {
	if isKind(n, yaml.SequenceNode) {
		w.Status, _ = listOf(statusCode(), 1).read(l, n)
		return
	}
	if v, ok := statusCode().read(l, n); ok {
		w.Status = []int{v}
	}
}

func headerFields() []field[HeaderKey] {
	return []field[HeaderKey]{
		must(fieldOf("name", "name of the header, as in Authorization", patterned("[A-Za-z][A-Za-z0-9-]{0,63}", headerName),
			func(h *HeaderKey, v string) { h.Name = v })),
		must(fieldOf("key", "key of the header's whole value; nothing is sent while it is unset", declared(),
			func(h *HeaderKey, v Key) { h.Key = v })),
	}
}

func healthHTTPFields() []field[HTTPCheck] {
	return []field[HTTPCheck]{
		must(field[HTTPCheck]{name: "port", doc: "key of the port that the worker answers at, or its number",
			schema: anyOf(keyName().schema, portSchema), read: readHealthPort}),
		must(fieldOf("path", "path to ask for, such as /healthz", patterned("/[!-~]*", urlPath),
			func(h *HTTPCheck, v string) { h.Path = v })),
	}
}

func portSchema() schema { return schema{"type": "integer", "minimum": 1, "maximum": 65535} }

func readHealthPort(l *loader, n *yaml.Node, h *HTTPCheck) {
	s, ok := l.scalar(n)
	if !ok {
		return
	}
	number, isNumber := digits(s)
	switch {
	case !isNumber:
		h.Port, _ = declared().read(l, n)
	case number < 1 || number > 65535:
		l.faultFix(n, ContractBadValue, OutOfRange, "write a port from 1 to 65535")
	default:
		h.Number = number
	}
}

// framing are the headers that say where a request goes and ends.
var framing = [...]string{"host", "connection", "content-length", "transfer-encoding", "upgrade", "te", "trailer", "expect"}

func headerName(s string) Reason {
	switch {
	case slices.Contains(framing[:], strings.ToLower(s)):
		return ReservedName
	case s == "", len(s) > 64, !only(s[:1], lowers+uppers), !only(s, lowers+uppers+numerals+"-"):
		return NotAName
	}
	return ""
}

// httpText says what an http wait asks and what it takes for ready.
func (w *WaitSpec) httpText() string {
	if len(w.Status) == 0 {
		return "GET " + cmp.Or(w.Path, "the URL") + ": 2xx"
	}
	all := make([]string, len(w.Status))
	for i, status := range w.Status {
		all[i] = strconv.Itoa(status)
	}
	return "GET " + cmp.Or(w.Path, "the URL") + ": " + orList(all)
}
