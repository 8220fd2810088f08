package compose

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

// fence is a block of a page: its language, what it is, and its text.
var fence = regexp.MustCompile("(?ms)^```(\\w+) (\\S+)\n(.*?)^```$")

// pageContract judges the examples of pages that bring none of their own.
const pageContract = `contract: 1
name: worker
keys:
  RQ_REDIS_URL: {type: redis_url, topic: redis, purpose: queue config, required: true}
  REDIS_URL: {type: redis_url}
rules:
  - {code: redis_urls_differ, aligned: [RQ_REDIS_URL, REDIS_URL]}
`

// example is what a page shows.
type example struct {
	bad, good, found string
	contract         string
	config           map[string]string // of bad and good
	files            map[string]string
}

func exampleOf(t *testing.T, page string) example {
	t.Helper()
	e := example{contract: pageContract, config: map[string]string{}, files: map[string]string{}}
	for _, m := range fence.FindAllStringSubmatch(page, -1) {
		switch m[2] {
		case "bad":
			e.bad = m[3]
		case "good":
			e.good = m[3]
		case "found":
			e.found = m[3]
		case "contract":
			e.contract = m[3]
		case "config":
			e.config["bad"], e.config["good"] = m[3], m[3]
		case "config-good":
			e.config["good"] = m[3]
		default:
			e.files[m[2]] = m[3]
		}
	}
	return e
}

// run checks a compose file with all that the page has beside it, and returns
// what the program prints.
func (e example) run(t *testing.T, file, config string) (string, Report) {
	t.Helper()
	t.Chdir(t.TempDir())
	e.files["compose.yaml"] = file
	for name, text := range e.files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var o Options
	if e.contract != "none\n" {
		contract, faults := envcheck.Load(strings.NewReader(e.contract))
		if len(faults) > 0 {
			t.Fatalf("the page's contract: %v", faults)
		}
		o.Contract = contract
	}
	var found []Finding
	if config != "" {
		if err := os.WriteFile(ConfigName, []byte(config), 0o666); err != nil {
			t.Fatal(err)
		}
		o.Config, found = LoadConfig(ConfigName)
	}
	r := Report{Findings: found}
	if found == nil {
		files := []string{"compose.yaml"}
		if o.Config != nil && len(o.Config.Stacks) > 0 {
			files = nil
		}
		var err error
		if r, err = Check(context.Background(), files, o); err != nil {
			t.Fatal(err)
		}
		if e.contract == pageContract && has(r, noService) {
			// Pages about brokers show no worker, for which a contract is a
			// fault of its own.
			o.Contract = nil
			if r, err = Check(context.Background(), files, o); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out bytes.Buffer
	if err := WriteText(&out, r, false, false); err != nil {
		t.Fatal(err)
	}
	return out.String(), r
}

// TestPages holds each rule to its page: what is bad there is found where the
// page says, in the words that it shows, and what is good is passed over.
func TestPages(t *testing.T) {
	text := pages
	for _, r := range Rules() {
		t.Run(r.ID, func(t *testing.T) {
			page, ok := Explain(r.ID)
			if !ok {
				t.Fatal("it has no page")
			}
			if want := r.ID + ": " + r.Title + "\n"; !strings.HasPrefix(page, want) {
				t.Errorf("the page is not headed %q", want)
			}
			if !strings.Contains(page, "**Why.**") {
				t.Error("the page does not say why")
			}
			e := exampleOf(t, page)
			if e.bad == "" || e.good == "" {
				t.Fatal("the page does not show what is bad and what is good")
			}
			out, report := e.run(t, e.bad, e.config["bad"])
			if os.Getenv("UPDATE_GOLDEN") != "" {
				text = strings.Replace(text, page[len(r.ID)+2:], strings.Replace(page[len(r.ID)+2:], "```text found\n"+e.found+"```", "```text found\n"+out+"```", 1), 1)
			} else if out != e.found {
				t.Errorf("the page shows\n%s\nwhich is printed as\n%s", e.found, out)
			}
			if !has(report, r.ID) {
				t.Errorf("what is bad is not found:\n%s", out)
			}
			out, report = e.run(t, e.good, e.config["good"])
			if has(report, r.ID) || report.Failed(Warn) {
				t.Errorf("in what is good there is found\n%s", out)
			}
		})
	}
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile("rules.md", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func has(r Report, id string) bool {
	for _, f := range r.Findings {
		if f.Rule == id {
			return true
		}
	}
	return false
}
