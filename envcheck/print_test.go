package envcheck

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// print writes a contract so that [Load] reads the same one.
func (c *Contract) print() string {
	p := &printer{}
	p.line("contract", "1")
	p.line("name", string(c.Name))
	p.line("doc", c.Doc)
	p.policy("policy: ", c.Policy, ", reasons: "+onOff(!c.Policy.NoReasons)+", spelling: "+spelling(c.Policy.AnySpelling)+
		p.handling("duplicates", c.Policy.Duplicates)+p.handling("unknown", c.Policy.Unknown))
	p.line("owns", c.Owns)
	p.raw("conditions:\n")
	for _, condition := range c.Conditions {
		p.line("  "+condition.Name, condition.Expr.String())
	}
	if len(c.Conditions) == 0 {
		p.b.Reset()
		return c.withoutConditions()
	}
	c.rest(p)
	return p.b.String()
}

func (c *Contract) withoutConditions() string {
	copied := *c
	copied.Conditions = []Condition{{"unused_", &Expr{}}}
	text := copied.print()
	return strings.Replace(text, "conditions:\n  unused_: \"false\"\n", "", 1)
}

func (c *Contract) rest(p *printer) {
	if c.SkipWhen != nil {
		p.line("skip_when", c.SkipWhen.String())
		p.line("skip_key", string(c.SkipKey))
		p.line("skip_code", string(c.SkipCode))
		if c.SkipExits {
			p.line("on_skip", "exit")
		}
	}
	if len(c.Keys) == 0 {
		p.raw("keys: {}\n")
	} else {
		p.raw("keys:\n")
	}
	for _, k := range c.Keys {
		p.raw("  " + string(k.Key) + ":\n")
		p.key(k)
	}
	if len(c.Rules) > 0 {
		p.raw("rules:\n")
	}
	for _, r := range c.Rules {
		p.line("  - code", string(r.Code))
		p.expr("    when", r.When)
		p.line("    level", string(r.Level))
		p.line("    fix", string(r.Fix))
		p.line("    doc", r.Doc)
		p.line("    ignore", r.Ignore)
		p.expr("    assert", r.Assert)
		if r.Kind != Assert {
			p.line("    "+string(r.Kind), r.Keys)
		}
	}
	if len(c.Waits) > 0 {
		p.raw("waits:\n")
	}
	for _, w := range c.Waits {
		p.wait(w)
	}
	if len(c.Settings) > 0 {
		p.raw("settings:\n")
	}
	for _, s := range c.Settings {
		p.line("  "+string(s.Setting), string(s.Key))
	}
	p.line("queues", c.Queues)
	if !reflect.DeepEqual(c.Health, Health{}) {
		p.raw("health:\n")
		p.line("  listen", string(c.Health.Listen))
		p.line("  revision", string(c.Health.Revision))
		p.line("  redis", c.Health.Redis)
		p.raw("  heartbeat:\n    rq: " + fmt.Sprint(len(c.Health.Heartbeats) > 0) + "\n")
		if c.Health.MaxAge != nil {
			p.line("    max_age", decimal(c.Health.MaxAge))
		}
		if h := c.Health.HTTP; h != nil {
			p.raw("  http:\n")
			p.line("    port", string(h.Port))
			if h.Number != 0 {
				p.raw(fmt.Sprintf("    port: %d\n", h.Number))
			}
			p.line("    path", h.Path)
		}
	}
}

