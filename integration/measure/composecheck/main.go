//go:build linux

// Composecheck measures the compose checker's whole process over a stack of
// 1,000 lines in three files with a contract, and over one ten times as large.
//
//	go run ./integration/measure/composecheck [-runs 30]
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/startgate/startgate/integration/measure/internal/fixture"
	"github.com/startgate/startgate/integration/measure/internal/report"
)

const (
	lines     = 1000
	times     = 10
	goal      = 50 * time.Millisecond
	growth    = 12.0 // at most, for ten times the lines
	sizeLimit = 12_000_000
)

func main() {
	runs := flag.Int("runs", 30, "runs over each stack `N`")
	checker := flag.String("checker", "", "measure this `file` instead of building the checker")
	keep := flag.String("keep", "", "leave the stacks in this `directory`")
	raw := flag.String("json", "", "write the raw numbers to this `file`")
	flag.Parse()
	code, err := measure(*runs, *checker, *keep, *raw)
	if err != nil {
		fmt.Fprintln(os.Stderr, "composecheck:", err)
		code = 1
	}
	os.Exit(code)
}

// stack is one that is measured.
type stack struct {
	name      string
	args      []string
	lines     int
	took, cpu report.Samples
}

func measure(runs int, checker, keep, raw string) (code int, err error) {
	lab, err := fixture.Open()
	if err != nil {
		return 1, err
	}
	defer lab.Close()
	if checker == "" {
		checker, err = lab.Build("cmd/startgate-compose")
	} else {
		checker, err = filepath.Abs(checker)
	}
	if err != nil {
		return 1, err
	}
	info, err := os.Stat(checker)
	if err != nil {
		return 1, err
	}
	if keep == "" {
		keep = lab.Dir
	}
	stacks := []stack{{name: "one service", lines: 2}, {name: "1,000 lines"}, {name: "10,000 lines"}}
	nothing := filepath.Join(keep, "nothing.yaml")
	if err := os.WriteFile(nothing, []byte("services:\n  web: {image: \"nginx:1.29\"}\n"), 0o666); err != nil {
		return 1, err
	}
	stacks[0].args = []string{checker, "check", "-f", nothing}
	for i, n := range []int{lines, times * lines} {
		s := &stacks[i+1]
		args, made, err := generate(filepath.Join(keep, fmt.Sprint(n)), n)
		if err != nil {
			return 1, err
		}
		s.args, s.lines = append([]string{checker, "check"}, args...), made
	}

	r := report.New("composecheck")
	for range runs {
		for i := range stacks {
			s := &stacks[i]
			e, err := lab.Run(fixture.Command{Args: s.args})
			if err != nil {
				return 1, err
			}
			if e.Exit != 0 {
				return 1, fmt.Errorf("%s: exit %d, where the stack is clean: -keep leaves it", s.name, e.Exit)
			}
			s.took, s.cpu = append(s.took, e.Took), append(s.cpu, e.CPU)
		}
	}
	var rows [][]string
	for _, s := range stacks {
		r.Keep(s.name, s.took)
		r.Keep(s.name+", CPU", s.cpu)
		rows = append(rows, []string{s.name, fmt.Sprint(s.lines), report.Ms(s.took.Min()), report.Ms(s.took.Median()), report.Ms(s.took.Max()), report.Ms(s.cpu.Median())})
	}
	r.Table([]string{"stack", "lines", "min", "median", "max", "CPU, median"}, rows)
	small, large := stacks[1], stacks[2]
	r.Goal("1,000 lines, median", report.Ms(small.took.Median()), "≤ "+report.Ms(goal), small.took.Median() <= goal)
	// Minima, since what else the machine does adds more to what takes longer.
	ratio := float64(large.took.Min()) / float64(small.took.Min())
	r.Goal("ten times as many lines, ratio of minima", fmt.Sprintf("%.1f ×", ratio), fmt.Sprintf("≤ %.0f ×", growth), ratio <= growth)
	r.Goal("binary", fmt.Sprintf("%.2f MB", float64(info.Size())/1e6), fmt.Sprintf("≤ %.0f MB", sizeLimit/1e6), info.Size() <= sizeLimit)
	return r.End(raw)
}
