//go:build linux

// Memory measures what a waiting gate holds of a machine's memory: before a
// closed port, and before a Redis that loads.
//
//	go run ./integration/measure/memory [-after 1m] [-gates 3]
//
// Resident memory (RSS) includes pages of the binary, which all gates of an
// image share. Private_Dirty is what one more gate costs.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/startgate/startgate/integration/internal/fixture"
	"github.com/startgate/startgate/integration/internal/report"
	"github.com/startgate/startgate/integration/internal/resp"
)

// Goals, in KiB.
const (
	goalRSS   = 11 << 10 // of which 8 MiB are the binary's pages
	goalDirty = 2560
)

// state is something that gates wait for.
type state struct {
	name  string
	addr  string
	load  bool // Redis must still be loading at the end
	gates []*fixture.Process
	held  []fixture.Memory
}

func main() {
	after := flag.Duration("after", time.Minute, "how long the gates wait before they are looked at")
	gates := flag.Int("gates", 3, "gates in each state `N`")
	gate := flag.String("gate", "", "measure this `file` instead of building the gate")
	raw := flag.String("json", "", "write the raw numbers to this `file`")
	flag.Parse()
	code, err := measure(*after, *gates, *gate, *raw)
	if err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		code = 1
	}
	os.Exit(code)
}

func measure(after time.Duration, gates int, gate, raw string) (code int, err error) {
	lab, err := fixture.Open()
	if err != nil {
		return 1, err
	}
	defer lab.Close()
	if gate, err = lab.Gate(gate); err != nil {
		return 1, err
	}
	nop, err := lab.Nop()
	if err != nil {
		return 1, err
	}
	states, err := prepare(lab, after)
	if err != nil {
		return 1, err
	}
	r := report.New("memory")
	for i := range states {
		s := &states[i]
		for range gates {
			p, err := lab.Start(fixture.Command{Args: []string{gate, "--", nop}, Env: []string{"REDIS_URL=redis://" + s.addr}})
			if err != nil {
				return 1, err
			}
			s.gates = append(s.gates, p)
		}
	}
	time.Sleep(after)
	for i := range states {
		if err := states[i].look(); err != nil {
			return 1, err
		}
	}
	var rows [][]string
	for _, s := range states {
		var most fixture.Memory
		for _, m := range s.held {
			most.RSS, most.PrivateDirty = max(most.RSS, m.RSS), max(most.PrivateDirty, m.PrivateDirty)
			most.Anonymous, most.Threads = max(most.Anonymous, m.Anonymous), max(most.Threads, m.Threads)
			most.CPU = max(most.CPU, m.CPU)
		}
		r.Keep(s.name, s.held)
		rows = append(rows, []string{
			s.name, mib(most.RSS), mib(most.PrivateDirty), mib(most.Anonymous), strconv.Itoa(most.Threads), report.Ms(most.CPU),
		})
		r.Goal(s.name+", RSS", mib(most.RSS), "≤ "+mib(goalRSS), most.RSS <= goalRSS)
		r.Goal(s.name+", Private_Dirty", mib(most.PrivateDirty), "≤ "+mib(goalDirty), most.PrivateDirty <= goalDirty)
	}
	r.Table([]string{fmt.Sprintf("after %v", after), "RSS", "Private_Dirty", "Anonymous", "threads", "CPU"}, rows)
	r.Note("The greatest of %d gates in each state.", gates)
	return r.End(raw)
}

// prepare starts servers that load for longer than after.
func prepare(lab *fixture.Lab, after time.Duration) ([]state, error) {
	port, err := fixture.FreePort()
	if err != nil {
		return nil, err
	}
	states := []state{{name: "closed port", addr: "127.0.0.1:" + port}}
	for _, kind := range [...]struct {
		name   string
		perKey time.Duration
	}{
		{"loading, answers every 110 ms", 3 * time.Millisecond},
		{"loading, answers every 18 ms", time.Millisecond / 2},
	} {
		dir, err := lab.F1(int((after + 10*time.Second) / kind.perKey))
		if err != nil {
			return nil, err
		}
		redis, err := lab.Redis(dir, fixture.SlowLoad(kind.perKey)...)
		if err != nil {
			return nil, err
		}
		states = append(states, state{name: kind.name, addr: redis.Addr, load: true})
	}
	return states, nil
}

// look reads what the gates of a state hold, while they wait.
func (s *state) look() error {
	for _, p := range s.gates {
		m, err := fixture.HeldBy(p.PID)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		s.held = append(s.held, m)
	}
	if !s.load {
		return nil
	}
	conn, err := resp.Dial(s.addr, "")
	if err != nil {
		return err
	}
	defer conn.Close()
	loading, err := conn.Loading()
	if err == nil && !loading {
		err = fmt.Errorf("%s: the load has ended too early", s.name)
	}
	return err
}

func mib(kib int) string { return fmt.Sprintf("%.2f MiB", float64(kib)/1024) }
