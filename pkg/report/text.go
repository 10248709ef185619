package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// maxShownViolations is how many violations of a requirement the table shows;
// the report has more.
const maxShownViolations = 3

// Table writes the verdicts as text: a line for each requirement with the number of
// cases that tested it, then why others than pass came about. On a terminal, of whose lines
// width says how long they are, a promise is cut to the line; 0 cuts nothing.
func (r *ConformanceReport) Table(out io.Writer, width int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-7s %-6s %-14s %12s  %s\n", "ID", "LEVEL", "VERDICT", "CASES", "PROMISE")
	for _, res := range r.Results {
		line := fmt.Sprintf("%-7s %-6s %-14s %12d  %s", res.ID, res.Level, strings.ToUpper(string(res.Verdict)), res.Cases(), res.Promise)
		b.WriteString(Cut(line, width) + "\n")
	}
	for _, res := range r.Results {
		lines := slices.DeleteFunc(details(res), func(l string) bool { return slices.Contains(r.Doubts, l) })
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s %s: %s\n", res.ID, res.Verdict, res.Promise)
		for _, l := range lines {
			fmt.Fprintf(&b, "  - %s\n", l)
		}
	}
	if len(r.Doubts) > 0 {
		fmt.Fprintf(&b, "\nNothing can pass in this run:\n")
		for _, d := range r.Doubts {
			fmt.Fprintf(&b, "  - %s\n", d)
		}
	}
	if len(r.NotJudged) > 0 {
		fmt.Fprintf(&b, "\nNot judged: %s\n  - %s\n", strings.Join(ids(r.NotJudged), ", "), r.notJudged())
	}
	if n := len(r.Etcd); n > 0 {
		fmt.Fprintf(&b, "\nEtcd, when it was looked at last: %s\n", r.Etcd[n-1].Summary())
	}
	if r.Balancer != nil {
		fmt.Fprintf(&b, "\nThrough the load balancer: %d of %d reads were served, the longest time without one was %s\n",
			r.Balancer.Answered, r.Balancer.Asked, time.Duration(r.Balancer.LongestOutageMillis)*time.Millisecond)
	}
	fmt.Fprintf(&b, "\nVerdict: %s", strings.ToUpper(string(r.Verdict)))
	fmt.Fprintf(&b, " (%s)\n", counts(r.Statistics.Counts))
	for _, p := range r.Profiles {
		fmt.Fprintf(&b, "Profile %s: %s\n", p.Name, p.InWords(""))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// Cut shortens a line to so many characters, between words; 0 leaves it as it is.
func Cut(line string, width int) string {
	runes := []rune(line)
	if width <= 0 || len(runes) <= width {
		return line
	}
	kept := string(runes[:width-1])
	if end := strings.LastIndexByte(kept, ' '); runes[width-1] != ' ' && end >= 0 {
		kept = kept[:end]
	}
	return strings.TrimRight(kept, " ") + "…"
}

// counts in words, such as "14 pass, 2 skipped".
func counts(of map[check.Verdict]int) string {
	var out []string
	for _, v := range check.Verdicts {
		if n := of[v]; n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, v))
		}
	}
	if len(out) == 0 {
		return "nothing was judged"
	}
	return strings.Join(out, ", ")
}

// InWords tells of the parts of a profile, with its outcomes in the given emphasis of Markdown. Not
// each profile has requirements in both parts, and a part without one is not told of.
func (p Profile) InWords(emphasis string) string {
	var out []string
	for _, part := range []struct {
		name string
		Part
	}{{"core", p.Core}, {"extended", p.Extended}} {
		if len(part.Counts) > 0 {
			out = append(out, fmt.Sprintf("%s %s%s%s (%s)", part.name, emphasis, part.Outcome, emphasis, counts(part.Counts)))
		}
	}
	return strings.Join(out, ", ")
}

// InWords writes counts of verdicts, such as "14 pass, 2 skipped".
func InWords(of map[check.Verdict]int) string { return counts(of) }

// notJudged is why there is no verdict on what NotJudged lists.
func (r *ConformanceReport) notJudged() string {
	return fmt.Sprintf("asked for, but the scenario %s cannot judge it", r.Scenario)
}

func ids(of []requirement.ID) []string {
	out := make([]string, 0, len(of))
	for _, id := range of {
		out = append(out, string(id))
	}
	return out
}

// summary is one line on a verdict that is not a pass.
func summary(res check.Result) string {
	switch {
	case len(res.Violations) > 0:
		return res.Violations[0].Message
	case len(res.Reasons) > 0:
		return res.Reasons[0]
	case len(res.Deviations) > 0:
		return deviates(res.Deviations[0])
	}
	return string(res.Verdict)
}

// details lists violations, with the events that show them, and reasons.
func details(res check.Result) []string {
	var out []string
	if res.Unlisted {
		out = append(out, UnlistedNote)
	}
	for i, v := range res.Violations {
		if i == maxShownViolations {
			out = append(out, fmt.Sprintf("and %d more", res.ViolationCount-int64(i)))
			break
		}
		out = append(out, shown(v))
	}
	for _, d := range res.Deviations {
		out = append(out, deviates(d), "the first time: "+shown(d.Examples[0]))
	}
	if res.Verdict != check.Pass {
		out = append(out, res.Reasons...)
	}
	return out
}

// shown is a violation with the events that show it.
func shown(v check.Violation) string {
	if len(v.Evidence) == 0 {
		return v.Message
	}
	return fmt.Sprintf("%s (history events %s)", v.Message, join(v.Evidence))
}

// deviates is one line on a documented deviation.
func deviates(d check.DeviationSeen) string {
	return fmt.Sprintf("differs on purpose, as documented (%s, seen %d times): %s See %s", d.ID, d.Count, d.Differs, d.Source)
}

func join(seqs []int64) string {
	seqs = slices.Clone(seqs)
	slices.Sort(seqs)
	var out []string
	for _, s := range slices.Compact(seqs) {
		out = append(out, fmt.Sprint(s))
	}
	return strings.Join(out, ", ")
}
