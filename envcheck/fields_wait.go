package envcheck

import (
	"math/big"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

func waitFields() []field[WaitSpec] {
	address := func(kind Word, doc string) field[WaitSpec] {
		return fieldOf(string(kind), doc, declared(), func(w *WaitSpec, v Key) { w.Kind, w.Address = kind, v })
	}
	return []field[WaitSpec]{
		{name: "redis", doc: "a key of type redis_url, or the keys of a Redis's parts",
			schema: anyOf(keyName().schema, object(redisFields).schema), read: readRedisKeys},
		address("postgres", "a key of type postgres_url: PostgreSQL accepts connections"),
		address("http", "a key of type http_url: GET answers with 2xx, or a status of your own"),
		address("tcp", "a key that holds HOST:PORT or a URL: the port takes connections"),
		fieldOf("name", "name of the wait; its kind unless said", dashed("a-z"), func(w *WaitSpec, v string) { w.Name = Word(v) }),
		exprField("when", "the wait is done when this is true", func(w *WaitSpec) **Expr { return &w.When }),
		fieldOf("client", "family of Redis clients whose URL dialect and needs apply", oneOf(Generic, RQ, Celery, Sidekiq, BullMQ, Asynq),
			func(w *WaitSpec, v Client) { w.Client = v }),
		{name: "require", doc: "what Redis must do: reachable, ping or write; noeviction, persistence and version>=X.Y too",
			schema: listOf(levelOrCheck(), 1).schema, read: readRequire},
		fieldOf("prefer", "what is only warned about: noeviction, persistence, version>=X.Y", listOf(check(), 1),
			func(w *WaitSpec, v []Check) { w.Prefer = v }),
		fieldOf("oom", "of a Redis that is out of memory: retry, or warn for workers that only take jobs", oneOf(Retry, AsWarn),
			func(w *WaitSpec, v Handling) { w.OOM = v }),
		fieldOf("key_prefix", "where the write test, which has no effect, may look", sentence(), func(w *WaitSpec, v string) { w.KeyPrefix = v }),
		fieldOf("topology", "what the address leads to; standalone unless said", oneOf[Word]("standalone", "sentinel", "cluster"),
			func(w *WaitSpec, v Word) { w.Topology = v }),
		fieldOf("tls", "how the server's certificate is verified", object(tlsFields), func(w *WaitSpec, v *TLSKeys) { w.TLS = *v }),
		fieldOf("path", "path of an http wait; the URL's own unless said", patterned("/[!-~]*", urlPath), func(w *WaitSpec, v string) { w.Path = v }),
		{name: "status", doc: "of an http wait: the one status that is ready, or a list of them; any 2xx unless said",
			schema: anyOf(statusCode().schema, listOf(statusCode(), 1).schema), read: readStatus},
		fieldOf("header", "header that an http wait sends", object(headerFields), func(w *WaitSpec, v *HeaderKey) { w.Header = *v }),
	}
}

// kindFields are the fields that only some kinds of wait take.
var kindFields = [...]struct {
	field string
	kinds string
}{
	{"client", "redis"}, {"require", "redis"}, {"prefer", "redis"}, {"oom", "redis"}, {"key_prefix", "redis"}, {"topology", "redis"},
	{"tls", "redis postgres http"}, {"path", "http"},
	{"status", "http"}, {"header", "http"},
}

func urlPath(s string) Reason {
	if !strings.HasPrefix(s, "/") || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return NotPrintable
	}
	return ""
}

