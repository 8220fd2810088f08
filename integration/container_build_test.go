package integration

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/testcontainers/testcontainers-go"
)

// An imageSet has the names of the images under test.
type imageSet struct {
	gate   string // from the project's own Dockerfile
	worker string // a worker's image that has copied the gate, as users do
	redis  string
	tools  string // has what others are made from
}

const workerDockerfile = `
FROM debian:bookworm-slim
COPY --from=%s /startgate /startgate
COPY worker /usr/local/bin/worker
ENV STARTGATE_FORMAT=json
ENTRYPOINT ["/startgate", "--"]
CMD ["worker", "exit", "0"]
`

const redisDockerfile = `
FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends redis-server && rm -rf /var/lib/apt/lists/*
WORKDIR /data
ENTRYPOINT ["redis-server", "--bind", "0.0.0.0", "--protected-mode", "no", "--save", ""]
`

const toolsDockerfile = `
FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends gosu tini musl && rm -rf /var/lib/apt/lists/*
`

// buildImages builds the images. They are removed at the end of t, the images
// that they are made from are not.
func buildImages(t *testing.T) *imageSet {
	t.Helper()
	provideImages(t, "debian:bookworm-slim")
	worker, err := os.ReadFile(workerPath())
	if err != nil {
		t.Fatal(err)
	}
	var images imageSet
	var redisErr, toolsErr error
	var both sync.WaitGroup
	both.Go(func() { images.redis, redisErr = buildFrom(t, "redis", redisDockerfile) })
	both.Go(func() { images.tools, toolsErr = buildFrom(t, "tools", toolsDockerfile) })
	defer both.Wait()
	images.gate = ownImage(t)
	both.Wait()
	if err := errors.Join(redisErr, toolsErr); err != nil {
		t.Fatal(err)
	}
	images.worker, err = buildImage(t, "worker", testcontainers.FromDockerfile{
		ContextArchive: archive(map[string][]byte{
			"Dockerfile": fmt.Appendf(nil, workerDockerfile, images.gate), "worker": worker,
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return &images
}

// buildFrom builds a Dockerfile that needs no other file.
func buildFrom(t testing.TB, name, dockerfile string) (string, error) {
	return buildImage(t, name, testcontainers.FromDockerfile{
		ContextArchive: archive(map[string][]byte{"Dockerfile": []byte(dockerfile)}),
	})
}

// provideImages makes the images that others are made from.
func provideImages(t testing.TB, names ...string) {
	t.Helper()
	if out, err := exec.Command("../.ci/images", names...).CombinedOutput(); err != nil {
		t.Fatalf(".ci/images: %v\n%s", err, out)
	}
}

// own is the gate's image. It is the same for all tests and takes longer to
// build than all others together, so it stays until this process ends.
var own struct {
	sync.Mutex
	image  string
	remove func()
}

// ownImage builds the gate's image from the project's own Dockerfile, once.
func ownImage(t testing.TB) string {
	t.Helper()
	own.Lock()
	defer own.Unlock()
	if own.image != "" {
		return own.image
	}
	provideImages(t, "golang:1.26")
	image, remove, err := build(t.Context(), "gate", testcontainers.FromDockerfile{Context: ".."})
	if err != nil {
		remove()
		t.Fatal(err)
	}
	own.image, own.remove = image, remove
	return image
}

func removeOwnImage() {
	if own.remove != nil {
		own.remove()
	}
}

// buildImage builds an image that is removed at the end of t.
func buildImage(t testing.TB, name string, from testcontainers.FromDockerfile) (string, error) {
	image, remove, err := build(t.Context(), name, from)
	t.Cleanup(remove)
	return image, err
}

func build(ctx context.Context, name string, from testcontainers.FromDockerfile) (image string, remove func(), err error) {
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return "", func() {}, err
	}
	defer provider.Close()
	var steps bytes.Buffer
	from.Repo, from.Tag, from.BuildLogWriter = "startgate-integration-"+name, runName(), &steps
	remove = func() { removeImages(from.Repo+":"+from.Tag, steps.String()) }
	image, err = provider.BuildImage(ctx, &testcontainers.ContainerRequest{FromDockerfile: from})
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", name, err, steps.String())
	}
	return image, remove, err
}

var stepResult = regexp.MustCompile(`(?m)^ ---> ([0-9a-f]{12})$`)

// removeImages removes an image and the results of the steps that led to it,
// unless they were there before.
func removeImages(image, steps string) {
	exec.Command("docker", "image", "rm", "--force", image).Run()
	var made []string
	for step := range strings.SplitSeq(steps, "\nStep ") {
		id := stepResult.FindStringSubmatch(step)
		if id != nil && !strings.Contains(step, "Using cache") && strings.Contains(step, "Running in") {
			made = append([]string{id[1]}, made...)
		}
	}
	for _, id := range made {
		exec.Command("docker", "image", "rm", id).Run()
	}
}

// archive is a build context of these files, all executable.
func archive(files map[string][]byte) *bytes.Reader {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, content := range files {
		w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))})
		w.Write(content)
	}
	w.Close()
	return bytes.NewReader(b.Bytes())
}
