package conformance

import (
	"fmt"
	"io"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/report"
)

// maxShownBreaches is how many breaches of a requirement the text shows; the report has more.
const maxShownBreaches = 3

// Text writes the report: a line for each requirement with the runs behind it, then why
// others than pass came about. On a terminal, of whose lines width says how long they are, a
// promise is cut to the line; 0 cuts nothing.
func (r *Report) Text(out io.Writer, width int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", r.about())
	if by := r.by(); by != "" {
		fmt.Fprintf(&b, "%s.\n\n", by)
	}
	fmt.Fprintf(&b, "%-7s %-6s %-14s %9s %10s %9s  %s\n", "ID", "LEVEL", "VERDICT", "RUNS KEPT", "MET", "MAY FAIL", "PROMISE")
	for _, req := range r.Requirements {
		line := fmt.Sprintf("%-7s %-6s %-14s %9s %10d %9s  %s", req.ID, req.Level, strings.ToUpper(string(req.Verdict)), req.kept(), req.Tested.Met, req.bound(), req.Promise)
		b.WriteString(report.Cut(line, width) + "\n")
	}
	for _, req := range r.Requirements {
		lines := req.why()
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s %s: %s\n", req.ID, req.Verdict, req.Promise)
		for _, l := range lines {
			fmt.Fprintf(&b, "  - %s\n", l)
		}
	}
	if again := r.retried(); len(again) > 0 {
		fmt.Fprintf(&b, "\nPlayed more than once, or without a verdict:\n")
		for _, l := range again {
			fmt.Fprintf(&b, "  - %s\n", l)
		}
	}
	if len(r.LeftOut) > 0 {
		fmt.Fprintf(&b, "\nNot planned, since the target cannot be played on with them:\n")
		for _, l := range r.LeftOut {
			fmt.Fprintf(&b, "  - %s: %s\n", l.Scenario, l.Reason)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", r.Runs)
	fmt.Fprintf(&b, "Verdict: %s (%s)\n", strings.ToUpper(string(r.Verdict)), r.judged())
	for _, p := range r.Profiles {
		fmt.Fprintf(&b, "Profile %s: %s\n", p.Name, p.InWords(""))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// judged says of how many requirements the verdict is, so that a pass of a few does not read as one of all.
func (r *Report) judged() string {
	of, without := 0, r.Counts[check.Skipped]+r.Counts[check.NotApplicable]
	for _, n := range r.Counts {
		of += n
	}
	if without == 0 {
		return report.InWords(r.Counts)
	}
	return fmt.Sprintf("%d of %d requirements judged: %s", of-without, of, report.InWords(r.Counts))
}

// by says whose control plane it is, where the topology does.
func (r *Report) by() string {
	i := r.Implementation
	if i == nil {
		return ""
	}
	return fmt.Sprintf("The control plane is %s %s of %s (%s)", i.Project, i.Version, i.Organization, i.URL)
}

// about is one line on what was tested, by what, and until when that is meant to hold.
func (r *Report) about() string {
	text := fmt.Sprintf("%s %s on the provider %s, %d members (%s); judged by evenkeel %s, suite %.12s",
		r.Target.Distribution, strings.Join(r.Target.Releases, ", "), r.Target.Provider, len(r.Target.Members), r.Target.Topology, r.Harness.Version, r.Suite)
	if r.Asked.Defect != "" {
		text += "; the defect " + r.Asked.Defect + " was planted on purpose"
	}
	if r.Holds.Until != "" {
		text += fmt.Sprintf("; meant to hold until %s, unless %s before", r.Holds.Until, strings.Join(r.Holds.Unless, " or "))
	}
	return text
}

// String says how many runs came out how.
func (n Runs) String() string {
	text := fmt.Sprintf("Runs: %d planned, %d kept all that they judge, %d broken", n.Planned, n.Kept, n.Broken)
	for _, more := range []struct {
		n    int
		what string
	}{{n.Open, "stayed open"}, {n.Refused, "refused by the target"}, {n.Unplayed, "not played"}} {
		if more.n > 0 {
			text += fmt.Sprintf(", %d %s", more.n, more.what)
		}
	}
	if n.Tries > n.Planned {
		text += fmt.Sprintf("; %d tries", n.Tries)
	}
	return text
}

// kept is in how many of the conclusive runs the requirement held.
func (r Requirement) kept() string {
	return fmt.Sprintf("%d/%d", r.Tested.Kept, r.Tested.Kept+r.Tested.Broken)
}

// bound is the most that the requirement may still fail, as far as that is known.
func (r Requirement) bound() string {
	if r.MayFail == nil {
		return "-"
	}
	return "≤ " + r.MayFail.AtMost
}

// why says why the verdict is not a pass, with the first breaches.
func (r Requirement) why() []string {
	var out []string
	if r.Unlisted {
		out = append(out, "the campaign was not asked for this requirement, and a run shows it broken")
	}
	out = append(out, r.Reasons...)
	for i, b := range r.Breaches {
		if i == maxShownBreaches {
			out = append(out, fmt.Sprintf("and %d more runs", len(r.Breaches)-i))
			break
		}
		out = append(out, b.String())
	}
	return out
}

// String says where the breach is and what it is.
func (b Breach) String() string {
	text := fmt.Sprintf("line %d, try %d, bundle %.12s: %s", b.Line, b.Try, b.Bundle, b.Message)
	if len(b.Events) > 0 {
		text += fmt.Sprintf(" (history events %s)", strings.Trim(strings.Join(strings.Fields(fmt.Sprint(b.Events)), ", "), "[]"))
	}
	return text
}

// retried lists the tries that did not settle their line, and why.
func (r *Report) retried() []string {
	var out []string
	for _, line := range r.Lines {
		for i, t := range line.Tries {
			if t.Verdict == check.Inconclusive || t.Verdict == check.Skipped {
				out = append(out, fmt.Sprintf("line %d (%s, seed %d), try %d: %s: %s", line.Line, line.Scenario, line.Seed, i+1, t.Verdict, t.Why))
			}
		}
	}
	return out
}
