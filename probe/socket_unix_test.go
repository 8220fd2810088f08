//go:build unix

package probe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

func TestSocket(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]envcheck.Code{
		filepath.Join(dir, "none"):              envcheck.RedisSocketMissing,
		filepath.Join(file, "below"):            envcheck.RedisSocketMissing,
		file:                                    envcheck.RedisRefused,
		dir + "/" + strings.Repeat("long/", 40): envcheck.RedisAddressInvalid,
	} {
		got := prober(t, envcheck.RedisParts{Socket: path}, options()).Probe(t.Context())
		if got.Code != want || got.Facts.Address != "socket" {
			t.Errorf("%s %s, want %s", got.Code, got.Facts.Address, want)
		}
	}
}
