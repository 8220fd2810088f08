# The release's images: the very programs that are uploaded, for each platform. Its context is the folder that
# .ci/release has filled, its targets are the two programs.
FROM --platform=$BUILDPLATFORM golang:1.26 AS certificates

FROM scratch AS startgate
ARG TARGETOS TARGETARCH TARGETVARIANT
COPY --from=certificates /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --chmod=0755 startgate-${TARGETOS}-${TARGETARCH}${TARGETVARIANT} /startgate
USER 65532:65532
ENTRYPOINT ["/startgate"]

FROM scratch AS startgate-compose
ARG TARGETOS TARGETARCH TARGETVARIANT
COPY --chmod=0755 startgate-compose-${TARGETOS}-${TARGETARCH}${TARGETVARIANT} /startgate-compose
USER 65532:65532
ENTRYPOINT ["/startgate-compose"]
