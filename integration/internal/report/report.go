// Package report prints what a measurement has found: the machine, tables in
// Markdown, goals with pass or fail. [Report.End] also writes the raw numbers.
package report

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Report is the report of one measurement, as it grows.
type Report struct {
	raw   raw
	goals []goal
}

// raw is what the file of raw numbers holds.
type raw struct {
	Measure string         `json:"measure"`
	Machine string         `json:"machine"`
	Load    [2]string      `json:"load"` // before and after
	Pass    bool           `json:"pass"`
	Goals   []goal         `json:"goals"`
	Data    map[string]any `json:"data"` // durations are milliseconds
}

type goal struct {
	Goal     string `json:"goal"`
	Measured string `json:"measured"`
	Limit    string `json:"limit"`
	Pass     bool   `json:"pass"`
}

// New starts the report of a measurement and prints what it runs on.
func New(measure string) *Report {
	r := &Report{raw: raw{Measure: measure, Machine: Machine(), Load: [2]string{Load()}, Data: map[string]any{}}}
	fmt.Printf("## %s\n\nmachine: %s; load %s\n", measure, r.raw.Machine, r.raw.Load[0])
	if busy, err := strconv.ParseFloat(r.raw.Load[0], 64); err == nil && busy > float64(runtime.NumCPU()) {
		r.Note("The machine is busy: believe minima and counts only, or start this with nice -n -20.")
	}
	return r
}

// Machine describes the machine in a line.
func Machine() string {
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	redis := "no redis-server"
	if out, err := exec.Command("redis-server", "--version").Output(); err == nil {
		redis = "Redis unknown"
		for field := range strings.FieldsSeq(string(out)) {
			if v, ok := strings.CutPrefix(field, "v="); ok {
				redis = "Redis " + v
			}
		}
	}
	return fmt.Sprintf("%d CPUs, Linux %s %s, %s, %s",
		runtime.NumCPU(), strings.TrimSpace(string(kernel)), runtime.GOARCH, runtime.Version(), redis)
}

// Load is the load average over the last minute.
func Load() string {
	b, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(b), " ")
	return first
}

// Table prints a table.
func (r *Report) Table(header []string, rows [][]string) {
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	line := func(row []string) {
		fmt.Print("|")
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			if i == 0 {
				fmt.Print(" ", cell, pad, " |")
			} else {
				fmt.Print(" ", pad, cell, " |")
			}
		}
		fmt.Println()
	}
	fmt.Println()
	line(header)
	rule := "|"
	for i, w := range widths {
		if i == 0 {
			rule += strings.Repeat("-", w+2) + "|"
		} else {
			rule += strings.Repeat("-", w+1) + ":|"
		}
	}
	fmt.Println(rule)
	for _, row := range rows {
		line(row)
	}
}

// Note prints a sentence about what the tables show.
func (r *Report) Note(format string, args ...any) { fmt.Printf("\n"+format+"\n", args...) }

// Goal judges one of the goals.
func (r *Report) Goal(what, measured, limit string, pass bool) {
	r.goals = append(r.goals, goal{what, measured, limit, pass})
}

// Keep has the raw numbers written under name: [Samples] or any other value
// that JSON can hold.
func (r *Report) Keep(name string, v any) { r.raw.Data[name] = v }

// End prints the goals, writes the raw numbers to file unless that is "", and
// returns the exit code: 0 when every goal was met.
func (r *Report) End(file string) (code int, err error) {
	r.raw.Pass, r.raw.Goals, r.raw.Load[1] = true, r.goals, Load()
	var rows [][]string
	for _, g := range r.goals {
		verdict := "pass"
		if !g.Pass {
			verdict, r.raw.Pass, code = "FAIL", false, 1
		}
		rows = append(rows, []string{g.Goal, g.Measured, g.Limit, verdict})
	}
	r.Table([]string{"goal", "measured", "limit", "verdict"}, rows)
	fmt.Printf("\nload at the end %s\n", r.raw.Load[1])
	if file == "" {
		return code, nil
	}
	b, err := json.MarshalIndent(r.raw, "", " ")
	if err != nil {
		return 1, err
	}
	return code, os.WriteFile(file, append(b, '\n'), 0o644)
}

// Samples are the times of one kind that a measurement has taken.
type Samples []time.Duration

// Quantile returns the sample below or at which the part q of all lie.
func (s Samples) Quantile(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[max(0, int(math.Ceil(q*float64(len(s))))-1)]
}

// Min, Median, P95 and Max are the quantiles that the tables show.
func (s Samples) Min() time.Duration    { return s.Quantile(0) }
func (s Samples) Median() time.Duration { return s.Quantile(0.5) }
func (s Samples) P95() time.Duration    { return s.Quantile(0.95) }
func (s Samples) Max() time.Duration    { return s.Quantile(1) }

// MarshalJSON writes milliseconds.
func (s Samples) MarshalJSON() ([]byte, error) {
	ms := make([]float64, len(s))
	for i, d := range s {
		ms[i] = float64(d.Microseconds()) / 1000
	}
	return json.Marshal(ms)
}

// UnmarshalJSON reads them.
func (s *Samples) UnmarshalJSON(text []byte) error {
	var ms []float64
	if err := json.Unmarshal(text, &ms); err != nil {
		return err
	}
	*s = nil
	for _, x := range ms {
		*s = append(*s, time.Duration(math.Round(x*1000))*time.Microsecond)
	}
	return nil
}

// Ms is a duration in milliseconds, for a table.
func Ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }
