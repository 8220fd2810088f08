//go:build linux

// Fleet measures what many gates that wait together cost the one Redis that
// they wait for, and how soon each of them sees that it has loaded.
//
//	go run ./integration/measure/fleet [-gates 1,100,1000,5000] [-mib 400] [-rounds 1]
//		[-interval-max 1s] [-jitter 5s] [-model 100000]
//
// The gates are goroutines of a few processes, with the product's own prober
// and its own wait, on real connections. They share the machine with the
// server, which no fleet of that size does: the server's own processor time
// says more than the clock's.
//
// Larger fleets than a machine has ports and descriptors for are gates of the
// same wait, before a Redis that is only modelled and under a clock that only
// the model's pauses move.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/startgate/startgate/integration/internal/fixture"
	"github.com/startgate/startgate/integration/internal/report"
)

// Goals.
const (
	goalShare = 0.05 // of the server's thread
	goalLoad  = 0.08 // of its time to load, connecting included, which weighs more the shorter that is
	goalGates = 1000 // up to which that holds: the pauses of more are bounded by interval_max
	goalSeen  = 2 * time.Second
)

type options struct {
	sizes       []int
	mib         int
	rounds      int
	intervalMax time.Duration
	jitter      time.Duration
	model       int
}

func main() {
	if len(os.Args) > 2 {
		// What processes of this program do for another one.
		parts := map[string]func(args []string, w io.Writer) error{asGates: runGates, asModel: runModel}
		if part := parts[os.Args[1]]; part != nil {
			if err := part(os.Args[2:], os.Stdout); err != nil {
				fmt.Fprintln(os.Stderr, "fleet:", err)
				os.Exit(1)
			}
			return
		}
	}
	var o options
	sizes := flag.String("gates", "1,100,1000,5000", "sizes of fleets, with real connections")
	flag.IntVar(&o.mib, "mib", 400, "size of the append-only file that Redis loads, in hundreds")
	flag.IntVar(&o.rounds, "rounds", 1, "loads without gates, and of each fleet")
	flag.DurationVar(&o.intervalMax, "interval-max", time.Second, "the setting interval_max")
	flag.DurationVar(&o.jitter, "jitter", 5*time.Second, "the setting start_jitter, to compare with none")
	flag.IntVar(&o.model, "model", 100_000, "gates of the model")
	raw := flag.String("json", "", "write the raw numbers to this `file`")
	flag.Parse()
	code, err := measure(o, *sizes, *raw)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		code = 1
	}
	os.Exit(code)
}

func measure(o options, sizes, raw string) (code int, err error) {
	for size := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil || n < 1 {
			return 1, fmt.Errorf("%q is no size of a fleet", size)
		}
		o.sizes = append(o.sizes, n)
	}
	lab, err := fixture.Open()
	if err != nil {
		return 1, err
	}
	defer lab.Close()
	r := report.New("fleet")
	dir, err := lab.F1(heldKeys)
	if err != nil {
		return 1, err
	}
	cost, err := held(lab, r, o, dir)
	if err != nil {
		return 1, err
	}
	if err := turnedAway(lab, r, o, dir); err != nil {
		return 1, err
	}
	if err := loads(lab, r, o, cost); err != nil {
		return 1, err
	}
	if err := modelled(lab, r, o, cost); err != nil {
		return 1, err
	}
	return r.End(raw)
}

func itoa(n int) string { return strconv.Itoa(n) }

func percent(part float64) string { return fmt.Sprintf("%.1f %%", part*100) }

func micro(d time.Duration) string { return fmt.Sprintf("%.0f µs", float64(d.Nanoseconds())/1000) }
