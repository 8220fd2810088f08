//go:build linux

// Bench compares the gate with what users would write or pick in its place, in
// one run and one table.
//
//	go run ./integration/bench [-runs 100] [-loads 12] [-json FILE] [-readme README.md] [-against 'NAME=COMMAND']...
//
// -against adds a column: the worker's arguments are appended to COMMAND, in
// which $REDIS_URL, $REDIS_HOST and $REDIS_PORT are replaced. Figures of starts
// and of the gate's refusals are the least of all runs, all others medians; what
// counts is the ratio to the gate's. What is not installed says so in its
// column.
//
// It judges nothing: that is what the programs of integration/measure are for.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/startgate/startgate/integration/internal/fixture"
	"github.com/startgate/startgate/integration/internal/report"
)

func main() {
	var o options
	flag.IntVar(&o.runs, "runs", 100, "starts of each `N` when Redis is ready")
	flag.IntVar(&o.loads, "loads", 12, "loads `N` of a snapshot")
	flag.StringVar(&o.gate, "gate", "", "measure this `file` instead of building the gate")
	flag.Func("against", "add a column: `NAME=COMMAND`", func(text string) error {
		name, command, ok := strings.Cut(text, "=")
		if !ok || strings.TrimSpace(command) == "" {
			return fmt.Errorf("it takes NAME=COMMAND")
		}
		o.against = append(o.against, rival{name: name, args: strings.Fields(command), waits: true})
		return nil
	})
	from := flag.String("from", "", "measure nothing: take what is in this `file`, which -json has written")
	raw := flag.String("json", "", "write the raw numbers to this `file`")
	readme := flag.String("readme", "", "write the table into this `file`, between its marks")
	flag.Parse()
	if err := run(o, *from, *raw, *readme); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	runs, loads int
	gate        string
	against     []rival
}

func run(o options, from, raw, readme string) (err error) {
	var found result
	if from != "" {
		found, err = readResult(from)
	} else {
		found, err = measure(o)
	}
	if err != nil {
		return err
	}
	fmt.Print(found.markdown())
	if raw != "" {
		if err := found.write(raw); err != nil {
			return err
		}
	}
	if readme == "" {
		return nil
	}
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	with, err := replaceBlock(string(text), found.markdown())
	if err != nil {
		return fmt.Errorf("%s: %w", readme, err)
	}
	return os.WriteFile(readme, []byte(with), 0o644)
}

// bench is a run under way.
type bench struct {
	options
	lab    *fixture.Lab
	rivals []rival // the gate is the first
	nop    string  // a worker that ends at once
	result
}

func measure(o options) (result, error) {
	lab, err := fixture.Open()
	if err != nil {
		return result{}, err
	}
	defer lab.Close()
	b := &bench{options: o, lab: lab}
	if b.nop, err = lab.Nop(); err != nil {
		return result{}, err
	}
	if b.rivals, err = rivals(lab, o); err != nil {
		return result{}, err
	}
	b.Machine, b.Load = report.Machine(), report.Load()
	for _, r := range b.rivals {
		b.Columns = append(b.Columns, r.name)
		if r.version != "" {
			b.With = append(b.With, r.version)
		}
	}
	for _, part := range []struct {
		name    string
		measure func() error
	}{
		{"starts", b.starts}, {"starts from the disk", b.coldStarts}, {"starts under a quota", b.slowStarts},
		{"loads", b.loadTimes}, {"waiting", b.waiting}, {"refusals", b.refusals}, {"the server's thread", b.serverCost}, {"sizes", b.sizes},
	} {
		began := time.Now()
		if err := part.measure(); err != nil {
			return result{}, fmt.Errorf("%s: %w", part.name, err)
		}
		fmt.Fprintf(os.Stderr, "%s: %.0f s\n", part.name, time.Since(began).Seconds())
	}
	return b.result, nil
}

// add adds a row, whose cells are of those rivals that are there.
func (b *bench) add(name, unit string, of func(i int, r *rival) cell) {
	next := row{Name: name, Unit: unit}
	for i := range b.rivals {
		r := &b.rivals[i]
		if r.missing {
			next.Cells = append(next.Cells, cell{Text: "not installed"})
			continue
		}
		next.Cells = append(next.Cells, of(i, r))
	}
	b.Rows = append(b.Rows, next)
}

// least and median are cells of samples.
func least(s report.Samples) cell  { return cell{Figure: ms(s.Min()), Samples: s} }
func median(s report.Samples) cell { return cell{Figure: ms(s.Median()), Samples: s} }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
