package compose

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// loadCase is a stack of files that name each other. compose.yaml is loaded, and
// over it override.yaml where there is one.
type loadCase struct {
	name    string
	files   map[string]string
	environ []string
	partial bool
	// want is all that the rules about loading and secrets find, and each
	// error: RULE position.
	want []string
}

func (c loadCase) test(t *testing.T) {
	t.Helper()
	t.Run(c.name, func(t *testing.T) {
		t.Helper()
		t.Chdir(t.TempDir())
		for name, text := range c.files {
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			store(t, name, text)
		}
		var files []string
		for _, name := range []string{"compose.yaml", "deploy/compose.yaml", "override.yaml"} {
			if _, ok := c.files[name]; ok {
				files = append(files, name)
			}
		}
		r, err := Check(context.Background(), files, Options{Environ: c.environ, AllowPartial: c.partial})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range r.Findings {
			if f.Severity == Error || strings.HasPrefix(f.Rule, "SG1") {
				got = append(got, f.Rule+" "+f.Position.String())
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("found %q, want %q\n%+v", got, c.want, r.Findings)
		}
	})
}

const (
	app  = "services:\n  app: {image: app}\n"
	base = "services:\n  base: {image: app}\n"
)

// extends is a service of that name that extends one of another file.
func extends(name, file, service string) string {
	return "services:\n  " + name + ": {extends: {file: " + file + ", service: " + service + "}}\n"
}

// TestFilesOfFiles: files are looked for where compose looks for them.
func TestFilesOfFiles(t *testing.T) {
	const worker = "services:\n  worker: {image: app, env_file: own.env}\n"
	for _, c := range []loadCase{
		{name: "a base of a base", files: map[string]string{
			"compose.yaml": extends("worker", "common/base.yaml", "base"), "common/base.yaml": extends("base", "shared.yaml", "app"), "common/shared.yaml": app,
		}},
		{name: "a base of its own file", files: map[string]string{"compose.yaml": base + "  worker: {extends: {file: compose.yaml, service: base}}\n"}},
		{name: "itself as its base", files: map[string]string{"compose.yaml": extends("worker", "compose.yaml", "worker")}, want: []string{"SG102 compose.yaml:2:12"}},
		{name: "bases of two files", files: map[string]string{
			"compose.yaml": extends("worker", "more.yaml", "base"), "more.yaml": base + "  other: {extends: {file: compose.yaml, service: worker}}\n",
		}},
		{name: "an include with a directory of its own", files: map[string]string{
			"compose.yaml": "include: [{path: services/worker.yaml, project_directory: .}]\n", "services/worker.yaml": extends("worker", "shared.yaml", "app"), "shared.yaml": app,
		}},
		{name: "a base that a merge key brings", files: map[string]string{"compose.yaml": "x-a: &a\n  extends: {file: gone.yaml, service: app}\nservices:\n  worker: {image: app, <<: *a}\n"}, want: []string{"SG103 compose.yaml:2:19"}},
		{name: "the same, partial", partial: true, files: map[string]string{"compose.yaml": "x-a: &a\n  extends: {file: gone.yaml, service: app}\nservices:\n  worker: {image: app, <<: *a}\n"}, want: []string{"SG103 compose.yaml:2:19"}},
		{name: "what an include and a base want is gone, partial", partial: true, files: map[string]string{
			"compose.yaml": "include: [more.yaml]\nservices:\n  worker: {image: app, extends: {file: base.yaml, service: base}}\n  other: {image: app, scale: 2, container_name: one, extends: {file: base.yaml, service: base}}\n",
			"more.yaml":    "include: [gone.yaml]\n" + app, "base.yaml": extends("base", "gone.yaml", "app"),
		}, want: []string{"SG706 compose.yaml:4:33", "SG103 base.yaml:2:26", "SG103 more.yaml:1:11"}},
		{name: "an override that is a comment", files: map[string]string{"compose.yaml": app, "override.yaml": "# template\n"}},
		{name: "an override of nothing", files: map[string]string{"compose.yaml": app, "override.yaml": "---\n"}, want: []string{"SG102 override.yaml:1:1"}},
		{name: "a comment", files: map[string]string{"compose.yaml": "# template\n"}, want: []string{"SG102 compose.yaml:1:1"}},
		{name: "an env_file of an include, of a stack elsewhere", files: map[string]string{
			"deploy/compose.yaml": "include: [more.yaml]\n", "deploy/more.yaml": worker, "deploy/own.env": "A=b\n",
		}},
		{name: "an env_file of an include of an include", files: map[string]string{
			"compose.yaml": "include: [a/more.yaml]\n", "a/more.yaml": "include: [b/more.yaml]\n", "a/b/more.yaml": worker, "a/b/own.env": "A=b\n",
		}},
	} {
		c.test(t)
	}
}

func TestVariablesThatFilesOfVariablesAskFor(t *testing.T) {
	const web = "services:\n  web: {image: app, env_file: web.env, environment: {C: \"${B}\"}}\n"
	files := map[string]string{"compose.yaml": web, "web.env": "A=${X:?m} ${Y?m}\nE=${F:-d}\n", ".env": "B=\"${Z:?m}\"\n"}
	for _, c := range []loadCase{
		{name: "none is set", files: files, want: []string{"SG105 compose.yaml:2:21", "SG105 compose.yaml:2:21", "SG105 .env"}},
		{name: "one is empty", files: files, environ: []string{"X=", "Y=", "Z=z"}, want: []string{"SG105 compose.yaml:2:21"}},
		{name: "all are set", files: files, environ: []string{"X=x", "Y=y", "Z=z"}},
		{name: "compose cannot read them", files: map[string]string{"compose.yaml": web, "web.env": "A=${X!m}\n"}, want: []string{"SG102 compose.yaml:2:21"}},
	} {
		c.test(t)
	}
}

// TestLinesOfVariables: a variable of an env_file is found in its line, or, where
// that is not known, in its file.
func TestLinesOfVariables(t *testing.T) {
	files := map[string]string{
		"compose.yaml": "services:\n  worker: {image: app, command: rq worker, env_file: a.env}\n",
		"a.env":        "\ufeffREDIS_URL=redis://localhost\nexport\tRQ_REDIS_URL=redis://localhost\n  export  SESSION_REDIS_URL : redis://localhost\nD=\"d\" CELERY_BROKER_URL=redis://localhost\n",
	}
	var got []string
	for _, f := range (envCase{files: files}).run(t).Findings {
		if f.Rule == "SG303" {
			got = append(got, f.Position.String()+" "+f.Path[strings.LastIndexByte(f.Path, '.')+1:])
		}
	}
	if want := []string{"a.env CELERY_BROKER_URL", "a.env:1:1 REDIS_URL", "a.env:2:1 RQ_REDIS_URL", "a.env:3:1 SESSION_REDIS_URL"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

func TestVariablesOfIncludes(t *testing.T) {
	const web = "services:\n  web: {image: app, command: rq worker, environment: {A: \"${A:?m}\", B: \"${B}\"}}\n"
	for _, c := range []loadCase{
		{name: "that are passed on", files: map[string]string{
			"compose.yaml": "include: [more.yaml]\n", ".env": "API_TOKEN=abc\nREDIS_URL=redis://:pw@redis\n",
			"more.yaml": "services:\n  web: {image: app, environment: [API_TOKEN, REDIS_URL]}\n  redis: {image: \"redis:7\"}\n",
		}},
		{name: "of its own .env", files: map[string]string{"compose.yaml": "include: [a/web.yaml]\n", "a/web.yaml": web, "a/.env": "A=1\nB=2\n"}},
		{name: "of its env_file", files: map[string]string{"compose.yaml": "include: [{path: web.yaml, env_file: [/dev/null, b.env]}]\n", "web.yaml": strings.Replace(web, "environment:", "env_file: b.env, environment:", 1), "b.env": "A=1\nB=2\n"}},
		{name: "of none", files: map[string]string{"compose.yaml": "include: [{path: a/web.yaml, env_file: /dev/null}]\n", "a/web.yaml": web, "a/.env": "A=1\nB=2\n"}, want: []string{"SG105 a/web.yaml:2:55"}},
		{name: "of a default", files: map[string]string{
			"compose.yaml": "include: [a/web.yaml, b/web.yaml]\n",
			"a/web.yaml":   "services:\n  a: {image: app, command: rq worker, environment: {REDIS_URL: \"redis://${HOST:-localhost}:${PORT}\"}}\n", "a/.env": "HOST=redis\nPORT=a\n",
			"b/web.yaml": "services:\n  redis: {image: \"redis:7\"}\n", "b/.env": "PORT=6379\n",
		}},
		{name: "that it asks for", environ: []string{"X=x"}, files: map[string]string{"compose.yaml": "include: [a/web.yaml]\n", "a/web.yaml": web, "a/.env": "A=${X:?m}\nB=${Y:?m}\n"}, want: []string{"SG105 compose.yaml:1:11"}},
		{name: "that compose cannot read", files: map[string]string{"compose.yaml": "include: [a/web.yaml]\n", "a/web.yaml": web, "a/.env": "A=${X!m}\n"}, want: []string{"SG102 compose.yaml:1:11"}},
		{name: "of a file that is gone", files: map[string]string{"compose.yaml": "include: [{path: web.yaml, env_file: gone.env}]\n", "web.yaml": web}, want: []string{"SG103 compose.yaml:1:18"}},
		{name: "of a file that is gone, partial", partial: true, files: map[string]string{"compose.yaml": "include: [{path: web.yaml, env_file: gone.env}]\n" + app, "web.yaml": web}, want: []string{"SG103 compose.yaml:1:18", "SG105 web.yaml:2:55"}},
	} {
		c.test(t)
	}
}
