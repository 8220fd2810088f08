package compose

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// What of SARIF 2.1.0 is written (OASIS, section 3).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		ColumnKind  string            `json:"columnKind"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string       `json:"id"`
		ShortDescription sarifMessage `json:"shortDescription"`
		Help             sarifMessage `json:"help"`
		HelpURI          string       `json:"helpUri"`
		Default          sarifLevel   `json:"defaultConfiguration"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifMessage struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications"`
	}
	sarifNotification struct {
		Rule      sarifReference  `json:"associatedRule"`
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifReference struct {
		ID    string `json:"id"`
		Index int    `json:"index"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifMessage       `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

const home = "https://github.com/startgate/startgate"

// sarifLevels are the levels for the severities.
var sarifLevels = map[Severity]string{Error: "error", Warn: "warning", Info: "note"}

// WriteSARIF writes one run of SARIF 2.1.0: the findings as results, suppressed
// ones with their justification, and what kept the program from judging as
// notifications, too. The rules are those that have something to say. version
// is the program's.
func WriteSARIF(w io.Writer, r Report, version string) error {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: toolName, Version: version, InformationURI: home}},
		Invocations: []sarifInvocation{{Successful: !r.Unjudged(), Notifications: []sarifNotification{}}},
		Results:     []sarifResult{}, ColumnKind: "unicodeCodePoints",
	}
	var ids []string
	for _, f := range r.Findings {
		if !slices.Contains(ids, f.Rule) {
			ids = append(ids, f.Rule)
		}
	}
	slices.Sort(ids)
	run.Tool.Driver.Rules = make([]sarifRule, len(ids))
	for i, id := range ids {
		run.Tool.Driver.Rules[i] = sarifRuleOf(id)
	}
	times := map[string]int{}
	for _, f := range r.Findings {
		print := f.fingerprint()
		times[print]++
		result := f.sarif(slices.Index(ids, f.Rule))
		result.Fingerprints = map[string]string{"startgate/v1": print + ":" + itoa(times[print])}
		run.Results = append(run.Results, result)
		if f.Unjudged {
			run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNotification{
				Rule: sarifReference{f.Rule, result.RuleIndex}, Level: result.Level, Message: result.Message, Locations: result.Locations,
			})
		}
	}
	return writeIndented(w, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

func sarifRuleOf(id string) sarifRule {
	r := ruleOf(id)
	page, ok := Explain(id)
	if !ok {
		page = r.Title
	}
	return sarifRule{
		ID: id, ShortDescription: sarifMessage{Text: r.Title}, Help: sarifMessage{Text: page, Markdown: page},
		HelpURI: home + "/blob/main/compose/rules.md#" + anchor(id+": "+r.Title), Default: sarifLevel{sarifLevels[r.Severity]},
	}
}

// anchor is the fragment that GitHub gives a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, strings.ToLower(heading))
}

func (f Finding) sarif(rule int) sarifResult {
	result := sarifResult{
		RuleID: f.Rule, RuleIndex: rule, Level: sarifLevels[f.Severity], Message: sarifMessage{Text: f.text()},
		Locations: []sarifLocation{{Physical: sarifPhysical{Artifact: artifact(f.Position.File)}}},
	}
	at := &result.Locations[0]
	if f.Position.Line > 0 {
		at.Physical.Region = &sarifRegion{f.Position.Line, f.Position.Column}
	}
	if f.Service != "" {
		at.Logical = []sarifLogical{{"services." + f.Service, "object"}}
	}
	if f.Suppressed != "" {
		kind := "inSource"
		if f.outside {
			kind = "external"
		}
		result.Suppressions = []sarifSuppression{{kind, f.Suppressed}}
	}
	return result
}

// fingerprint stays when lines move.
func (f Finding) fingerprint() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Rule, f.Stack, slashed(f.Position.File), f.Service, f.Path, f.Message}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// artifact is a file as a URI, relative to the repository as far as the file
// lies in it: the program is run at its top.
func artifact(file string) sarifArtifact {
	if filepath.IsAbs(file) {
		here, err := filepath.Abs(".")
		within, err2 := filepath.Rel(here, file)
		if err != nil || err2 != nil || !filepath.IsLocal(within) {
			return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: slashed(file)}).String()}
		}
		file = within
	}
	return sarifArtifact{URI: (&url.URL{Path: slashed(filepath.Clean(file))}).String(), Base: "%SRCROOT%"}
}

// slashed is a file's name with the separators of URIs.
func slashed(file string) string { return filepath.ToSlash(file) }
