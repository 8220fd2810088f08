package integration

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// loadedWorker is a command line whose worker asks s, first thing, whether it
// is loading.
func loadedWorker(s *redisServer, flags ...string) []string {
	return append(append([]string{"run"}, flags...), "--", workerPath(), "loading", s.addr())
}

// checkLoaded checks that the worker was started and found the data loaded.
func checkLoaded(t testing.TB, p *gateProcess) {
	t.Helper()
	if p.wait(); p.code != 0 || p.stdout != "worker: loaded\n" {
		t.Errorf("exit %d, the worker says %q\n%s", p.code, p.stdout, p.stderr)
	}
}

// However a start and a load fall together, the worker finds the data loaded.
func TestWorkerNeverStartsWhileLoading(t *testing.T) {
	needProgram(t, "redis-server")
	starts := 20
	if full() {
		starts = 200
	}
	var met atomic.Int32
	t.Run("starts", func(t *testing.T) {
		for i := range starts {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				if p := startAroundLoad(t, i); slices.Contains(p.codes(), "redis_loading") {
					met.Add(1)
				}
			})
		}
	})
	t.Logf("%d of %d gates have met a loading server", met.Load(), starts)
	if int(met.Load()) < starts/2 {
		t.Error("too few gates have met a loading server for this to mean anything")
	}
}

// startAroundLoad starts a gate before a server, with it or after it.
func startAroundLoad(t *testing.T, i int) *gateProcess {
	s := newRedis(t, redisOptions{dir: dataSet(t)})
	args := loadArgs(time.Duration(100+rand.IntN(400)) * time.Microsecond)
	gate := command(s.env(), loadedWorker(s)...)
	var p *gateProcess
	switch i % 3 {
	case 0:
		p = start(t, gate)
		p.await("redis_refused", 1)
		s.launch(args...)
	case 1:
		s.launch(args...)
		p = start(t, gate)
	case 2:
		s.start(args...)
		p = start(t, gate)
	}
	checkLoaded(t, p)
	return p
}

// A real append-only file: 3 MB, or in the long run more than 100 MiB and no
// delay of the loader's.
func TestWorkerNeverStartsWhileAOFLoads(t *testing.T) {
	if !full() {
		s := startLoadingAOF(t, 30_000)
		p := run(t, s.env(), loadedWorker(s)...)
		checkLoaded(t, p)
		if !slices.Contains(p.codes(), "redis_loading") {
			t.Errorf("the gate has met no loading server: %s", p.codes())
		}
		return
	}
	args := []string{"--appendonly", "yes", "--aof-use-rdb-preamble", "no"}
	s := startRedis(t, redisOptions{args: args})
	write(t, s, 1_000_000, 100)
	size := int64(0)
	files, _ := filepath.Glob(filepath.Join(s.o.dir, "appendonlydir", "*.aof"))
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			size += info.Size()
		}
	}
	if size < 100<<20 {
		t.Fatalf("the file has %d bytes only", size)
	}
	for range 5 {
		s.kill()
		s.launch(args...)
		p := run(t, s.env(), loadedWorker(s)...)
		checkLoaded(t, p)
		t.Logf("%d MiB, waited %.1f s: %s", size>>20, p.last().Elapsed, p.codes())
	}
}

// A budget that ends while Redis loads says so, wherever in a window its end
// falls: a probe that the end has cut short is no reply time-out.
func TestBudgetSpentWhileLoading(t *testing.T) {
	s := startLoading(t, 3*time.Millisecond)
	for i := range 8 {
		budget := time.Duration(800+i*25) * time.Millisecond
		t.Run(budget.String(), func(t *testing.T) {
			t.Parallel()
			p := run(t, s.env(), "wait", "--timeout", budget.String())
			last := p.last()
			if p.code != 75 || last.Code != "redis_loading" || last.Exit != 75 {
				t.Errorf("exit %d, code %s\n%s", p.code, last.Code, p.stderr)
			}
			for code := range last.Causes {
				if code == "redis_reply_timeout" {
					t.Errorf("causes %v", last.Causes)
				}
			}
		})
	}
}
