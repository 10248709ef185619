package site

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/report/results"
)

// Markdown is the table of requirements by targets, and that of scenarios: results.md.
func (m *Model) Markdown() string {
	var b strings.Builder
	b.WriteString("# Requirements and targets\n\n" + legend + `
Made by ` + "`evenkeel site`" + ` from the files in ` + "`results/`" + `, which name the reasons, the reports of
campaigns and the published bundles.

`)
	heading, rule := "| requirement | level |", "|---|---|"
	for _, t := range m.Targets {
		heading += " " + report.Escape(t.Title) + " |"
		rule += "---|"
	}
	b.WriteString(heading + "\n" + rule + "\n")
	for _, r := range m.Requirements {
		fmt.Fprintf(&b, "| %s | %s |", r.ID, level(r))
		for _, t := range m.Targets {
			b.WriteString(" " + m.Cell(t, r.ID).String() + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n## Scenarios\n\nRuns without a red or open verdict, of all runs, and the seconds of the quickest and the slowest.\n\n")
	b.WriteString(strings.Replace(heading, "| requirement | level |", "| scenario |", 1) + "\n" + strings.TrimPrefix(rule, "|---") + "\n")
	for _, name := range m.scenarioNames() {
		fmt.Fprintf(&b, "| %s |", report.Escape(name))
		for _, t := range m.Targets {
			b.WriteString(" " + t.Played(name).String() + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// legend says how to read a cell.
const legend = `A cell is the worst that any run on that target came to, and in brackets how often
the promise was put to the test in all of them. "2/3" says that two of three runs
said so, and beside a pass that the third left it open; "inconclusive" is where no run
came to anything. "–": no scenario that judges it was played there. Of a scenario that does not list the
requirement only those runs count whose history shows it broken. A published bundle counts
where it shows worse than all runs in the results. "≤" is how often the requirement may
still fail, where a campaign has a bound.
`

// Played is what came of the runs of a scenario on a target.
type Played struct {
	// Clean are the runs without a red or open verdict.
	Clean, Runs int
	Seconds     []int
	// Refused is why the target cannot be played on with it.
	Refused string
}

// Played returns what came of a scenario.
func (t *Target) Played(name string) Played {
	if t.Campaign != nil {
		return t.playedInCampaign(name)
	}
	for _, s := range t.Results.Scenarios {
		if s.Name == name {
			return Played{s.Clean, s.Runs, s.Seconds, s.Refused}
		}
	}
	return Played{}
}

func (t *Target) playedInCampaign(name string) Played {
	var p Played
	for _, line := range t.Campaign.Lines {
		if line.Scenario != name || line.Verdict == check.Skipped {
			continue
		}
		p.Runs++
		if line.Verdict == check.Pass || line.Verdict == check.Deviation {
			p.Clean++
		}
	}
	p.Refused = t.refusal(name)
	return p
}

// String is the scenario's cell in one line.
func (p Played) String() string {
	switch {
	case p.Refused != "":
		return "refused"
	case p.Runs > 0 && len(p.Seconds) == 0:
		return fmt.Sprintf("%d/%d", p.Clean, p.Runs)
	case p.Runs > 0:
		return fmt.Sprintf("%d/%d, %d–%d s", p.Clean, p.Runs, slices.Min(p.Seconds), slices.Max(p.Seconds))
	}
	return "–"
}

// scenarioNames are the scenarios that were played on any target or refused.
func (m *Model) scenarioNames() []string {
	var names []string
	for _, t := range m.Targets {
		names = append(names, t.scenarioNames()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (t *Target) scenarioNames() []string {
	var names []string
	if t.Campaign != nil {
		for _, line := range t.Campaign.Lines {
			names = append(names, line.Scenario)
		}
		for _, l := range t.Campaign.LeftOut {
			names = append(names, l.Scenario)
		}
	} else {
		names = namesOf(t.Results)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func namesOf(t *results.Target) []string {
	var names []string
	for _, s := range t.Scenarios {
		names = append(names, s.Name)
	}
	return names
}
