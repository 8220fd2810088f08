//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const contract = `contract: 1
name: fleet
policy: {empty: unset, whitespace: error, unknown: warn}
owns: [RQ_*]
keys:
  RQ_REDIS_URL:   {type: redis_url, topic: redis, required: true}
  REDIS_URL:      {type: redis_url, topic: redis, required: true}
  REDIS_PASSWORD: {secret: true, topic: redis_password}
  RQ_REDIS_WAIT_TIMEOUT_SECONDS:  {type: seconds, default: "300", min: 1, max: 3600}
  RQ_REDIS_WAIT_INTERVAL_SECONDS: {type: seconds, default: "1", min: 0.1, max: 60}
rules:
  - {code: redis_urls_not_aligned, aligned: [RQ_REDIS_URL, REDIS_URL], ignore: [db], fix: point both keys at the same server}
  - {code: redis_wait_interval_too_long, less: [RQ_REDIS_WAIT_INTERVAL_SECONDS, RQ_REDIS_WAIT_TIMEOUT_SECONDS]}
waits:
  - {redis: {url: RQ_REDIS_URL, password: REDIS_PASSWORD}, client: rq, require: [write]}
settings: {timeout: RQ_REDIS_WAIT_TIMEOUT_SECONDS, interval_max: RQ_REDIS_WAIT_INTERVAL_SECONDS}
`

// head is what each file begins with: YAML has no anchors of other files.
const head = `x-logging: &logging
  driver: json-file
  options: {max-size: 10m, max-file: "3"}

x-environment: &environment
  RQ_REDIS_URL: redis://redis:6379/0
  REDIS_URL: redis://redis:6379/1
  RQ_REDIS_WAIT_TIMEOUT_SECONDS: ${WAIT_TIMEOUT:-300}
  RQ_REDIS_WAIT_INTERVAL_SECONDS: "2"
  STARTGATE_REFUSE_AFTER: 60s
  LOG_LEVEL: ${LOG_LEVEL:-info}

services:
`

const redis = `  redis:
    image: redis:7.4
    command: [redis-server, --appendonly, "yes", --maxmemory-policy, noeviction, --protected-mode, "no"]
    volumes: [queue:/data]
    restart: unless-stopped
    stop_grace_period: 1m
    logging: *logging
    healthcheck:
      test: [CMD, redis-cli, -e, ping]
      interval: 5s
      timeout: 3s
      start_period: 300s

`

// web and worker are services; %d is a number.
const (
	web = `  web-%d:
    image: registry.example/app:${TAG:-1.0}
    command: [gunicorn, --bind, "0.0.0.0:8000", app:create]
    restart: unless-stopped
    logging: *logging
    environment:
      REDIS_URL: redis://redis:6379/1
      PUBLIC_URL: https://app-%d.example/
      WORKERS: ${WEB_WORKERS:-4}
    ports:
      - "127.0.0.1:${PORT:-80}:8000"
    labels:
      traefik.enable: "true"
      traefik.http.routers.web-%d.rule: Host(` + "`app-%d.example`" + `)
    healthcheck:
      test: [CMD-SHELL, "curl -fsS http://127.0.0.1:8000/health || exit 1"]
      interval: 10s
      timeout: 3s
      retries: 3
      start_period: 30s
    depends_on:
      redis:
        condition: service_healthy

`
	worker = `  rq-worker-%d:
    image: registry.example/worker:${TAG:-1.0}
    entrypoint: [/startgate, --]
    command: [rq, worker, queue-%d, default]
    init: true
    restart: unless-stopped
    stop_grace_period: 2m
    logging: *logging
    environment:
      <<: *environment
      QUEUE_NAME: queue-%d
      SENTRY_ENVIRONMENT: ${STAGE:-production}
      PYTHONUNBUFFERED: "1"
    volumes:
      - scratch:/scratch
    labels:
      com.example.team: team-%d
      com.example.tier: worker
    healthcheck:
      test: [CMD, /startgate, health]
      interval: 2s
      timeout: 2s
      start_period: 340s
    depends_on:
      redis: {condition: service_healthy}
    deploy:
      replicas: 2
      resources:
        limits: {cpus: "0.50", memory: 512M}

`
	tail = "volumes:\n  queue:\n  scratch:\n"
)

// generate writes a stack of about n lines in three files and returns the
// arguments that check it, and how many lines it has.
func generate(dir string, n int) (args []string, lines int, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, 0, err
	}
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err == nil {
			err = os.WriteFile(file, []byte(text), 0o666)
		}
		return file
	}
	number := 0
	for i := range 3 {
		var b strings.Builder
		b.WriteString(head)
		if i == 0 {
			b.WriteString(redis)
		}
		for strings.Count(b.String(), "\n") < n/3-len(strings.Split(worker, "\n"))/2 {
			text := worker
			if number%4 == 3 {
				text = web
			}
			number++
			b.WriteString(strings.ReplaceAll(text, "%d", fmt.Sprint(number)))
		}
		b.WriteString(tail)
		lines += strings.Count(b.String(), "\n")
		args = append(args, "-f", write(fmt.Sprintf("compose.%d.yaml", i), b.String()))
	}
	return append(args, "--contract", write("contract.yaml", contract)), lines, err
}
