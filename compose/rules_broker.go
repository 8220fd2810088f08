package compose

import (
	"slices"
	"strings"

	"github.com/startgate/startgate/envcheck"
)

// queue is a broker with workers that take their jobs from it.
type queue struct {
	broker *service
	strict bool // one of the workers is of a family that evictions break
	bullmq bool // which warns about every policy but one
}

// queues are the brokers that workers take their jobs from. One that is only
// a cache is none.
func (c *check) queues() []queue {
	found := map[*service]queue{}
	for _, v := range c.of(worker) {
		for _, b := range v.queueBrokers() {
			q := found[b]
			q.broker = b
			q.strict = q.strict || slices.Contains([]envcheck.Client{envcheck.BullMQ, envcheck.RQ, envcheck.Sidekiq, envcheck.Celery}, v.client)
			q.bullmq = q.bullmq || v.client == envcheck.BullMQ
			found[b] = q
		}
	}
	var all []queue
	for _, b := range c.of(broker) {
		if q, ok := found[b]; ok {
			all = append(all, q)
		}
	}
	return all
}

// queueBrokers are those of the worker's brokers that its jobs come from: by
// the contract's waits, else by the keys that each family has for it.
func (v *service) queueBrokers() []*service {
	var keys []string
	if v.contract != nil {
		for _, w := range v.contract.Waits {
			keys = append(keys, string(w.Redis.URL))
		}
	}
	targets := v.targets()
	for _, f := range familyKeys {
		if len(keys) == 0 && f.client == v.client && v.variables[f.key] != nil {
			keys = append(keys, f.key)
		}
	}
	meant := func(t target) bool {
		name := t.variable.name
		if len(keys) > 0 {
			return slices.Contains(keys, name)
		}
		return !strings.Contains(name, "CACHE") && !strings.Contains(name, "SESSION")
	}
	return slices.DeleteFunc(slices.Clone(v.brokers()), func(b *service) bool {
		names := b.hostNames()
		return len(targets) > 0 && !slices.ContainsFunc(targets, func(t target) bool { return meant(t) && slices.Contains(names, t.host) })
	})
}

// directive is a setting of a server, as its files have it.
type directive struct {
	name, value string
	at          node
	by          *envVar // nil for the command line
}

// directives are those that a broker's files show: of its command line, of the
// variables that images make one of, and of a configuration that stands in the
// compose file. more is true when there may be others.
func (v *service) directives() (found []directive, more bool) {
	all := append(wordsAt(v.at("entrypoint")), wordsAt(v.at("command"))...)
	found, more = readDirectives(all, nil)
	more = more || v.at("build").exists() || !v.complete
	for _, name := range v.variableNames() {
		e := v.variables[name]
		if !strings.HasSuffix(name, "_ARGS") && !strings.HasSuffix(name, "_EXTRA_FLAGS") {
			continue
		}
		more = more || !e.known
		var flags []word
		for _, w := range strings.Fields(e.effective) {
			flags = append(flags, word{text{symbolic: w, effective: w, known: !marked(w)}, e.node, false})
		}
		others, unread := readDirectives(flags, e)
		found, more = append(found, others...), more || unread
	}
	for _, n := range v.at("configs").each() {
		content := v.stack.model.at("configs", n.at("source").text().effective, "content")
		more = more || !content.exists() || !content.text().known
		for line := range strings.Lines(content.text().effective) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.HasPrefix(name, "#") {
				found = append(found, directive{strings.ToLower(name), unquoted(value), content, nil})
			}
		}
	}
	return found, more
}

func readDirectives(all []word, by *envVar) (found []directive, more bool) {
	for i, w := range all {
		value := i > 0 && strings.HasPrefix(all[i-1].effective, "--")
		more = more || !w.known && !value || strings.HasSuffix(w.effective, ".conf") || w.effective == "-"
		name, ok := strings.CutPrefix(w.effective, "--")
		if !ok || name == "" {
			continue
		}
		name, is, valued := strings.Cut(name, "=")
		if !valued && i+1 < len(all) && !strings.HasPrefix(all[i+1].effective, "--") {
			is = all[i+1].effective
		}
		found = append(found, directive{strings.ToLower(name), unquoted(is), w.node, by})
	}
	return found, more
}

func unquoted(s string) string { return strings.Trim(strings.TrimSpace(s), `"'`) }

// eviction is SG901. Without maxmemory no policy comes into play.
func eviction(c *check) {
	for _, q := range c.queues() {
		found, more := q.broker.directives()
		limited := more || slices.ContainsFunc(found, func(d directive) bool { return d.name == "maxmemory" && d.value != "0" })
		for _, d := range found {
			evicts := d.name == "maxmemory-policy" && d.value != "noeviction" && d.value != "" || d.name == "cache_mode" && d.value != "false"
			if !evicts || marked(d.value) {
				continue
			}
			f := c.sayAt(q.broker, d.by, d.at, "%s may throw away keys of its queues when its memory is full", nameOf(q.broker.name))
			if !q.strict || d.name == "maxmemory-policy" && (!limited || strings.HasPrefix(d.value, "volatile-") && !q.bullmq) {
				f.as(Warn)
			}
		}
	}
}

// unsaved is SG902. Where the image declares a volume the data outlives a
// restart, though not a new container.
func unsaved(c *check) {
	for _, q := range c.queues() {
		b := q.broker
		found, more := b.directives()
		var off *directive
		for _, d := range found {
			switch {
			case d.name == "appendonly" && d.value == "yes", d.name == "save" && d.value != "":
				more = true
			case d.name == "save":
				off = &d
			}
		}
		switch {
		case off != nil && !more:
			c.sayAt(b, off.by, off.at, "%s saves nothing: a restart empties its queues", nameOf(b.name))
		case inMemory(b).exists():
			c.say(inMemory(b), "%s has its data in memory: a restart empties its queues", nameOf(b.name))
		case !b.at("volumes").exists() && !b.at("volumes_from").exists():
			c.say(b.node, "%s has no volume: a new container has empty queues", nameOf(b.name)).as(Info).
				fixed("give it a named volume at /data")
		}
	}
}

// inMemory is what has the data directory of a broker in memory, absent when
// nothing does.
func inMemory(b *service) node {
	isData := func(place string) bool { return strings.TrimSuffix(place, "/") == "/data" }
	for _, t := range b.at("tmpfs").texts() {
		if place, _, _ := strings.Cut(t.effective, ":"); isData(place) {
			return b.at("tmpfs")
		}
	}
	for _, n := range b.at("volumes").each() {
		if n.at("type").text().effective == "tmpfs" && isData(n.at("target").text().effective) {
			return n
		}
	}
	return node{}
}

// floatingTag is SG904.
func floatingTag(c *check) {
	for _, q := range c.queues() {
		b := q.broker
		image := b.at("image")
		t := image.text()
		if !image.exists() || !t.known || b.at("build").exists() || strings.Contains(t.effective, "@") || !slices.Contains(brokerImages, b.repository()) {
			continue
		}
		if tag := b.tag(); !strings.ContainsAny(tag, "0123456789") {
			c.say(image, "the image of %s has no version: the next pull may bring another major one", nameOf(b.name))
		}
	}
}
