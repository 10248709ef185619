package report

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/check"
)

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"timestamp,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Failure *junitText `xml:"failure,omitempty"`
	Error   *junitText `xml:"error,omitempty"`
	Skipped *junitText `xml:"skipped,omitempty"`
	Out     string     `xml:"system-out,omitempty"`
}

type junitText struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit gives the results in the form that CI systems show. An inconclusive
// verdict and a requirement that was to be judged and was not are errors, since
// no CI system may take them for a pass. A documented deviation is neither a pass
// nor a failure, which is what these systems call skipped. Nor may it take a whole without a
// single red case for one, so whatever else keeps the run from passing gets a
// case of its own.
func (r *ConformanceReport) JUnit() ([]byte, error) {
	suite := junitSuite{Name: "evenkeel " + r.Scenario, Time: r.Date}
	for _, res := range r.Results {
		c := junitCase{Class: "evenkeel." + r.Scenario, Name: fmt.Sprintf("%s %s", res.ID, res.Promise), Out: observations(res)}
		text := &junitText{Message: summary(res), Text: strings.Join(details(res), "\n")}
		switch res.Verdict {
		case check.Fail:
			c.Failure = text
			suite.Failures++
		case check.Inconclusive:
			c.Error = text
			suite.Errors++
		case check.Skipped, check.NotApplicable, check.Deviation:
			c.Skipped = text
			suite.Skipped++
		case check.Pass:
		default:
			c.Error = &junitText{Message: fmt.Sprintf("the verdict %q is none", res.Verdict)}
			suite.Errors++
		}
		suite.Cases = append(suite.Cases, c)
	}
	for _, id := range r.NotJudged {
		suite.Errors++
		suite.Cases = append(suite.Cases, junitCase{Class: "evenkeel." + r.Scenario, Name: string(id),
			Error: &junitText{Message: r.notJudged()}})
	}
	if r.Verdict != check.Pass && suite.Failures+suite.Errors == 0 {
		suite.Errors++
		suite.Cases = append(suite.Cases, junitCase{Class: "evenkeel." + r.Scenario, Name: "the run as a whole",
			Error: &junitText{Message: fmt.Sprintf("%s: %s", r.Verdict, counts(r.Statistics.Counts))}})
	}
	suite.Tests = len(suite.Cases)
	out, err := xml.MarshalIndent(junitSuites{Suites: []junitSuite{suite}}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode JUnit: %w", err)
	}
	return append([]byte(xml.Header), append(out, '\n')...), nil
}

func observations(res check.Result) string {
	var lines []string
	for _, o := range res.Observations {
		lines = append(lines, fmt.Sprintf("%d %s (needs %d)", o.Seen, o.What, o.Need))
	}
	if res.Obligations != nil {
		lines = append(lines, "obligations: "+res.Obligations.Words())
	}
	return strings.Join(lines, "\n")
}
