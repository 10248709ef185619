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
	class := "evenkeel." + r.Scenario
	var cases []Case
	for _, res := range r.Results {
		cases = append(cases, Case{Class: class, Name: fmt.Sprintf("%s %s", res.ID, res.Promise), Verdict: res.Verdict,
			Message: summary(res), Text: strings.Join(details(res), "\n"), Out: observations(res)})
	}
	for _, id := range r.NotJudged {
		cases = append(cases, Case{Class: class, Name: string(id), Verdict: check.Inconclusive, Message: r.notJudged()})
	}
	return JUnit("evenkeel "+r.Scenario, r.Date, cases, Case{Class: class, Name: "the run as a whole", Verdict: r.Verdict,
		Message: fmt.Sprintf("%s: %s", r.Verdict, counts(r.Statistics.Counts))})
}

// Case is the verdict on one requirement, as a CI system shows it.
type Case struct {
	Class, Name string
	Verdict     check.Verdict
	// Message and Text say why the verdict is not a pass, and Out how often it was tested.
	Message, Text, Out string
}

// JUnit encodes verdicts. The whole gets a case of its own if it is no pass and no other case
// is red.
func JUnit(name, date string, cases []Case, whole Case) ([]byte, error) {
	suite := junitSuite{Name: name, Time: date}
	for _, c := range cases {
		suite.add(c)
	}
	if whole.Verdict != check.Pass && suite.Failures+suite.Errors == 0 {
		whole.Verdict = check.Inconclusive // of a fail one of the cases would be red
		suite.add(whole)
	}
	suite.Tests = len(suite.Cases)
	out, err := xml.MarshalIndent(junitSuites{Suites: []junitSuite{suite}}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode JUnit: %w", err)
	}
	return append([]byte(xml.Header), append(out, '\n')...), nil
}

// add enters a case where the form has it.
func (s *junitSuite) add(of Case) {
	c := junitCase{Class: of.Class, Name: of.Name, Out: of.Out}
	text := &junitText{Message: of.Message, Text: of.Text}
	switch of.Verdict {
	case check.Fail:
		c.Failure = text
		s.Failures++
	case check.Inconclusive:
		c.Error = text
		s.Errors++
	case check.Skipped, check.NotApplicable, check.Deviation:
		c.Skipped = text
		s.Skipped++
	case check.Pass:
	default:
		c.Error = &junitText{Message: fmt.Sprintf("the verdict %q is none", of.Verdict)}
		s.Errors++
	}
	s.Cases = append(s.Cases, c)
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
