package conformance

import (
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/report"
)

// JUnit gives the verdicts in the form that CI systems show, by the rules of reports of runs.
func (r *Report) JUnit() ([]byte, error) {
	const class = "evenkeel.conformance"
	var cases []report.Case
	for _, req := range r.Requirements {
		why := req.why()
		message := string(req.Verdict)
		if len(why) > 0 {
			message = why[0]
		}
		verdict := req.Verdict
		if verdict == check.Skipped {
			verdict = check.Inconclusive // it was asked for, and nothing judged it
		}
		cases = append(cases, report.Case{Class: class, Name: fmt.Sprintf("%s %s", req.ID, req.Promise), Verdict: verdict,
			Message: message, Text: strings.Join(why, "\n"), Out: req.tested()})
	}
	return report.JUnit("evenkeel conformance "+r.Target.Topology, r.Ended, cases, report.Case{Class: class, Name: "the campaign as a whole", Verdict: r.Verdict,
		Message: fmt.Sprintf("%s: %s", r.Verdict, r.judged())})
}

// tested says how often a requirement was put to the test.
func (r Requirement) tested() string {
	text := fmt.Sprintf("%s runs kept it; %d obligations met", r.kept(), r.Tested.Met)
	if r.MayFail != nil {
		text += fmt.Sprintf("; it may fail in at most %s of runs, at %s confidence", r.MayFail.AtMost, r.MayFail.Confidence)
	}
	return text
}

// Markdown is a summary for a KEP or a pull request.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Evenkeel conformance: %s (%s)\n\n", strings.ToUpper(string(r.Verdict)), r.judged())
	fmt.Fprintf(&b, "%s.\n\n%s.\n\n", report.Escape(r.about()), r.Runs)
	if by := r.by(); by != "" {
		fmt.Fprintf(&b, "%s.\n\n", report.Escape(by))
	}
	b.WriteString("| | verdict | runs kept | obligations met | may fail | promise |\n|---|---|---:|---:|---:|---|\n")
	for _, req := range r.Requirements {
		verdict := string(req.Verdict)
		if req.Verdict != check.Pass {
			verdict = "**" + verdict + "**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %s | %s |\n", req.ID, verdict, req.kept(), req.Tested.Met, req.bound(), report.Escape(req.Promise))
	}
	b.WriteString("\n")
	for _, req := range r.Requirements {
		for i, why := range req.why() {
			if i == 0 {
				fmt.Fprintf(&b, "- %s, %s: %s\n", req.ID, req.Verdict, report.Escape(why))
			} else {
				fmt.Fprintf(&b, "  - %s\n", report.Escape(why))
			}
		}
	}
	for _, p := range r.Profiles {
		fmt.Fprintf(&b, "- profile `%s`: %s\n", p.Name, p.InWords("**"))
	}
	return b.String()
}
