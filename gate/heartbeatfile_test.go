package gate

import (
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/startgate/startgate/envcheck"
)

// A file that the worker before this one has touched is no heartbeat.
func TestAHeartbeatFileIsOfThisWorker(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beat")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	l := &line{}
	l.judged.HeartbeatFile = envcheck.Seal(path)
	h := envcheck.Health{MaxAge: big.NewRat(60, 1)}
	for age, want := range map[time.Duration]envcheck.Code{
		5 * time.Second: "", 20 * time.Second: envcheck.HealthHeartbeatStale, time.Hour: envcheck.HealthHeartbeatStale,
	} {
		then := time.Now().Add(-age)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		var got envcheck.Code
		if d := l.fileFault(h, state{Since: time.Now().Add(-10 * time.Second)}); d != nil {
			got = d.Code
		}
		if got != want {
			t.Errorf("touched %s ago, and the worker has run for 10 s: %q, want %q", age, got, want)
		}
	}
}
