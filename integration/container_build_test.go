package integration

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	makeBase := exec.Command("../.ci/images", "debian:bookworm-slim", "golang:1.26")
	if out, err := makeBase.CombinedOutput(); err != nil {
		t.Fatalf(".ci/images: %v\n%s", err, out)
	}
	worker, err := os.ReadFile(workerPath())
	if err != nil {
		t.Fatal(err)
	}
	var images imageSet
	var redisErr, toolsErr error
	var all sync.WaitGroup
	all.Go(func() { images.redis, redisErr = buildFrom(t, "redis", redisDockerfile) })
	all.Go(func() { images.tools, toolsErr = buildFrom(t, "tools", toolsDockerfile) })
	images.gate, err = buildImage(t, "gate", testcontainers.FromDockerfile{Context: ".."})
	all.Wait()
	if err := errors.Join(err, redisErr, toolsErr); err != nil {
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
func buildFrom(t *testing.T, name, dockerfile string) (string, error) {
	return buildImage(t, name, testcontainers.FromDockerfile{
		ContextArchive: archive(map[string][]byte{"Dockerfile": []byte(dockerfile)}),
	})
}

func buildImage(t *testing.T, name string, from testcontainers.FromDockerfile) (string, error) {
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return "", err
	}
	defer provider.Close()
	var steps bytes.Buffer
	from.Repo, from.Tag, from.BuildLogWriter = "startgate-integration-"+name, filepath.Base(built), &steps
	from.Tag = strings.ToLower(from.Tag)
	t.Cleanup(func() { removeImages(from.Repo+":"+from.Tag, steps.String()) })
	image, err := provider.BuildImage(t.Context(), &testcontainers.ContainerRequest{FromDockerfile: from})
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", name, err, steps.String())
	}
	return image, nil
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
