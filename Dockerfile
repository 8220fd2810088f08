# The image holds one static binary and is there to be copied from:
#
#   COPY --from=ghcr.io/startgate/startgate:latest /startgate /startgate
#   ENTRYPOINT ["/startgate", "--"]

# The compiler runs on the machine's own platform and cross-compiles, which is many times faster than emulation. The
# classic builder sets none of these platform arguments: "linux" then means linux on this machine's architecture.
FROM --platform=${BUILDPLATFORM:-linux} golang:1.26 AS build
WORKDIR /src

# No default values: they would win over what BuildKit sets. Left empty, they mean the machine's own.
ARG TARGETOS TARGETARCH

# What the binary is built on, by itself: it is downloaded and compiled again only when these two files change, and a
# change of our own code builds in seconds. A go mod download would also fetch all that tests and tools need.
COPY go.mod go.sum ./
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath \
    github.com/cenkalti/backoff/v4 \
    github.com/jackc/pgx/v5/pgproto3 \
    github.com/kelseyhightower/envconfig \
    github.com/redis/go-redis/v9 \
    go.yaml.in/yaml/v3 \
    golang.org/x/crypto/x509roots/fallback \
    golang.org/x/term

# CGO_ENABLED=0 makes the binary static, so that it runs in every image. -s -w leave out symbols and debug information,
# which every worker's image would carry. govulncheck -mode=binary then judges by module: for its judgement by function
# scan a binary that was built without -s.
COPY . .
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags="-s -w" -o /startgate ./cmd/startgate

FROM scratch
# For rediss:// and https://, and for images that copy it along.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /startgate /startgate
# A number, because Kubernetes' runAsNonRoot cannot judge a name, and scratch has no /etc/passwd to resolve one.
USER 65532:65532
ENTRYPOINT ["/startgate"]
