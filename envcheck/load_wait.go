package envcheck

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// checkWait works out what a wait's fields mean together.
func (l *loader) checkWait(w *WaitSpec) {
	kinds := 0
	for _, kind := range [...]Word{"redis", "postgres", "http", "tcp"} {
		if l.has(w, string(kind)) {
			kinds++
		}
	}
	switch {
	case kinds == 0:
		l.faultIn(w, "", ContractBadValue, NoKind)
		return
	case kinds > 1:
		l.faultIn(w, "", ContractBadValue, SeveralKinds)
		return
	case w.Kind == "":
		return // what names its address is no name, which was said
	}
	for _, f := range kindFields {
		if l.has(w, f.field) && !slices.Contains(strings.Fields(f.kinds), string(w.Kind)) {
			l.faultIn(w, f.field, ContractBadValue, NotForThisKind)
		}
	}
	w.Name = cmp.Or(w.Name, w.Kind)
	if l.waitNames[w.Name] {
		l.faultIn(w, "name", ContractBadValue, Repeated)
	}
	l.waitNames[w.Name] = true
	switch w.Kind {
	case "redis":
		l.checkRedis(w)
	case "postgres":
		l.typed(w, "postgres", w.Address, TypePostgres)
	case "http":
		l.typed(w, "http", w.Address, TypeHTTPURL)
		l.typed(w, "header", w.Header.Key, TypeString)
	case "tcp":
		l.typed(w, "tcp", w.Address, TypeString, TypeURL, TypeHTTPURL, TypeRedis, TypePostgres)
	}
	l.typed(w, "tls", w.TLS.CA, TypePath)
	l.typed(w, "tls", w.TLS.ServerName, TypeString)
}

// typed says that a field names a key of another type than it takes.
func (l *loader) typed(of any, field string, key Key, types ...Type) {
	if spec := l.keys[key]; spec != nil && !slices.Contains(types, spec.Type) {
		l.faultIn(of, field, ContractBadValue, KeyOfOtherType)
	}
}

func (l *loader) checkRedis(w *WaitSpec) {
	r := &w.Redis
	w.Client = cmp.Or(w.Client, Generic)
	w.Require = cmp.Or(w.Require, RequireWrite)
	w.KeyPrefix = cmp.Or(w.KeyPrefix, "startgate")
	if w.Topology == "" {
		w.Topology = "standalone"
		if r.Sentinels != "" {
			w.Topology = "sentinel"
		}
	}
	forms := len(given(r.URL, r.Host, r.Sentinels))
	// The URLs of two families may name Sentinels; asynq's has the master too.
	inURL := r.URL != "" && (w.Client == Celery || w.Client == Asynq)
	parts := r.Port != "" || r.TLS != "" && r.Sentinels == "" || r.DB != "" && r.Sentinels == ""
	bad := func(reason Reason) { l.faultIn(w, "redis", ContractBadValue, reason) }
	switch {
	case forms == 0 && isKind(l.places[place{w, "redis"}], yaml.MappingNode):
		bad(PartsWithoutHost)
	case forms > 1, r.URL != "" && parts:
		bad(URLBesideParts)
	case r.Sentinels != "" && r.Master == "":
		bad(MasterMissing)
	case w.Topology == "sentinel" && r.Sentinels == "" && !inURL, w.Topology != "sentinel" && r.Sentinels != "",
		r.Master != "" && r.Sentinels == "" && !(inURL && w.Client == Celery):
		bad(TopologyNotForThat)
	}
	l.typed(w, "redis", r.URL, TypeRedis)
	l.typed(w, "redis", r.Host, TypeString)
	l.typed(w, "redis", r.Port, TypePort, TypeInt)
	l.typed(w, "redis", r.User, TypeString)
	l.typed(w, "redis", r.Password, TypeString)
	l.typed(w, "redis", r.DB, TypeInt)
	l.typed(w, "redis", r.TLS, TypeBool)
	l.typed(w, "redis", r.Sentinels, TypeList, TypeString)
}

// checkSettings looks at the keys that stand for settings.
func (l *loader) checkSettings() {
	c := l.contract
	for _, s := range c.Settings {
		for _, known := range settingTypes {
			if known.name == s.Setting {
				l.typed((*settingsOf)(c), string(s.Setting), s.Key, known.types...)
			}
		}
		if spec := l.keys[s.Key]; spec != nil && spec.Secret {
			l.faultIn((*settingsOf)(c), string(s.Setting), ContractBadValue, KeyOfOtherType)
		}
	}
	h := &c.Health
	l.typed(h, "listen", h.Listen, TypePort, TypeString)
	l.typed(h, "file", h.HeartbeatFile, TypePath)
	if h.HTTP != nil {
		l.typed(h.HTTP, "port", h.HTTP.Port, TypePort)
	}
	if spec := l.keys[h.Revision]; spec != nil && spec.Secret {
		l.faultIn(h, "revision", ContractBadValue, SecretExposed)
	}
	if h.HeartbeatFile != "" && h.MaxAge == nil {
		l.faultIn(h, "heartbeat", ContractBadValue, MaxAgeMissing)
	}
}

// keys are the keys that health needs.
func (h *Health) keys() []Key {
	var port Key
	if h.HTTP != nil {
		port = h.HTTP.Port
	}
	return given(h.Listen, h.Revision, h.HeartbeatFile, port)
}

// keys are the keys that a wait needs or may use.
func (w *WaitSpec) keys() []Key {
	r := w.Redis
	return given(w.Address, r.URL, r.Host, r.Sentinels, r.Port, r.User, r.Password, r.DB, r.TLS, w.TLS.CA, w.TLS.ServerName, w.Header.Key)
}

// given are those of keys that the contract names.
func given(keys ...Key) []Key {
	return slices.DeleteFunc(keys, func(k Key) bool { return k == "" })
}

// address is the key without which there is nothing to wait for.
func (w *WaitSpec) address() Key {
	return cmp.Or(w.Address, w.Redis.URL, w.Redis.Host, w.Redis.Sentinels)
}
