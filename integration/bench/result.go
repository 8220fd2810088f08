//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/startgate/startgate/integration/internal/report"
)

// result is what a run has found. The table is made of it alone.
type result struct {
	Machine string   `json:"machine"`
	With    []string `json:"with"` // versions of what is compared
	Load    string   `json:"load"` // average over the minute before
	Columns []string `json:"columns"`
	Rows    []row    `json:"rows"`
}

type row struct {
	Name  string `json:"name"`
	Unit  string `json:"unit"` // of the figures
	Cells []cell `json:"cells"`
}

// cell is what one rival has shown.
type cell struct {
	Figure  float64        `json:"figure,omitempty"`
	Text    string         `json:"text,omitempty"`    // in place of a figure
	Samples report.Samples `json:"samples,omitempty"` // milliseconds: what the figure was made of
}

// markdown is the table, and what it was measured on.
func (r result) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| | %s |\n|---|%s\n", strings.Join(r.Columns, " | "), strings.Repeat("---:|", len(r.Columns)))
	for _, row := range r.Rows {
		fmt.Fprintf(&b, "| %s |", row.Name)
		for i, c := range row.Cells {
			fmt.Fprintf(&b, " %s |", c.text(row, i))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\nOn %s; load %s before.\n", strings.Join(append([]string{r.Machine}, r.With...), ", "), r.Load)
	return b.String()
}

// text has the figure with its unit and, behind the first column, its ratio to
// the gate's.
func (c cell) text(r row, column int) string {
	if c.Text != "" {
		return c.Text
	}
	s := number(c.Figure) + " " + r.Unit
	if gate := r.Cells[0].Figure; column > 0 && gate > 0 {
		s += " (" + number(c.Figure/gate) + " ×)"
	}
	return s
}

// number has two digits at least, and no more than count.
func number(x float64) string {
	switch {
	case x < 1:
		return fmt.Sprintf("%.2f", x)
	case x < 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// write writes r to a file, a line for each row.
func (r result) write(file string) error {
	rows := r.Rows
	r.Rows = nil
	head, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.Write(bytes.TrimSuffix(head, []byte("null}")))
	for i, row := range rows {
		line, err := json.Marshal(row)
		if err != nil {
			return err
		}
		b.WriteString([]string{"[\n", ",\n"}[min(i, 1)])
		b.Write(line)
	}
	b.WriteString("\n]}\n")
	return os.WriteFile(file, b.Bytes(), 0o644)
}

func readResult(file string) (r result, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// The marks in the README.
const (
	beginMark = "<!-- numbers: go run ./integration/bench -readme README.md writes what follows -->\n\n"
	endMark   = "\n<!-- end of numbers -->\n"
)

// block returns what stands between the marks of text, and where.
func block(text string) (between string, from, to int, err error) {
	from = strings.Index(text, beginMark)
	to = strings.Index(text, endMark)
	if from < 0 || to < from {
		return "", 0, 0, errors.New("it has no marks for the numbers")
	}
	from += len(beginMark)
	return text[from:to], from, to, nil
}

func replaceBlock(text, with string) (string, error) {
	_, from, to, err := block(text)
	return text[:from] + with + text[to:], err
}
