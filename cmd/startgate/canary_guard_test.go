package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// planted are leaks, and what the detector calls them. Without these the suite
// could find nothing because it looks for nothing.
var planted = [...]struct {
	name, found string
	leak        func(canary string) string
}{
	{"as it is", "plain", func(c string) string { return "startgate: error dial tcp " + c + ":6379" }},
	{"quoted", "plain", func(c string) string { return fmt.Sprintf("parsing %q: invalid syntax", c) }},
	{"in a struct", "plain", func(c string) string { return fmt.Sprintf("%#v", struct{ password string }{c}) }},
	{"lower case", "plain", func(c string) string { return "lookup " + strings.ToLower(c) }},
	{"upper case", "plain", func(c string) string { return "key=STARTGATE_" + strings.ToUpper(c) }},
	{"its start", "plain", func(c string) string { return "invalid port \":" + c[:window] + "\" after host" }},
	{"its middle", "plain", func(c string) string { return "near \"" + c[5:5+window] + "\"" }},
	{"its end", "plain", func(c string) string { return "..." + c[len(c)-window:] }},
	{"reversed", "reversed", func(c string) string { return reverse(c) }},
	{"hex", "hex", func(c string) string { return "0x" + hex.EncodeToString([]byte(c)) }},
	{"hex in capitals", "hex", func(c string) string { return fmt.Sprintf("%X", c) }},
	{"hex with blanks", "hex", func(c string) string { return fmt.Sprintf("% x", c) }},
	{"decimal bytes", "decimal", func(c string) string { return fmt.Sprint([]byte(c)) }},
	{"decimal bytes with commas", "decimal", func(c string) string { return "{" + each(c, "%d", ",") + "}" }},
	{"decimal bytes as a JSON array", "decimal", func(c string) string { return each(c, "%d", ", ") }},
	{"percent-encoded", "percent", func(c string) string { return each(c, "%%%02X", "") }},
	{"part of it percent-encoded", "percent", func(c string) string { return "p" + url.QueryEscape("ä") + each(c[3:9], "%%%02x", "") }},
	{"escaped as JSON", "escaped", func(c string) string { return each(c, `\u%04x`, "") }},
	{"escaped as Go", "escaped", func(c string) string { return each(c, `\x%02x`, "") }},
	{"base64", "base64", func(c string) string { return base64.StdEncoding.EncodeToString([]byte(c)) }},
	{"base64, one byte on", "base64", func(c string) string { return base64.StdEncoding.EncodeToString([]byte(":" + c + "@")) }},
	{"base64, two bytes on", "base64", func(c string) string { return base64.StdEncoding.EncodeToString([]byte("u:" + c + "@h")) }},
	{"base64 of a part", "base64", func(c string) string { return base64.RawURLEncoding.EncodeToString([]byte("\xff\xfe\xfd" + c[2:9])) }},
	{"base64 of JSON", "base64", func(c string) string { b, _ := json.Marshal([]byte("x" + c)); return string(b) }},
	{"UTF-16", "UTF-16", func(c string) string { return each(c, "%c", "\x00") }},
	{"forged line", "injected line", func(string) string { return "key=\n" + injected + ": ready" }},
	{"forged line, indented", "injected line", func(string) string { return "key=\r\n\t" + injected }},
	{"terminal escape", "terminal escape", func(string) string { return "server said \x1b[2J" }},
}

func TestDetectorFindsPlantedLeaks(t *testing.T) {
	if len(planted) < 8 {
		t.Errorf("%d leaks are planted, which is too few to trust the detector", len(planted))
	}
	for _, p := range planted {
		for range 50 { // other canaries have other digits and letters at the edges
			canary := newCanary()
			if got := leaks([]byte("before "+p.leak(canary)+" after\n"), canary); !slices.Contains(got, p.found) {
				t.Errorf("a leak that is %s is found as %v, want %s", p.name, got, p.found)
				break
			}
		}
	}
}

// TestHarnessFindsPlantedLeaks has a process leak, on either stream, and sees
// that the harness notices and does not leak itself when it says so.
func TestHarnessFindsPlantedLeaks(t *testing.T) {
	needsExec(t)
	var jobs []func()
	for i, p := range planted {
		jobs = append(jobs, func() {
			canary := newCanary()
			leak := p.leak(canary)
			if strings.Contains(leak, "\x00") {
				return // cannot be an argument
			}
			args := []string{leak, "fine"}
			if i%2 == 1 {
				args = []string{"fine", leak}
			}
			leaky := process{label: p.name, canary: canary, binary: self, args: args, env: part(roleLeaky)}
			out, err := leaky.run()
			if err != nil {
				t.Errorf("%s: %v", p.name, err)
				return
			}
			faults := strings.Join(leaky.faults(out), "\n")
			if !strings.Contains(faults, "as "+p.found) {
				t.Errorf("a process leaks something that is %s, and the harness says %q", p.name, faults)
			}
			if again := leaks([]byte(faults), canary); len(again) > 0 {
				t.Errorf("the report of a leak that is %s leaks it, too", p.name)
			}
		})
	}
	together(jobs)
}

func TestDetectorIsQuietAboutOrdinaryText(t *testing.T) {
	text := []byte(help("") + help("run") + help("check") + version() + readFile(t, codesPage))
	for range 100 {
		if got := leaks(text, newCanary()); len(got) > 0 {
			t.Fatalf("in ordinary text the detector finds %v", got)
		}
	}
}
