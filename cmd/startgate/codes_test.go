package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

// codesPage is where the pages of explain are written.
const codesPage = "../../envcheck/codes.md"

// codesGolden lists every code that was ever published.
const codesGolden = "testdata/codes.txt"

func TestCodesAreUniqueSnakeCase(t *testing.T) {
	form := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	all := envcheck.Codes()
	for i, code := range all {
		if !form.MatchString(string(code)) {
			t.Errorf("%q is not lower-case snake_case", code)
		}
		if slices.Contains(all[:i], code) {
			t.Errorf("%s stands in the catalogue twice", code)
		}
	}
}

// TestCodesAreOnlyAdded keeps the promise that a code is API: whoever has
// written an alert for one must go on to get it.
func TestCodesAreOnlyAdded(t *testing.T) {
	golden := strings.Fields(readFile(t, codesGolden))
	now := envcheck.Codes()
	for _, code := range golden {
		if !slices.Contains(now, envcheck.Code(code)) {
			t.Errorf("%s was published and is gone: codes are never removed or renamed", code)
		}
	}
	for _, code := range now {
		if !slices.Contains(golden, string(code)) {
			t.Errorf("%s is new: add it at the end of %s", code, codesGolden)
		}
	}
}

func TestEveryCodeHasAPage(t *testing.T) {
	for _, code := range envcheck.Codes() {
		page, ok := envcheck.Explain(string(code))
		if !ok {
			t.Errorf("%s has no page in %s", code, codesPage)
			continue
		}
		if first, body, _ := strings.Cut(page, "\n"); first != string(code) || strings.TrimSpace(body) == "" {
			t.Errorf("the page of %s is empty, or does not begin with it", code)
		}
	}
}

func TestEveryPageHasACode(t *testing.T) {
	var headings []string
	for line := range strings.Lines(readFile(t, codesPage)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			headings = append(headings, strings.TrimSuffix(heading, "\n"))
		}
	}
	for i, heading := range headings {
		if !slices.Contains(envcheck.Codes(), envcheck.Code(heading)) && templates[heading] == "" {
			t.Errorf("the page %q is about no code", heading)
		}
		if slices.Contains(headings[:i], heading) {
			t.Errorf("%s has two pages", heading)
		}
	}
}

// templates are the pages of codes that only a contract can make, each with
// one that this contract makes.
var templates = map[string]string{
	"TOPIC_missing": "number_missing", "TOPIC_invalid": "number_invalid", "TOPIC_parse_failed": "url_parse_failed", "RULE": "not_both",
}

const templated = `contract: 1
name: templates
keys:
  A: {type: int, required: true, topic: number}
  B: {type: redis_url, topic: url}
rules: [{code: not_both, at_most_one: [A, B]}]
`

func TestEveryTemplateIsThePageOfACode(t *testing.T) {
	contract, _ := envcheck.Load(strings.NewReader(templated))
	if contract == nil {
		t.Fatal("the contract has a fault")
	}
	pages := readFile(t, codesPage)
	for heading, code := range templates {
		_, after, _ := strings.Cut(pages, "\n## "+heading+"\n")
		body, _, _ := strings.Cut(after, "\n## ")
		page, ok := contract.Explain(code)
		if !ok || body == "" || !strings.HasPrefix(page, code+"\n"+strings.TrimSpace(body)) {
			t.Errorf("the page %s is not that of %s", heading, code)
		}
	}
}

// TestExplainKnowsCodesOnly: what is typed by mistake, such as a whole line or
// a part of a page, is neither found nor repeated.
func TestExplainKnowsCodesOnly(t *testing.T) {
	for _, typed := range []string{"", " ", "ready ", "Ready", "no_such_code", "ready\n\n## waiting", "#", "startgate: info  ready"} {
		if _, ok := envcheck.Explain(typed); ok {
			t.Errorf("explain has a page for %q", typed)
		}
	}
}
