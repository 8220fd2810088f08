package envcheck

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Docs writes the contract as Markdown: a table of its keys, with when each is
// required and what the gate may say of it, then rules, waits, settings and health.
func (c *Contract) Docs() string {
	var b strings.Builder
	b.WriteString("# " + string(c.Name) + "\n")
	if c.Doc != "" {
		b.WriteString("\n" + strings.TrimSpace(c.Doc) + "\n")
	}
	if c.SkipWhen != nil {
		b.WriteString("\nThe contract does not apply when " + code(c.SkipWhen.String()) + ".\n")
	}
	if len(c.Conditions) > 0 {
		table(&b, "Conditions", "Name", "Holds when")
		for _, condition := range c.Conditions {
			row(&b, code(condition.Name), code(condition.Expr.String()))
		}
	}
	if len(c.Keys) > 0 {
		table(&b, "Keys", "Key", "Type", "Required when", "Default", "Safe diagnostic surface", "Notes")
		for _, k := range c.Keys {
			value := ""
			if k.Default != nil {
				value = code(*k.Default)
			}
			row(&b, code(string(k.Key)), k.typeText(), k.requiredText(), value, k.surface(), k.notes())
		}
	}
	if len(c.Rules) > 0 {
		table(&b, "Rules", "Code", "Level", "Rule", "Notes")
		for _, r := range c.Rules {
			row(&b, code(string(r.Code)), string(r.Level), r.text(), join(r.Doc, string(r.Fix)))
		}
	}
	if len(c.Waits) > 0 {
		table(&b, "Waits", "Name", "Kind", "Keys", "When", "Ready means")
		for _, w := range c.Waits {
			row(&b, code(string(w.Name)), string(w.Kind), codeList(w.keys()), always(w.When), w.readyText())
		}
	}
	if len(c.Settings) > 0 {
		table(&b, "Settings of the gate", "Setting", "Key")
		for _, s := range c.Settings {
			row(&b, code(string(s.Setting)), code(string(s.Key)))
		}
	}
	if asked := c.Health.asked(); len(asked) > 0 {
		table(&b, "Health", "Of a running worker", "Keys")
		for _, a := range asked {
			row(&b, a.text, a.keys)
		}
	}
	return b.String()
}

func table(b *strings.Builder, head string, columns ...string) {
	b.WriteString("\n## " + head + "\n\n")
	row(b, columns...)
	b.WriteString(strings.Repeat("| --- ", len(columns)) + "|\n")
}

