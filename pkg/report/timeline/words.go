package timeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// maxTold is how many violations of a requirement the page lists one by one.
const maxTold = 5

// card is one requirement in words: what it says, what happened, where to look next.
type card struct {
	ID, Level, Source, Promise string
	Verdict                    check.Verdict
	// Happened says the overall outcome, Told lists single violations.
	Happened string
	Told     []breach
	More     string
	Next     []string
	// Seen says in words how often the requirement was tested.
	Seen []string
}

// breach is one violation, with the lines of the history that show it.
type breach struct {
	Message, Where string
	Evidence       []int64
}

// verdictWords are the verdicts in the words of the page.
var verdictWords = map[check.Verdict]string{
	check.Pass: "holds", check.Fail: "violated", check.Inconclusive: "inconclusive", check.Deviation: "differs as documented",
	check.NotApplicable: "not applicable", check.Skipped: "not judged",
}

// Words returns the verdict in words.
func (c card) Words() string {
	if words, ok := verdictWords[c.Verdict]; ok {
		return words
	}
	return string(c.Verdict)
}

func (c *collector) card(res check.Result) card {
	out := card{ID: string(res.ID), Level: string(res.Level), Promise: res.Promise, Verdict: res.Verdict}
	if req, ok := requirement.Lookup(res.ID); ok {
		out.Source = req.Source
	}
	for _, o := range res.Observations {
		out.Seen = append(out.Seen, fmt.Sprintf("%d %s (a pass needs %d)", o.Seen, o.What, o.Need))
	}
	if res.Obligations != nil {
		out.Seen = append(out.Seen, "obligations: "+res.Obligations.Words())
	}
	for _, b := range slices.Concat(res.Bounds, res.Tolerances) {
		out.Seen = append(out.Seen, b.Words()+": "+b.Reason)
	}
	switch res.Verdict {
	case check.Pass:
		out.Happened = fmt.Sprintf("The run tested it %s, and it held every time.", times(res.Cases()))
	case check.Fail:
		out.Happened = fmt.Sprintf("The run found it violated %s.", times(res.ViolationCount))
		if res.Unlisted {
			out.Happened += " Note: " + report.UnlistedNote + "."
		}
		out.Told = c.breaches(res.Violations)
		if rest := res.ViolationCount - int64(len(out.Told)); rest > 0 {
			out.More = fmt.Sprintf("And %d more; report.yaml has the first %d.", rest, len(res.Violations))
		}
	default:
		out.Happened = sentence(res.Reasons)
	}
	for _, d := range res.Deviations {
		out.Happened += fmt.Sprintf(" As documented (%s), seen %s: %s See %s.", d.ID, times(d.Count), d.Differs, d.Source)
		out.Told = append(out.Told, c.breaches(d.Examples[:min(1, len(d.Examples))])...)
	}
	out.Happened = strings.TrimSpace(out.Happened)
	out.Next = c.next(res)
	return out
}

func sentence(reasons []string) string {
	if len(reasons) == 0 {
		return ""
	}
	return "Why: " + strings.Join(reasons, "; ") + "."
}

