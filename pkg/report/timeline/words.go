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
	// Happened says the overall outcome, Told lists single violations or, of a requirement
	// that was kept, examples.
	Happened string
	Told     []breach
	More     string
	Next     []string
	// Seen says in words how often the requirement was tested.
	Seen []string
}

// breach is one violation, or one example of what was kept, with the events that show it.
type breach struct {
	Message, Where string
	Events         []int64
}

// Pill is the verdict as the card shows it.
func (c card) Pill() string { return strings.ReplaceAll(string(c.Verdict), "-", " ") }

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
		out.Happened = fmt.Sprintf("The run tested it %s, and it was kept every time.", times(res.Cases()))
		out.Told = c.keptBy(res.Kept)
	case check.Fail:
		out.Happened = fmt.Sprintf("The run found it broken %s.", times(res.ViolationCount))
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
			if c.evidence[seq] != nil && !slices.Contains(b.Events, seq) {
				b.Events = append(b.Events, seq)
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

// keptBy are some of the times that a requirement was kept.
func (c *collector) keptBy(kept []check.Example) []breach {
	var out []breach
	for _, k := range kept {
		example := breach{Message: k.About}
		for _, seq := range k.Events {
			if c.evidence[seq] != nil {
				example.Events = append(example.Events, seq)
			}
		}
		if n := len(example.Events); n > 0 {
			at := c.evidence[example.Events[n-1]].at
			example.Where = fmt.Sprintf("At %s (%s UTC).", when(at), c.clock(at))
			out = append(out, example)
		}
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
			out = append(out, fmt.Sprintf("The chart around event %d, and what the lanes show just before it.", seq))
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

// fact is one line about the run. Each of its parts stays in one line where there is room.
type fact struct {
	Name  string
	Parts []part
}

// part is a text in pieces between which a line may break.
type part []string

// of is a fact of parts without places to break.
func of(name string, parts ...string) fact {
	f := fact{Name: name}
	for _, p := range parts {
		f.Parts = append(f.Parts, part{p})
	}
	return f
}

// row of the table of steps, for readers who cannot see the chart.
type row struct {
	Step, From string
	// Took is in parts, each of which stays in one line.
	Took []string
	Seq  int64
}

func (c *collector) story() story {
	r := c.report
	releases := map[string]bool{}
	for _, m := range r.Target.Members {
		releases[m.Release] = true
	}
	began := strings.Join(slices.Sorted(maps.Keys(releases)), " and ")
	what := fmt.Sprintf("%s %s", r.Target.Distribution, began)
	s := story{Title: fmt.Sprintf("%s, %s: %s", r.Scenario, what, r.Verdict), Headline: headline(r), Verdict: string(r.Verdict), Doubts: r.Doubts}
	for _, res := range r.Results {
		if one := c.card(res); res.Verdict == check.Pass {
			s.Kept = append(s.Kept, one)
		} else {
			s.Broken = append(s.Broken, one)
		}
	}
	slices.SortStableFunc(s.Broken, func(a, b card) int { return weight(a) - weight(b) })
	s.Facts = c.facts()
	for _, sp := range c.steps.spans {
		s.Steps = append(s.Steps, row{c.picture.Texts[sp.Text], when(sp.From), c.took(sp), sp.Seq})
	}
	return s
}

// facts say what ran where and when.
func (c *collector) facts() []fact {
	r := c.report
	var ran []string
	for _, name := range c.releases.names {
		if name != "" {
			ran = append(ran, name)
		}
	}
	facts := []fact{
		of("Control plane", r.Target.Distribution+",", fmt.Sprintf("%d members", len(r.Target.Members)), fmt.Sprintf("(%s provider)", r.Target.Provider)),
		of("Releases that ran", listed(ran)...),
		{"Responsible", responsible(r.Implementation)},
		of("Scenario", r.Scenario),
		of("Run", r.Run+",", "began "+c.header.Started.UTC().Format("2006-01-02 15:04:05 UTC")+",", "took "+(time.Duration(c.now)*time.Microsecond).Round(100*time.Millisecond).String()),
		of("History", fmt.Sprintf("%d events", r.Events), "in "+c.picture.History+",", fmt.Sprintf("seed %d", r.Seed)),
		of("Recorded by", "evenkeel "+r.Harness.Version),
	}
	if r.Defect != "" {
		facts = append(facts, of("Planted on purpose", "the defect "+r.Defect))
	}
	if len(r.NotJudged) > 0 {
		var ids []string
		for _, id := range r.NotJudged {
			ids = append(ids, string(id))
		}
		facts = append(facts, of("Not tested by the scenario", listed(ids)...))
	}
	return facts
}

// listed are words with commas between them.
func listed(words []string) []string {
	out := slices.Clone(words)
	for i := range out[:max(0, len(out)-1)] {
		out[i] += ","
	}
	return out
}

// took says how long a step took. One that holds the control plane waits before that for
// what the hold needs.
func (c *collector) took(sp span) []string {
	h := c.held[sp.Seq]
	if h == nil {
		return []string{when(sp.To - sp.From)}
	}
	end := h.to
	if end == 0 {
		end = sp.To
	}
	return []string{when(sp.To-sp.From) + ":", "waited " + when(h.from-sp.From) + ",", "held " + when(end-h.from)}
}

// responsible names the organization that is responsible for the control plane. Its URL may
// break after each slash.
func responsible(i *history.Implementation) []part {
	if i == nil {
		return []part{{"the topology does not say"}, {"(spec.implementation)"}}
	}
	url := strings.SplitAfter("("+i.URL+")", "/")
	return []part{{i.Organization + ","}, {fmt.Sprintf("for %s %s", i.Project, i.Version)}, url}
}

// weight orders the requirements that did not pass: worse verdicts come first.
func weight(c card) int {
	return slices.Index([]check.Verdict{check.Fail, check.Inconclusive, check.Deviation, check.Skipped, check.NotApplicable}, c.Verdict)
}
