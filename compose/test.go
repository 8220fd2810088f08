package compose

import (
	"context"
	"strings"
)

// TB is what [Test] needs of a *testing.T, which programs do not link.
type TB interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
}

// Test checks the files as [Check] does, for go test: findings that are errors
// or warnings fail the test, remarks are logged.
func Test(t TB, files []string, o Options) {
	t.Helper()
	r, err := Check(t.Context(), files, o)
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	var text strings.Builder
	WriteText(&text, r, false, false)
	switch {
	case r.Failed(Warn) || r.Unjudged():
		t.Errorf("\n%s", text.String())
	case len(r.Findings) > 0:
		t.Logf("\n%s", text.String())
	}
}