func redisFields() []field[RedisKeys] {
	part := func(name, doc string, at func(*RedisKeys) *Key) field[RedisKeys] {
		return fieldOf(name, doc, declared(), func(r *RedisKeys, v Key) { *at(r) = v })
	}
	return []field[RedisKeys]{
		part("url", "key of the URL", func(r *RedisKeys) *Key { return &r.URL }),
		part("host", "key of the host", func(r *RedisKeys) *Key { return &r.Host }),
		part("port", "key of the port; 6379 when it is unset", func(r *RedisKeys) *Key { return &r.Port }),
		part("user", "key of the user, where the URL has none", func(r *RedisKeys) *Key { return &r.User }),
		part("password", "key of the password, where the URL has none", func(r *RedisKeys) *Key { return &r.Password }),
		part("db", "key of the database's number", func(r *RedisKeys) *Key { return &r.DB }),
		part("tls", "key of type bool: whether to speak TLS", func(r *RedisKeys) *Key { return &r.TLS }),
		part("sentinels", "key of the Sentinels, as HOST:PORT,HOST:PORT", func(r *RedisKeys) *Key { return &r.Sentinels }),
		fieldOf("master", "name of the master that the Sentinels watch, which also Celery's URL does not have", sentence(), func(r *RedisKeys, v string) { r.Master = v }),
	}
}

func tlsFields() []field[TLSKeys] {
	return []field[TLSKeys]{
		fieldOf("ca", "key of the path of a file of trusted authorities", declared(), func(t *TLSKeys, v Key) { t.CA = v }),
		fieldOf("server_name", "key of the name that the certificate has", declared(), func(t *TLSKeys, v Key) { t.ServerName = v }),
		fieldOf("verify", "full, ca (any host name) or none", oneOf(VerifyFull, VerifyCA, VerifyNone), func(t *TLSKeys, v TLSVerify) { t.Verify = v }),
	}
}

func healthFields() []field[Health] {
	return []field[Health]{
		fieldOf("listen", "key of the port on which the gate answers while it waits", declared(), func(h *Health, v Key) { h.Listen = v }),
		fieldOf("revision", "key of the worker's revision", declared(), func(h *Health, v Key) { h.Revision = v }),
		fieldOf("redis", "Redis must be ready too", boolean(), func(h *Health, v bool) { h.Redis = v }),
		{name: "heartbeat", doc: "the worker's own heartbeat must be fresh", schema: object(heartbeatFields).schema,
			read: func(l *loader, n *yaml.Node, h *Health) { readFields(l, n, heartbeatFields(), h) }},
		fieldOf("http", "the worker must answer over HTTP, on this machine, with a 2xx", object(healthHTTPFields),
			func(h *Health, v *HTTPCheck) { h.HTTP = v }),
	}
}

func heartbeatFields() []field[Health] {
	of := func(name string, family Client) field[Health] {
		return fieldOf(name, "the one that "+name+" keeps in Redis", boolean(), func(h *Health, v bool) {
			if v {
				h.Heartbeats = append(h.Heartbeats, family)
			}
		})
	}
	return []field[Health]{
		of("rq", RQ), of("sidekiq", Sidekiq), of("asynq", Asynq),
		fieldOf("file", "key of the path of a file that the worker touches", declared(), func(h *Health, v Key) { h.HeartbeatFile = v }),
		{name: "max_age", doc: "how old it may be, in seconds; the family's unless said", schema: func() schema { return schema{"type": "number", "exclusiveMinimum": 0} },
			read: func(l *loader, n *yaml.Node, h *Health) {
				s, ok := l.scalar(n)
				if !ok {
					return
				}
				v, reason := readNumber(s, &KeySpec{rule: TypeSeconds.rule()})
				if reason == "" && v.number.Cmp(new(big.Rat)) <= 0 {
					reason = BelowMin
				}
				if reason != "" {
					l.fault(n, ContractBadValue, reason)
				}
				h.MaxAge = v.number
			}},
	}
}

func readRedisKeys(l *loader, n *yaml.Node, w *WaitSpec) {
	w.Kind = "redis"
	if isKind(n, yaml.MappingNode) {
		readFields(l, n, redisFields(), &w.Redis)
		return
	}
	w.Redis.URL, _ = declared().read(l, n)
}

