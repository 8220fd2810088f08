package compose

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
)

func TestSecretRules(t *testing.T) {
	env := func(entry string) []string { return []string{refuseAfter, refuseAfter + "      " + entry + "\n"} }
	const at = " services.worker.environment."
	web := func(lines string) []string {
		return []string{lastLines, "  web:\n    image: web\n" + lines + lastLines}
	}
	redis := func(lines string) []string { return []string{"    image: redis:7\n", "    image: redis:7\n" + lines} }
	check := func(test string) []string { return []string{"[CMD, redis-cli, -e, ping]", test} }
	const opened = "SG803 error services.redis.ports.0\nSG804 warning services.redis.ports.0"
	runCases(t, "SG8", []stackCase{
		{name: "a literal", change: env("API_TOKEN: 3f1c0c9e5b"), want: "SG801 error" + at + "API_TOKEN"},
		{name: "a placeholder", change: env("DB_PASSWORD: changeme"), want: "SG801 error" + at + "DB_PASSWORD"},
		{name: "a default", change: env("DB_PASSWORD: ${PW:-changeme}"), want: "SG801 error" + at + "DB_PASSWORD"},
		{name: "a default of a variable that is set", change: env("DB_PASSWORD: ${PW-changeme}"), environ: []string{"PW=x"}, want: "SG801 error" + at + "DB_PASSWORD"},
		{name: "a default of a default", change: env("DB_PASSWORD: ${PW:-${OLD_PW:-changeme}}"), want: "SG801 error" + at + "DB_PASSWORD"},
		{name: "an empty default", change: env("DB_PASSWORD: ${PW:-}")},
		{name: "a variable", change: env("DB_PASSWORD: ${PW:?}")},
		{name: "a variable for its default", change: env("DB_PASSWORD: ${PW:-${OLD_PW}}")},
		{name: "a variable and text", change: env("DB_PASSWORD: pre${PW}")},
		{name: "passed on", change: env("DB_PASSWORD:")},
		{name: "a file", change: env("DB_PASSWORD_FILE: /run/secrets/db")},
		{name: "a path", change: env("TLS_PRIVATE_KEY: /run/secrets/key")},
		{name: "a reference", change: env("DB_PASSWORD: op://vault/db/password\n      API_TOKEN: 'arn:aws:secretsmanager:eu-west-1:1:secret:api'")},
		{name: "a switch", change: env("ALLOW_EMPTY_PASSWORD: 'yes'")},
		{name: "a number", change: env("MAX_TOKEN: 512")},
		{name: "an empty one", change: env("DB_PASSWORD: ''")},
		{name: "an env_file's", change: []string{throughGate, throughGate + "    env_file: w.env\n"}, files: map[string]string{"w.env": "DB_PASSWORD=changeme\n"}},
		{name: "in a list", change: web("    environment: [DB_PASSWORD=changeme, DB_USER=web]\n"), want: "SG801 error services.web.environment.DB_PASSWORD"},
		{name: "declared by the contract", change: env("HANDSHAKE: 3f1c0c9e5b"), contract: strings.Replace(pageContract, "rules:", "  HANDSHAKE: {secret: true}\nrules:", 1), want: "SG801 error" + at + "HANDSHAKE"},
		{name: "by an anchor, once", change: append([]string{"services:\n", "x-env: &env {DB_PASSWORD: changeme}\nservices:\n"}, web("    environment: *env\n  web2:\n    image: web\n    environment:\n      <<: *env\n")...),
			want: "SG801 error services.web.environment.DB_PASSWORD"},
		{name: "a server's option", change: []string{"noeviction]", "noeviction, --requirepass, changeme]"}, want: "SG801 error services.redis.command.6"},
		{name: "a server's option in a string", change: []string{"[redis-server, --appendonly, \"yes\", --maxmemory-policy, noeviction]", "redis-server --requirepass ${PW:-changeme}"}, want: "SG801 error services.redis.command"},
		{name: "a server's option by a variable", change: []string{"noeviction]", "noeviction, --requirepass, '${PW:?is the password}']"}},
		{name: "a server's option in the container", change: []string{"[redis-server, --appendonly, \"yes\", --maxmemory-policy, noeviction]", "[sh, -c, 'exec redis-server --requirepass \"$$PW\"']"}},
		{name: "a client's option", change: check("redis-cli -a changeme ping | grep -q PONG"), want: "SG801 error services.redis.healthcheck.test"},

		{name: "an option of what reads a client's output", change: check("redis-cli ping | grep -a PONG")},
		{name: "a client's option behind another command", change: check("[CMD-SHELL, 'true && exec redis-cli -a changeme -e ping']"), want: "SG801 error services.redis.healthcheck.test.1"},

		{name: "a URL", change: env("DATABASE_URL: postgres://app:3f1c0c9e5b@db.example/app"), want: "SG802 error" + at + "DATABASE_URL"},
		{name: "a URL's default", change: env("DATABASE_URL: ${DATABASE_URL:-postgres://app:3f1c0c9e5b@db.example/app}"), want: "SG802 error" + at + "DATABASE_URL"},
		{name: "a URL's password by default", change: env("DATABASE_URL: postgres://app:${PW:-changeme}@db.example/app")},
		{name: "a URL's password by a variable", change: env("DATABASE_URL: postgres://app:${PW:?is the password}@db.example/app")},
		{name: "a URL without password", change: env("DATABASE_URL: postgres://app@db.example/app")},
		{name: "a URL by an anchor, once", change: append([]string{"services:\n", "x-env: &env {DATABASE_URL: 'postgres://app:changeme@db.example/app'}\nservices:\n"}, web("    environment: *env\n  web2:\n    image: web\n    environment:\n      <<: *env\n")...),
			want: "SG802 error services.web.environment.DATABASE_URL"},
		{name: "an address behind a URL", change: env("LINK: http://web.example/a:b@c")},
		{name: "what RabbitMQ starts with", change: env("AMQP_URL: amqp://guest:guest@rabbit//")},
		{name: "a pattern", change: env("AMQP_URL: amqp://app:<password>@rabbit//")},
		{name: "a URL in a command", change: []string{rqCommand, "rq worker -u redis://:changeme@redis:6379/0"}, want: "SG802 error services.worker.command"},
		{name: "a URL for a secret", change: env("WEBHOOK_TOKEN: https://app:changeme@hook.example/"), want: "SG802 error" + at + "WEBHOOK_TOKEN"},

		{name: "published", change: redis("    ports: ['6379:6379']\n"), want: opened},
		{name: "published at any port", change: redis("    ports: [6379]\n"), want: opened},
		{name: "published in the long form", change: redis("    ports: [{target: 6379, host_ip: 0.0.0.0}]\n"), want: opened},
		{name: "published for IPv6", change: redis("    ports: ['[::]:6379:6379']\n"), want: opened},
		{name: "published at a port of a variable", change: redis("    ports: ['${PORT:-6379}:6379']\n"), want: opened},
		{name: "published at a port that is not known", change: redis("    ports: ['${PORT:?}:6379']\n"), want: "SG803 warning services.redis.ports.0"},
		{name: "published at an address that is not known", change: redis("    ports: ['${ADDRESS:?}:6379:6379']\n")},
		{name: "published before loopback, as a range", change: redis("    ports: ['6379-6380:6379-6380', '127.0.0.1:1:1']\n"), want: opened},
		{name: "published behind a range", change: redis("    ports: ['127.0.0.1:1-2:1-2', '6379:6379']\n"), want: "SG803 error services.redis.ports.1\nSG804 warning services.redis.ports.1"},
		{name: "published at loopback", change: redis("    ports: ['127.0.0.1:6379:6379']\n")},
		{name: "published by a web", change: web("    ports: ['80:80']\n")},
		{name: "published with a password", change: append(redis("    ports: ['10.0.0.5:6379:6379']\n"), "noeviction]", "noeviction, --requirepass, '${PW:?}']")},
		{name: "published with a file", change: append(redis("    ports: ['10.0.0.5:6379:6379']\n"), "[redis-server, --appendonly", "[redis-server, /etc/redis.conf, --appendonly")},
		{name: "published with a file of another name", change: append(redis("    ports: ['10.0.0.5:6379:6379']\n"), "[redis-server, --appendonly", "[redis-server, redis.cfg, --appendonly")},
		{name: "published with another image", change: []string{"    image: redis:7\n", "    image: bitnami/valkey:8\n    environment: {VALKEY_PASSWORD: '${PW:?}'}\n    ports: ['10.0.0.5:6379:6379']\n"}},
		{name: "published for some", change: redis("    ports: ['10.0.0.5:6379:6379']\n"), want: "SG804 warning services.redis.ports.0"},
		{name: "a broker elsewhere", change: []string{"redis://redis:6379/0", "redis://queue.example:6379/0"}, want: "SG804 info" + at + "RQ_REDIS_URL"},
		{name: "a broker elsewhere, by TLS", change: []string{"redis://redis:6379/0", "rediss://queue.example:6379/0"}},
		{name: "a broker elsewhere, with a password", change: []string{"redis://redis:6379/0", "redis://:${PW}@queue.example:6379/0"}},
		{name: "a broker elsewhere, with a password of its own", change: append(env("REDIS_PASSWORD_FILE: /run/secrets/pw"), "redis://redis:6379/0", "redis://queue.example:6379/0")},
		{name: "a broker that a variable names", change: []string{"redis://redis:6379/0", "${RQ_REDIS_URL:?}"}},

		{name: "a build argument", change: web("    build: {context: ., args: {NPM_TOKEN: '${NPM_TOKEN}'}}\n"), want: "SG805 warning services.web.build.args.NPM_TOKEN"},
		{name: "a build argument in a list", change: web("    build: {context: ., args: [NPM_TOKEN, VERSION=1]}\n"), want: "SG805 warning services.web.build.args.0"},
		{name: "a label", change: web("    labels: {com.example.api-key: 3f1c0c9e5b}\n"), want: "SG805 warning services.web.labels"},
		{name: "no secrets in labels", change: web("    labels: ['com.example.token=', 'traefik.enable=true', 'com.example.password=false']\n    build: {context: ., args: {VERSION: '1'}}\n")},

		{name: "a client's argument", change: check("redis-cli -a $$REDIS_PASSWORD ping | grep -q PONG"), want: "SG807 warning services.redis.healthcheck.test"},
		{name: "a client's argument in a list", change: check("[CMD, redis-cli, --pass, '${PW:?is it}', -e, ping]"), want: "SG807 warning services.redis.healthcheck.test.3"},
		{name: "a worker's URL", change: []string{rqCommand, "[rq, worker, -u, 'redis://:${PW:?is it}@redis:6379']"}, want: "SG807 warning services.worker.command.3"},
		{name: "a worker's URL without password", change: []string{rqCommand, "[rq, worker, -u, 'redis://redis:6379']"}},
		{name: "another database's", change: web("    healthcheck: {test: 'mysqladmin ping --password=$$MYSQL_PASSWORD'}\n")},
	})
}

