package compose

import (
	"slices"
	"strings"
)

// officialBrokers are images that start a Redis on port 6379 when nothing else
// is said.
var officialBrokers = []string{"redis", "valkey/valkey", "eqalpha/keydb"}

// withoutCheck are images that are known to have no healthcheck of their
// own: Docker's official ones have none by policy.
var withoutCheck = []string{
	"redis", "valkey/valkey", "eqalpha/keydb", "postgres", "mysql", "mariadb", "rabbitmq", "memcached", "mongo", "nginx",
}

// withCheck are images that are known to have one.
var withCheck = []string{"dragonflydb/dragonfly"}

// imageName is the name of the service's image without Docker Hub, tag and
// digest. It is "" when a variable decides, or when the image is built.
func (v *service) imageName() string {
	if v.at("build").exists() {
		return ""
	}
	name, _, _ := strings.Cut(v.at("image").text().effective, "@")
	slash := strings.LastIndexByte(name, '/') + 1
	last, _, _ := strings.Cut(name[slash:], ":")
	name = name[:slash] + last
	for _, registry := range [...]string{"docker.io/", "library/", "docker.dragonflydb.io/", "ghcr.io/"} {
		name = strings.TrimPrefix(name, registry)
	}
	if marked(name) {
		return ""
	}
	return strings.ToLower(name)
}

// ownHealth tells whether the service's image has a healthcheck.
func (v *service) ownHealth() (has, known bool) {
	switch name := v.imageName(); {
	case v.image.Healthcheck != nil:
		return *v.image.Healthcheck, true
	case slices.Contains(withoutCheck, name):
		return false, true
	case slices.Contains(withCheck, name):
		return true, true
	}
	return false, false
}
