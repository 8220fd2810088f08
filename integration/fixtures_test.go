package integration

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Loading on demand: a small data set, and two hidden settings of Redis that
// make it sleep after each key and answer clients between short chunks. One
// chunk has about 36 keys, so the server answers every 36 delays.
const (
	loadKeys      = 2000
	keysPerWindow = 36
)

// loadArgs make a server with dataSet load for loadKeys times delay.
func loadArgs(delay time.Duration) []string {
	return append(stallArgs(delay), "--loading-process-events-interval-bytes", "1024")
}

// stallArgs make it load as long and answer nobody meanwhile.
func stallArgs(delay time.Duration) []string {
	return []string{"--key-load-delay", strconv.FormatInt(delay.Microseconds(), 10)}
}

// A snapshot is of no use to servers that are older than the one that wrote it.
type snapshot struct {
	program    program
	keys, size int
}

var snapshots struct {
	sync.Mutex
	dumps map[snapshot][]byte
}

// dataSet returns a new directory with a snapshot of loadKeys keys.
func dataSet(t testing.TB) string {
	t.Helper()
	return dataSetOf(t, loadKeys, 1000)
}

func dataSetOf(t testing.TB, keys, size int) string {
	t.Helper()
	snapshots.Lock()
	defer snapshots.Unlock()
	of := snapshot{programOf(t), keys, size}
	if snapshots.dumps[of] == nil {
		s := startRedis(t, redisOptions{args: []string{"--rdbcompression", yesNo(size < chunk6)}})
		write(t, s, keys, size)
		s.do("SAVE")
		dump, err := os.ReadFile(filepath.Join(s.o.dir, "dump.rdb"))
		if err != nil {
			t.Fatal(err)
		}
		if snapshots.dumps == nil {
			snapshots.dumps = map[snapshot][]byte{}
		}
		snapshots.dumps[of] = dump
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "dump.rdb"), snapshots.dumps[of], 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Redis 6 answers clients between chunks of 2 MiB and has no setting for it.
const chunk6 = 2 << 20

// slowLoad returns a data set, and the settings that make a server of t load
// it for loadKeys times delay and answer between short chunks.
func slowLoad(t testing.TB, delay time.Duration) (dir string, args []string) {
	t.Helper()
	if isRedis6(t) {
		const keys = 32 // each of which is a chunk
		return dataSetOf(t, keys, chunk6), stallArgs(delay * loadKeys / keys)
	}
	return dataSet(t), loadArgs(delay)
}

// write fills s with keys of the given size.
func write(t testing.TB, s *redisServer, keys, size int) {
	t.Helper()
	c, err := s.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	go func() {
		w := bufio.NewWriterSize(c.conn, 64<<10)
		value := strings.Repeat("0", size)
		for i := range keys {
			w.WriteString(respCommand("SET", "key:"+strconv.Itoa(i), value))
		}
		w.Flush()
	}()
	for range keys {
		if reply, err := c.receive(); err != nil || reply != "OK" {
			t.Fatalf("SET: %q, %v", reply, err)
		}
	}
}

// startLoading starts a server that loads for about loadKeys times delay.
func startLoading(t testing.TB, delay time.Duration, args ...string) *redisServer {
	t.Helper()
	dir, load := slowLoad(t, delay)
	return startRedis(t, redisOptions{dir: dir, args: append(load, args...)})
}

// windows measures the time between the answers of a server that loads.
func windows(t testing.TB, s *redisServer, n int) (longest time.Duration) {
	t.Helper()
	c, err := s.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	c.ask("PING")
	for range n {
		asked := time.Now()
		if reply, err := c.ask("PING"); err != nil || reply[0] != '-' {
			t.Fatalf("not loading: %q, %v", reply, err)
		}
		longest = max(longest, time.Since(asked))
	}
	return longest
}