// is agrees with a number.
func is(count int) string {
	if count == 1 {
		return "is"
	}
	return "are"
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func (c *collector) breaches(violations []check.Violation) []breach {
	var out []breach
	for _, v := range violations[:min(maxTold, len(violations))] {
		b := breach{Message: v.Message}
		for _, seq := range v.Evidence {
			if c.evidence[seq] != nil && !slices.Contains(b.Evidence, seq) {
				b.Evidence = append(b.Evidence, seq)
			}
		}
		if i := c.shows(v); i >= 0 {
			m := c.evidence[v.Evidence[i]]
			b.Where = fmt.Sprintf("At %s (%s UTC), %s.", when(m.at), c.clock(m.at), m.words)
		}
		out = append(out, b)
	}
	return out
}

// next says where the reader can look next.
func (c *collector) next(res check.Result) []string {
	if res.Verdict == check.Pass {
		return nil
	}
	var out []string
	if len(res.Violations) > 0 {
		if i := c.shows(res.Violations[0]); i >= 0 {
			seq := res.Violations[0].Evidence[i]
			m := c.evidence[seq]
			out = append(out, fmt.Sprintf("The chart around line %d, and what the lanes show just before it.", seq))
			if m.member != "" {
				out = append(out, fmt.Sprintf("The log of %s's API server around %s UTC: logs/%s-apiserver.log, where the bundle has logs.", m.member, c.clock(m.at), m.member))
			}
		}
	}
	if res.Verdict == check.Inconclusive {
		out = append(out, "The counts below: the first count that is lower than a pass needs says what the run did not exercise.")
	}
	file := strings.ToLower(strings.ReplaceAll(string(res.ID), "-", ""))
	return append(out, fmt.Sprintf("How Evenkeel judges it: pkg/law, in the file with %s in its name.", file))
}

// story is the text of the page around the chart.
type story struct {
	Title, Headline, Verdict string
	Facts                    []fact
	Doubts                   []string
	Broken, Kept             []card
	Steps                    []row
}

type fact struct{ Name, Value string }

// row of the table of steps, for readers who cannot see the chart.
type row struct {
	Step, From, Took string
	Seq              int64
}

func (c *collector) story() story {
	r := c.report
	releases := map[string]bool{}
	for _, m := range r.Target.Members {
		releases[m.Release] = true
	}
	began := strings.Join(slices.Sorted(maps.Keys(releases)), " and ")
	what := fmt.Sprintf("%s %s", r.Target.Distribution, began)
	s := story{Title: fmt.Sprintf("%s, %s: %s", r.Scenario, what, r.Verdict), Verdict: string(r.Verdict), Doubts: r.Doubts}
	kept, broken, judged := 0, 0, len(r.Results)
	for _, res := range r.Results {
		one := c.card(res)
		switch res.Verdict {
		case check.Pass:
			kept++
			s.Kept = append(s.Kept, one)
		case check.Fail:
			broken++
			fallthrough
		default:
			s.Broken = append(s.Broken, one)
		}
	}
	slices.SortStableFunc(s.Broken, func(a, b card) int { return weight(a) - weight(b) })
	switch {
	case broken > 0:
		s.Headline = fmt.Sprintf("FAIL: %d of %d requirements %s violated.", broken, judged, is(broken))
	case r.Verdict == check.Pass:
		s.Headline = fmt.Sprintf("PASS: %d of %d requirements hold.", kept, judged)
	default:
		s.Headline = fmt.Sprintf("INCONCLUSIVE: no requirement is violated, and %d of %d hold. The evidence is not sufficient for the others.", kept, judged)
	}
	var ran []string
	for _, name := range c.releases.names {
		if name != "" {
			ran = append(ran, name)
		}
	}
	s.Facts = []fact{
		{"Control plane", fmt.Sprintf("%s, %d members (%s provider)", r.Target.Distribution, len(r.Target.Members), r.Target.Provider)},
		{"Releases that ran", strings.Join(ran, ", ")},
		{"Responsible", responsible(r.Implementation)},
		{"Scenario", r.Scenario},
		{"Run", fmt.Sprintf("%s, began %s, took %s", r.Run, r.Date, (time.Duration(c.now) * time.Microsecond).Round(100*time.Millisecond))},
		{"History", fmt.Sprintf("%d events in %s, seed %d", r.Events, c.picture.History, r.Seed)},
		{"Recorded by", "evenkeel " + r.Harness.Version},
	}
	if r.Defect != "" {
		s.Facts = append(s.Facts, fact{"Planted on purpose", "the defect " + r.Defect})
	}
	for _, sp := range c.steps.spans {
		s.Steps = append(s.Steps, row{c.picture.Texts[sp.Text], when(sp.From), when(sp.To - sp.From), sp.Seq})
	}
	return s
}

// responsible names the organization that is responsible for the control plane.
func responsible(i *history.Implementation) string {
	if i == nil {
		return "the topology does not say (spec.implementation)"
	}
	return fmt.Sprintf("%s, for %s %s (%s)", i.Organization, i.Project, i.Version, i.URL)
}

// weight orders the requirements that do not hold: worse verdicts come first.
func weight(c card) int {
	return slices.Index([]check.Verdict{check.Fail, check.Inconclusive, check.Deviation, check.Skipped, check.NotApplicable}, c.Verdict)
}