func row(b *strings.Builder, cells ...string) {
	for _, cell := range cells {
		cell = strings.Join(strings.Fields(cell), " ")
		b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`))
		if cell != "" {
			b.WriteString(" ")
		}
	}
	b.WriteString("|\n")
}

// code is s as code, whatever backquotes it has.
func code(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 || strings.TrimSpace(s) == "" {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

func join(parts ...string) string {
	var all []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			all = append(all, strings.TrimSuffix(p, ".")+".")
		}
	}
	return strings.Join(all, " ")
}

func codeList[W ~string](words []W) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = code(string(w))
	}
	return strings.Join(all, ", ")
}

func always(when *Expr) string {
	if when == nil {
		return "always"
	}
	return code(when.String())
}

func (k *KeySpec) typeText() string {
	text := string(k.Type)
	if k.Secret {
		text = "secret " + text
	}
	if k.Type == TypeEnum {
		return text + ": " + codeList(k.Enum)
	}
	if k.Min != nil {
		text += ", from " + decimal(k.Min)
	}
	if k.Max != nil {
		text += ", up to " + decimal(k.Max)
	}
	return text
}

func (k *KeySpec) requiredText() string {
	if k.DocWhen != "" {
		return k.DocWhen
	}
	switch text := k.Required.String(); text {
	case "true":
		return "always"
	case "false":
		return "never"
	default:
		return code(text)
	}
}

// surface is all that the gate may say of the key.
func (k *KeySpec) surface() string {
	codes := codesOf(k.Topic, k)
	if k.Required.String() == "false" {
		codes = codes[1:]
	}
	if k.Expose {
		return join("the value, re-rendered", codeList(codes))
	}
	return join("status only", codeList(codes))
}

func (k *KeySpec) notes() string {
	var more []string
	if len(k.Fallback) > 0 {
		text := "unset, " + codeList(k.Fallback) + " counts"
		if k.FallbackWhen != nil {
			text += " when " + code(k.FallbackWhen.String())
		}
		more = append(more, text)
	}
	if k.Forbidden.String() != "false" {
		more = append(more, "must not be set when "+code(k.Forbidden.String()))
	}
	if k.File {
		more = append(more, code(string(k.Key)+fileSuffix)+" is accepted")
	}
	if k.Use != "" {
		more = append(more, "deprecated: use "+code(string(k.Use)))
	}
	return join(append([]string{k.Doc}, more...)...)
}

func (w *WaitSpec) readyText() string {
	switch w.Kind {
	case "postgres", "tcp":
		return "takes connections"
	case "http":
		return w.httpText()
	}
	text := string(w.Require)
	for _, c := range w.Checks {
		text += ", " + c.text()
	}
	return text
}

func (c Check) text() string {
	switch {
	case c.NoEviction:
		return "noeviction"
	case c.Persistence:
		return "persistence"
	}
	return "version>=" + c.Version
}

// asking is one thing that health asks of a worker.
type asking struct{ text, keys string }

func (h *Health) asked() (all []asking) {
	if h.Redis {
		all = append(all, asking{"Redis is ready", ""})
	}
	for _, family := range h.Heartbeats {
		all = append(all, asking{"its heartbeat of " + string(family) + " in Redis is fresh" + h.ageText(), ""})
	}
	if h.HeartbeatFile != "" {
		all = append(all, asking{"it has touched its heartbeat file" + h.ageText(), code(string(h.HeartbeatFile))})
	}
	if h.HTTP != nil {
		a := asking{text: "GET " + code(h.HTTP.Path) + " answers with 2xx"}
		if a.keys = code(string(h.HTTP.Port)); h.HTTP.Port == "" {
			a.text, a.keys = a.text+" at port "+strconv.Itoa(h.HTTP.Number), ""
		}
		all = append(all, a)
	}
	return all
}

func (h *Health) ageText() string {
	if h.MaxAge == nil {
		return ""
	}
	return ", in the last " + decimal(h.MaxAge) + " s"
}

// Example writes an example .env file: every key, commented, and set only
// where it is required always and can be shown. No value in it looks like a
// secret.
func (c *Contract) Example() string {
	var b strings.Builder
	b.WriteString("# Environment of " + string(c.Name) + ". Keys behind # are optional, or required only at times.\n")
	for _, k := range c.Keys {
		b.WriteString("\n")
		comment(&b, join(k.Doc))
		comment(&b, k.typeText())
		switch required := k.requiredText(); required {
		case "always", "never":
			comment(&b, "required: "+required)
		default:
			comment(&b, "required when: "+strings.Trim(required, "`"))
		}
		value := k.rule.example
		switch {
		case k.Secret:
			value = ""
		case k.Default != nil:
			value = *k.Default
		case k.Type == TypeEnum:
			value = k.Enum[0]
		}
		if _, reason := k.rule.read(value, k); reason != "" || strings.ContainsAny(value, "\r\n#'\"$ ") {
			value = ""
		}
		line := string(k.Key) + "=" + value
		if k.requiredText() != "always" {
			line = "# " + line
		}
		b.WriteString(line + "\n")
		if k.File {
			b.WriteString("# " + string(k.Key) + fileSuffix + "=\n")
		}
	}
	return b.String()
}

func comment(b *strings.Builder, text string) {
	for line := range strings.Lines(strings.ReplaceAll(text, "\r", "")) {
		if line = strings.TrimSpace(strings.ReplaceAll(line, "`", "")); line != "" {
			b.WriteString("# " + line + "\n")
		}
	}
}

// Schema returns the JSON Schema (2020-12) of contract files, for editors. It
// is made from the tables that [Load] reads by.
func Schema() []byte {
	s := objectSchema(contractFields())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["$id"] = "https://github.com/startgate/startgate/blob/main/envcheck/contract.schema.json"
	s["title"] = "A startgate contract, version 1"
	s["properties"].(schema)["keys"].(schema)["propertyNames"] = keyName().schema()
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("the schema does not encode") // it has no type that could not
	}
	return append(b, '\n')
}
