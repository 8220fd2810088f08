package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/network"
)

// libc is a C library, as its loader is named on this machine.
type libc struct{ loader, file string }

func libcs() (glibc, musl libc) {
	if runtime.GOARCH == "arm64" {
		return libc{"/lib/ld-linux-aarch64.so.1", "/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1"},
			libc{"/lib/ld-musl-aarch64.so.1", "/lib/aarch64-linux-musl/libc.so"}
	}
	return libc{"/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"},
		libc{"/lib/ld-musl-x86_64.so.1", "/lib/x86_64-linux-musl/libc.so"}
}

// linkedWorker is the worker as a program that this C library loads.
func linkedWorker(t *testing.T, l libc) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "worker")
	build := exec.Command("go", "build", "-buildmode=pie", "-ldflags=-s -w -I "+l.loader, "-o", path, "./testdata/worker")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Images that copy the gate, in front of a worker that is loaded by what the
// image has. The last of them has nothing to load its worker by.
var elsewhere = []struct {
	name, tag string
	musl      bool // the worker's C library
	file      string
	exit      int // of a worker that exits with 17
}{
	{"glibc", "glibc", false, "FROM debian:bookworm-slim", 17},
	{"distroless", "distroless", false, "FROM scratch\nCOPY --from=TOOLS GLIBC.FILE GLIBC.LOADER\nUSER 65532:65532", 17},
	{"musl", "musl", true, "FROM scratch\nCOPY --from=TOOLS MUSL.FILE MUSL.LOADER", 17},
	{"worker for glibc on musl", "mixed", false, "FROM scratch\nCOPY --from=TOOLS MUSL.FILE MUSL.LOADER", 127},
}

// testElsewhere copies the gate into images of every kind.
func testElsewhere(t *testing.T, images *imageSet) {
	glibc, musl := libcs()
	forGlibc, forMusl := linkedWorker(t, glibc), linkedWorker(t, musl)
	s := newStack(t, images)
	s.redis()
	for _, other := range elsewhere {
		t.Run(other.name, func(t *testing.T) {
			t.Parallel()
			file := strings.NewReplacer("TOOLS", images.tools, "GLIBC.FILE", glibc.file, "GLIBC.LOADER", glibc.loader,
				"MUSL.FILE", musl.file, "MUSL.LOADER", musl.loader).Replace(other.file)
			worker := forGlibc
			if other.musl {
				worker = forMusl
			}
			image, err := buildImage(t, other.tag, testcontainers.FromDockerfile{
				ContextArchive: archive(map[string][]byte{
					"Dockerfile": fmt.Appendf(nil, file+copiedGate, images.gate), "worker": worker,
				}),
			})
			if err != nil {
				t.Fatal(err)
			}
			behindGate(t, s, image, other.exit)
		})
	}
}

const copiedGate = `
COPY --from=%s /startgate /startgate
COPY worker /usr/bin/worker
ENV STARTGATE_FORMAT=json
ENTRYPOINT ["/startgate", "--"]
CMD ["worker", "exit", "17"]
`

// behindGate looks at the image's container from outside: its one process is
// the worker, and so are its signals and its exit code.
func behindGate(t *testing.T, s *stack, image string, exit int) {
	on := []testcontainers.ContainerCustomizer{
		network.WithNetwork(nil, s.net), testcontainers.WithEnv(map[string]string{"REDIS_URL": broker}),
	}
	w := runBox(t, image, on...).expect(exit)
	if exit == 127 {
		if last := w.last(); last.Reason != "loader_missing_glibc" || slices.Contains(w.codes(), "start") {
			t.Errorf("%s, last line %+v", w.codes(), last)
		}
		return
	}
	w = runBox(t, image, append(on, testcontainers.WithCmd("worker", "signal"))...)
	w.awaitStdout("ready for signals")
	w.isAlone("worker")
	docker(t, "kill", "--signal", "TERM", w.id)
	w.expect(40 + 15)
}

// isAlone checks, from outside, that the container has one process: the
// program that is process 1 is the worker, and the process is the one that the
// engine has started.
func (b *box) isAlone(program string) {
	b.t.Helper()
	if got := b.processes(); !slices.Equal(got, []string{program}) {
		b.t.Errorf("processes %v", got)
	}
	started := docker(b.t, "inspect", "--format", "{{.State.Pid}}", b.id)
	lines := strings.Split(docker(b.t, "top", b.id, "-o", "pid,comm"), "\n")
	if pid := strings.Fields(lines[len(lines)-1])[0]; pid != started {
		b.t.Errorf("the process is %s, the engine has started %s", pid, started)
	}
}