// TestSecretsAreNotSaid has each rule about secrets find one and looks for it
// in what is printed.
func TestSecretsAreNotSaid(t *testing.T) {
	const canary = "Zq8vKp3x"
	t.Chdir(t.TempDir())
	stack := strings.NewReplacer(
		refuseAfter, refuseAfter+"      API_TOKEN: "+canary+"\n      DATABASE_URL: postgres://app:"+canary+"@db.example/"+canary+"\n      DB_PASSWORD: ${PW:-"+canary+"}\n",
		"    image: redis:7\n", "    image: redis:7\n    labels: {token: "+canary+"}\n    build: {context: ., args: {NPM_TOKEN: "+canary+"}}\n",
		"noeviction]", "noeviction, --requirepass, "+canary+"]",
		"[CMD, redis-cli, -e, ping]", "redis-cli -a "+canary+"$$X ping",
		rqCommand, "rq worker -u redis://:"+canary+"@redis:6379 -n "+canary,
		initLine, initLine+"    container_name: "+canary+"\n    scale: 2\n",
	).Replace(soundStack)
	if err := os.WriteFile("compose.yaml", []byte(stack), 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := Check(context.Background(), []string{"compose.yaml"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"SG706", "SG714", "SG801", "SG802", "SG805", "SG807"} {
		if !has(r, id) {
			t.Errorf("%s finds nothing", id)
		}
	}
	var out bytes.Buffer
	if err := WriteText(&out, r, false, false); err != nil {
		t.Fatal(err)
	}
	for i := 0; i+6 <= len(canary); i++ {
		if strings.Contains(out.String(), canary[i:i+6]) {
			t.Fatalf("a secret is printed:\n%s", out.String())
		}
	}
}
