package compose

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSecretFiles(t *testing.T) {
	stack := func(rest string) map[string]string {
		return map[string]string{"compose.yaml": "services:\n  db:\n    image: postgres:16\n" + indent(rest, "    ") +
			"secrets:\n  pw: {file: pw.txt}\n  other: {environment: OTHER}\nconfigs:\n  c: {file: c.txt}\n"}
	}
	const env = "environment: {DB_PASSWORD_FILE: /run/secrets/pw}\n"
	for _, c := range []envCase{
		{name: "no secret", files: stack(env), want: []string{"SG214 error @DB_PASSWORD_FILE"}},
		{name: "another secret", files: stack(env + "secrets: [other]"), want: []string{"SG214 error @DB_PASSWORD_FILE"}},
		{name: "another target", files: stack(env + "secrets: [{source: pw, target: x}]"), want: []string{"SG214 error @DB_PASSWORD_FILE"}},
		{name: "below /var", files: stack("environment: {DB_PASSWORD_FILE: /var/run/secrets/pw}"), want: []string{"SG214 error @DB_PASSWORD_FILE"}},
		{name: "the secret", files: stack(env + "secrets: [pw]")},
		{name: "the secret in long form", files: stack(env + "secrets: [{source: pw}]")},
		{name: "its target", files: stack(env + "secrets: [{source: other, target: pw}]")},
		{name: "its absolute target", files: stack(env + "secrets: [{source: other, target: /run/secrets/pw}]")},
		{name: "a target that is not known", files: stack(env + "secrets: [{source: other, target: '${T}'}]")},
		{name: "a volume", files: stack(env + "volumes: ['./s:/run/secrets:ro']")},
		{name: "a volume of a variable", files: stack(env + "volumes: ['${S:-./s}:/run/secrets']")},
		{name: "a volume in long form", files: stack(env + "volumes: [{type: bind, source: ./s, target: /run}]")},
		{name: "a config", files: stack(env + "configs: [{source: c, target: /run/secrets/pw}]")},
		{name: "a tmpfs", files: stack(env + "tmpfs: /run/secrets")},
		{name: "a file of the image", files: stack("environment: {SSL_CERT_FILE: /etc/ssl/certs/ca-certificates.crt}")},
		{name: "unknown", files: stack("environment: {DB_PASSWORD_FILE: '/run/secrets/${N}'}")},
	} {
		c.test(t)
	}
}

// TestSecretFileIsNotRead: a file of that name on this host says nothing about
// the container's.
func TestSecretFileIsNotRead(t *testing.T) {
	for _, content := range []string{"redis://redis:6379/0", "no URL at all"} {
		file := filepath.Join(t.TempDir(), "url")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c := envCase{name: "its content", contract: envContract, files: envStack("RQ_REDIS_URL_FILE: " + file)}
		c.test(t)
	}
	envCase{name: "it is not there", contract: envContract, files: envStack("RQ_REDIS_URL_FILE: /nowhere/url")}.test(t)
}
