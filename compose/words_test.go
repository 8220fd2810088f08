package compose

import "testing"

// TestNULIsNoHole: what stands for a variable while a text is taken apart may
// stand in the text.
func TestNULIsNoHole(t *testing.T) {
	files := envStack(`RQ_REDIS_URL: "redis://:\0${PASSWORD}@redis"`)
	files["override.yaml"] = "services:\n  worker: {command: \"rq \\0 ${A} \\0 worker\"}\n"
	if r := (envCase{files: files}).run(t); len(r.Cases) == 0 {
		t.Error("nothing is judged")
	}
}
