package compose

import (
	_ "embed"
	"encoding/json"
	"io"
)

// ReportSchema is the JSON Schema (2020-12) of what [WriteJSON] writes.
//
//go:embed report.schema.json
var ReportSchema string

// envelope is a report as JSON. Its version grows when a member changes its
// meaning, not when one is added.
type envelope struct {
	Version  int       `json:"version"`
	Tool     tool      `json:"tool"`
	Files    []string  `json:"files"`
	Findings []Finding `json:"findings"`
	Errors   []Finding `json:"errors"` // because of which something was not judged
	Summary  summary   `json:"summary"`
}

type tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type summary struct {
	Errors     int `json:"errors"`
	Warnings   int `json:"warnings"`
	Remarks    int `json:"remarks"`
	Suppressed int `json:"suppressed"`
}

const toolName = "startgate-compose"

// WriteJSON writes the report for programs, suppressed findings among the
// others. version is the program's.
func WriteJSON(w io.Writer, r Report, version string) error {
	e := envelope{
		Version: 1, Tool: tool{toolName, version}, Files: append([]string{}, r.Files...), Findings: []Finding{}, Errors: []Finding{},
		Summary: summary{Errors: r.count(Error), Warnings: r.count(Warn), Remarks: r.count(Info)},
	}
	for _, f := range r.Findings {
		if f.Unjudged {
			e.Errors = append(e.Errors, f)
		} else {
			e.Findings = append(e.Findings, f)
		}
		if f.Suppressed != "" {
			e.Summary.Suppressed++
		}
	}
	return writeIndented(w, e)
}

func writeIndented(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
