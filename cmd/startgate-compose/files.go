package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/startgate/startgate/compose"
)

// The names that docker compose looks for, in its order (compose-go, cli,
// DefaultFileNames and DefaultOverrideFileNames).
var (
	fileNames     = []string{"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"}
	overrideNames = []string{"compose.override.yml", "compose.override.yaml", "docker-compose.override.yml", "docker-compose.override.yaml"}
)

// defaultFiles are the files that docker compose takes when none is given: those
// of COMPOSE_FILE, or those with the names above, here or in the nearest
// directory above that has one.
func (p program) defaultFiles() []string {
	if names := p.variable("COMPOSE_FILE"); names != "" {
		separator := p.variable("COMPOSE_PATH_SEPARATOR")
		if separator == "" {
			separator = string(os.PathListSeparator)
		}
		return strings.Split(names, separator)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		return nil
	}
	dir := ""
	for {
		if file := firstOf(fileNames, dir); file != "" {
			files := []string{file}
			if override := firstOf(overrideNames, dir); override != "" {
				files = append(files, override)
			}
			return files
		}
		if parent := filepath.Dir(here); parent == here {
			return nil
		} else {
			here, dir = parent, filepath.Join("..", dir)
		}
	}
}

func firstOf(names []string, dir string) string {
	for _, name := range names {
		if file := filepath.Join(dir, name); exists(file) {
			return file
		}
	}
	return ""
}

// envFiles are those of COMPOSE_ENV_FILES, nil when it says nothing.
func (p program) envFiles() []string {
	if names := p.lookup("COMPOSE_ENV_FILES"); names != "" {
		return strings.Split(names, ",")
	}
	return nil
}

// variable is one of docker compose's own, which it also takes from .env.
func (p program) variable(name string) string {
	if value := p.lookup(name); value != "" {
		return value
	}
	return compose.Variables(".env")[name]
}

func (p program) lookup(name string) string {
	for _, entry := range p.environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
