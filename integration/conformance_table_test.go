package integration

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// finding is what one server made of a row, or why the row was not shown on it.
type finding struct{ number, name, server, verdict, got string }

// findings collects what parallel subtests find.
type findings struct {
	sync.Mutex
	all []finding
}

func (f *findings) add(x finding) {
	f.Lock()
	defer f.Unlock()
	f.all = append(f.all, x)
}

// table is the findings as text: a line for each row, with the verdict on each
// server, and one more where servers differ. What stands in for a server has
// the last column.
func (f *findings) table(servers []program) string {
	f.Lock()
	defer f.Unlock()
	slices.SortStableFunc(f.all, func(a, b finding) int {
		return cmp.Or(leadingNumber(a.number)-leadingNumber(b.number), cmp.Compare(a.number, b.number))
	})
	columns := []string{"other"}
	for i := len(servers) - 1; i >= 0; i-- {
		columns = slices.Insert(columns, 0, servers[i].name)
	}
	var b strings.Builder
	line := func(number, name string, cells func(column string) string, text string) {
		fmt.Fprintf(&b, "%-4s %-52s", number, name)
		for _, c := range columns {
			fmt.Fprintf(&b, " %-*s", len(c), cells(c))
		}
		fmt.Fprintf(&b, " %s\n", text)
	}
	line("row", "condition", func(column string) string { return column }, "code")
	for len(f.all) > 0 {
		first := f.all[0]
		verdicts, text := map[string]string{}, first.got
		f.all = slices.DeleteFunc(f.all, func(x finding) bool {
			same := x.number == first.number && x.got == first.got
			if same && slices.Contains(columns, x.server) {
				verdicts[x.server] = x.verdict
			} else if same {
				verdicts["other"] = x.verdict
				text += ", by " + x.server
			}
			return same
		})
		line(first.number, first.name, func(column string) string { return verdicts[column] }, strings.TrimSuffix(text, ", by none"))
	}
	return b.String()
}

func leadingNumber(s string) int {
	n, _ := strconv.Atoi(strings.TrimRight(s, "abcdefghijkl"))
	return n
}
