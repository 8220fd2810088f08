//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The numbers of the README are those of the run whose raw numbers are kept.
func TestReadmeHasTheLastRun(t *testing.T) {
	last, err := readResult("testdata/last.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range last.Rows {
		if len(row.Cells) != len(last.Columns) {
			t.Errorf("%s: %d cells for %d columns", row.Name, len(row.Cells), len(last.Columns))
		}
		if row.Cells[0].Figure == 0 {
			t.Errorf("%s: no figure of the gate", row.Name)
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	got, _, _, err := block(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if want := last.markdown(); got != want {
		t.Errorf("the README has\n%s\nwant\n%s", got, want)
	}
}

// What -json writes says the same when it is read again.
func TestResultComesBack(t *testing.T) {
	last, err := readResult("testdata/last.json")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "again.json")
	if err := last.write(file); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/last.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("the file that is written is another than the one that was read")
	}
}

func TestCells(t *testing.T) {
	r := row{Unit: "ms", Cells: []cell{{Figure: 4}, {Figure: 0.25}, {Figure: 48.4}, {Text: "waits on"}}}
	for i, want := range []string{"4.0 ms", "0.25 ms (0.06 ×)", "48 ms (12 ×)", "waits on"} {
		if got := r.Cells[i].text(r, i); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Only what stands between the marks is replaced.
func TestReplaceBlock(t *testing.T) {
	before, after := "# a\n\n"+beginMark, endMark+"\nmore\n"
	got, err := replaceBlock(before+"old\n"+after, "new\n")
	if want := before + "new\n" + after; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for _, text := range []string{"", beginMark, endMark, endMark + beginMark} {
		if _, err := replaceBlock(text, "new\n"); err == nil || !strings.Contains(err.Error(), "marks") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
