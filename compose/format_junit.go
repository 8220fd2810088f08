package compose

import (
	"encoding/xml"
	"io"
	"strings"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Cases    []*junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	File      string        `xml:"file,attr,omitempty"`
	Line      int           `xml:"line,attr,omitempty"`
	Skipped   *junitResult  `xml:"skipped"`
	Errors    []junitResult `xml:"error"`
	Failures  []junitResult `xml:"failure"`
	Out       string        `xml:"system-out,omitempty"`
}

type junitResult struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes a test case for each rule and service that it was held
// against, passed or not. What is less than least does not fail one.
func WriteJUnit(w io.Writer, r Report, least Severity) error {
	suites := junitSuites{Name: toolName}
	suite := map[string]int{}
	cases := map[Case]*junitCase{}
	add := func(c Case) *junitCase {
		name := c.File
		if c.Stack != "" {
			name = c.Stack + ": " + name
		}
		if _, ok := suite[name]; !ok {
			suite[name] = len(suites.Suites)
			suites.Suites = append(suites.Suites, junitSuite{Name: name})
		}
		test := &junitCase{Name: strings.TrimSpace(c.Rule + " " + c.Service), ClassName: name}
		s := &suites.Suites[suite[name]]
		s.Cases = append(s.Cases, test)
		c.File = "" // a finding of a service can be in another file than the service
		cases[c] = test
		return test
	}
	for _, c := range r.Cases {
		add(c)
	}
	for _, f := range r.Findings {
		test := cases[Case{Rule: f.Rule, Stack: f.Stack, Service: f.Service}]
		if test == nil {
			test = cases[Case{Rule: f.Rule, Stack: f.Stack}]
		}
		if test == nil {
			test = add(Case{Rule: f.Rule, Stack: f.Stack, Service: f.Service, File: f.Position.File})
		}
		test.say(f, least)
	}
	for i := range suites.Suites {
		suites.Suites[i].count()
		suites.Tests += suites.Suites[i].Tests
		suites.Failures += suites.Suites[i].Failures
		suites.Errors += suites.Suites[i].Errors
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(suites); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// say adds a finding to a case. An error is what could not be judged, a failure
// what was judged and is wrong.
func (c *junitCase) say(f Finding, least Severity) {
	if c.File == "" {
		c.File, c.Line = f.Position.File, f.Position.Line
	}
	where := f.Position.String()
	if f.Path != "" {
		where += ": " + f.Path
	}
	result := junitResult{Message: f.Message, Type: string(f.Severity), Text: where + ": " + f.text()}
	switch {
	case f.Suppressed != "":
		c.Skipped = &junitResult{Message: f.Suppressed}
	case f.Unjudged:
		c.Errors = append(c.Errors, result)
	case f.Severity.AtLeast(least):
		c.Failures = append(c.Failures, result)
	default:
		c.Out += string(f.Severity) + " " + result.Text + "\n"
	}
}

// count sets the numbers of a suite. A case with a failure is not skipped, too.
func (s *junitSuite) count() {
	s.Tests = len(s.Cases)
	for _, c := range s.Cases {
		switch {
		case len(c.Errors) > 0:
			s.Errors++
			c.Skipped = nil
		case len(c.Failures) > 0:
			s.Failures++
			c.Skipped = nil
		case c.Skipped != nil:
			s.Skipped++
		}
	}
}