func (p *printer) key(k *KeySpec) {
	p.line("    type", string(k.Type))
	p.expr("    required", k.Required)
	if k.Forbidden != nil {
		p.raw("    forbidden:\n")
		p.expr("      when", k.Forbidden)
		p.line("      level", string(k.ForbiddenLevel))
	}
	if k.Fallback != nil {
		p.raw("    fallback:\n")
		p.line("      keys", k.Fallback)
		p.expr("      when", k.FallbackWhen)
	}
	if k.Default != nil {
		p.raw("    default: " + quote(*k.Default) + "\n")
	}
	p.line("    enum", k.Enum)
	if k.Min != nil {
		p.line("    min", k.said.min)
	}
	if k.Max != nil {
		p.line("    max", k.said.max)
	}
	if k.MinLen > 0 {
		p.raw(fmt.Sprintf("    min_len: %d\n", k.MinLen))
	}
	if k.Pattern != nil {
		p.raw("    pattern: " + quote(strings.TrimSuffix(strings.TrimPrefix(k.Pattern.String(), "^(?:"), ")$")) + "\n")
	}
	p.line("    export", k.Export)
	if k.Type == TypeBool {
		p.line("    spelling", spelling(k.AnySpelling))
	}
	p.raw(fmt.Sprintf("    secret: %v\n    file: %v\n", k.Secret, k.File))
	if k.Expose {
		p.line("    expose", "value")
	}
	if k.said.topic != "" {
		p.line("    topic", string(k.Topic))
	}
	p.line("    purpose", string(k.Purpose))
	if k.Use != "" {
		p.raw("    deprecated: {use: " + string(k.Use) + ", level: " + string(k.DeprecatedLevel) + "}\n")
	}
	p.line("    doc", k.Doc)
	p.line("    doc_when", k.DocWhen)
	for _, h := range []struct {
		name string
		h    Handling
	}{{"empty", k.Policy.Empty}, {"whitespace", k.Policy.Whitespace}, {"placeholders", k.Policy.Placeholders},
		{"references", k.Policy.References}, {"quotes", k.Policy.Quotes}} {
		p.line("    "+h.name, string(h.h))
	}
}

func (p *printer) wait(w WaitSpec) {
	if w.Kind != "redis" {
		p.line("  - "+string(w.Kind), string(w.Address))
	} else {
		p.raw("  - redis:\n")
		r := w.Redis
		for name, k := range map[string]Key{"url": r.URL, "host": r.Host, "port": r.Port, "user": r.User, "password": r.Password, "db": r.DB, "tls": r.TLS, "sentinels": r.Sentinels} {
			p.line("      "+name, string(k))
		}
		p.line("      master", r.Master)
	}
	p.line("    name", string(w.Name))
	p.expr("    when", w.When)
	p.line("    path", w.Path)
	if w.Kind == "redis" {
		p.line("    client", string(w.Client))
		require := []string{string(w.Require)}
		for _, c := range w.Checks {
			require = append(require, c.text())
		}
		p.line("    require", require)
		var prefer []string
		for _, c := range w.Prefer {
			prefer = append(prefer, c.text())
		}
		p.line("    prefer", prefer)
		p.line("    oom", string(w.OOM))
		p.line("    key_prefix", w.KeyPrefix)
		p.line("    topology", string(w.Topology))
	}
	if w.TLS != (TLSKeys{}) {
		p.raw("    tls:\n")
		p.line("      ca", string(w.TLS.CA))
		p.line("      server_name", string(w.TLS.ServerName))
		p.line("      verify", string(w.TLS.Verify))
	}
}

type printer struct{ b strings.Builder }

func (p *printer) raw(s string) { p.b.WriteString(s) }

// line writes a field unless its value is the zero one.
func (p *printer) line(name string, v any) {
	switch v := v.(type) {
	case string:
		if v != "" {
			p.raw(name + ": " + quote(v) + "\n")
		}
	case bool:
		if v {
			p.raw(name + ": true\n")
		}
	case []string:
		if len(v) > 0 {
			all := make([]string, len(v))
			for i, s := range v {
				all[i] = quote(s)
			}
			p.raw(name + ": [" + strings.Join(all, ", ") + "]\n")
		}
	case []Key:
		if len(v) > 0 {
			p.raw(name + ": [" + joinWords(v, ", ") + "]\n")
		}
	}
}

func (p *printer) expr(name string, e *Expr) {
	if e != nil {
		p.line(name, e.String())
	}
}

func (p *printer) policy(head string, c Policy, more string) {
	text := p.handling("empty", c.Empty) + p.handling("whitespace", c.Whitespace) + p.handling("placeholders", c.Placeholders) +
		p.handling("references", c.References) + p.handling("quotes", c.Quotes) + more
	p.raw(head + "{" + strings.TrimPrefix(text, ", ") + "}\n")
}

func (p *printer) handling(name string, h Handling) string {
	if h == "" {
		return ""
	}
	return ", " + name + ": " + string(h)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func spelling(anyWay bool) string {
	if anyWay {
		return "any"
	}
	return "strict"
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
