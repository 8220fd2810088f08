package integration

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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

var snapshot struct {
	sync.Mutex
	dump []byte
}

// dataSet returns a new directory with a snapshot of loadKeys keys.
func dataSet(t testing.TB) string {
	t.Helper()
	snapshot.Lock()
	defer snapshot.Unlock()
	if snapshot.dump == nil {
		s := startRedis(t, redisOptions{})
		write(t, s, loadKeys, 1000)
		s.do("SAVE")
		dump, err := os.ReadFile(filepath.Join(s.o.dir, "dump.rdb"))
		if err != nil {
			t.Fatal(err)
		}
		snapshot.dump = dump
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "dump.rdb"), snapshot.dump, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
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
		value := fmt.Sprintf("%0*d", size, 0)
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
	return startRedis(t, redisOptions{dir: dataSet(t), args: append(loadArgs(delay), args...)})
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