// check is something of a Redis beside its level.
func check() kind[Check] {
	return kind[Check]{func() schema {
		return schema{"type": "string", "pattern": `^(noeviction|persistence|version>=[0-9]+(\.[0-9]+){1,2})$`}
	}, func(l *loader, n *yaml.Node) (Check, bool) {
		s, ok := l.scalar(n)
		if !ok {
			return Check{}, false
		}
		c, reason := parseCheck(s)
		if reason != "" {
			l.fault(n, ContractBadValue, reason)
		}
		return c, reason == ""
	}}
}

func parseCheck(s string) (Check, Reason) {
	switch s {
	case "noeviction":
		return Check{NoEviction: true}, ""
	case "persistence":
		return Check{Persistence: true}, ""
	}
	version, ok := strings.CutPrefix(s, "version>=")
	if !ok {
		return Check{}, NotInEnum
	}
	parts := strings.Split(version, ".")
	if len(parts) < 2 || len(parts) > 3 || len(version) > 16 {
		return Check{}, NotAVersion
	}
	for _, p := range parts {
		if !onlyDigits(p) {
			return Check{}, NotAVersion
		}
	}
	return Check{Version: version}, ""
}

// levelOrCheck describes an entry of require; readRequire reads it.
func levelOrCheck() kind[string] {
	return kind[string]{schema: func() schema {
		return schema{"anyOf": []any{schema{"enum": requireLevels[:]}, check().schema()}}
	}}
}

// requireLevels are in order: each includes those before it.
var requireLevels = [...]Require{RequireReachable, RequirePing, RequireWrite}

func readRequire(l *loader, n *yaml.Node, w *WaitSpec) {
	items, ok := l.list(n)
	if ok && len(items) == 0 {
		l.fault(n, ContractBadValue, TooFew)
	}
	highest := -1
	for _, item := range items {
		s, ok := l.scalar(item)
		level := slices.Index(requireLevels[:], Require(s))
		switch c, reason := parseCheck(s); {
		case !ok:
		case level >= 0:
			highest = max(highest, level)
		case reason == "":
			w.Checks = append(w.Checks, c)
		case reason == NotInEnum:
			l.faultFix(item, ContractBadValue, reason, "write reachable, ping, write, noeviction, persistence or version>=X.Y")
		default:
			l.fault(item, ContractBadValue, reason)
		}
	}
	if highest >= 0 {
		w.Require = requireLevels[highest]
	}
}

func readWaits(l *loader, n *yaml.Node, _ *Contract) {
	l.waits, _ = listOf(object(waitFields), 0).read(l, n)
}

// settingTypes are the types of key that may stand for a setting, by the
// setting's name.
var settingTypes = [...]struct {
	name  Word
	types []Type
}{
	{"timeout", timeTypes}, {"delay", timeTypes}, {"start_jitter", timeTypes}, {"refuse_after", timeTypes},
	{"dial_timeout", timeTypes}, {"reply_timeout", timeTypes}, {"interval_min", timeTypes}, {"interval_max", timeTypes},
	{"tls_ca_file", []Type{TypePath}}, {"tls_verify", []Type{TypeEnum, TypeString}},
	{"format", []Type{TypeEnum, TypeString}},
	{"health_listen", []Type{TypePort, TypeString}},
}

var timeTypes = []Type{TypeSeconds, TypeMillis, TypeDuration, TypeInt, TypeNumber}

func settingsSchema() schema {
	properties := schema{}
	for _, s := range settingTypes {
		properties[string(s.name)] = keyName().schema()
	}
	return schema{"type": "object", "additionalProperties": false, "properties": properties}
}

// settingsOf is a contract as the field settings sees it.
type settingsOf Contract

func readSettings(l *loader, n *yaml.Node, c *Contract) {
	fields := make([]field[settingsOf], len(settingTypes))
	for i, s := range settingTypes {
		fields[i] = fieldOf(string(s.name), "", declared(), func(c *settingsOf, v Key) {
			c.Settings = append(c.Settings, SettingKey{s.name, v})
		})
	}
	readFields(l, n, fields, (*settingsOf)(c))
}
