package site

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

type fact struct{ Name, Value string }

type (
	requirementTarget struct {
		Anchor, Href, Title, Class, Word, Counts string
		Why                                      []string
		Scenarios                                []scenarioRow
		Breaches                                 []violationRow
		Runs                                     []runRow
	}
	scenarioRow struct {
		Name     string
		Unlisted bool
		Counts   []verdictCount
		Cases    int64
		Reason   string
	}
	runRow struct {
		Class, Href, Path, Word, Scenario, Timeline, Obligations, More string
		Unlisted                                                       bool
		Reasons                                                        []string
		Violations                                                     []violationRow
	}
	violationRow struct {
		Text, Run string
		Events    []link
	}
)

// requirement writes the page of a requirement: what it says, and on each target the counts,
// the runs and the evidence.
func (s *maker) requirement(r requirement.Requirement) error {
	at := requirementPage(r.ID)
	data := struct {
		ID       requirement.ID
		Promise  string
		Facts    []fact
		Findings []link
		Targets  []requirementTarget
	}{ID: r.ID, Promise: r.Promise, Facts: factsOf(r)}
	for _, f := range s.model.findingsOf(r.ID) {
		page := s.pageFor(FindingsFile)
		data.Findings = append(data.Findings, link{Href: href(at, page) + "#" + f.Anchor, Text: fmt.Sprintf("%s: %s", f.Title, f.Versions)})
	}
	for _, t := range s.model.Targets {
		data.Targets = append(data.Targets, s.onTarget(at, t, r.ID))
	}
	return s.page(at, string(r.ID), "requirement", data)
}

func factsOf(r requirement.Requirement) []fact {
	facts := []fact{{"Level", level(r)}, {"Source", r.Source}}
	var profiles []string
	for _, p := range requirement.Profiles() {
		if slices.Contains(p.Requirements, r.ID) {
			profiles = append(profiles, p.Name)
		}
	}
	if len(profiles) > 0 {
		facts = append(facts, fact{"Profiles", strings.Join(profiles, ", ")})
	}
	for _, b := range r.Bounds {
		facts = append(facts, fact{"Bound", fmt.Sprintf("%s: %s (%s)", b.Words(), b.Reason, b.Source)})
	}
	for _, b := range r.Tolerances {
		facts = append(facts, fact{"Tolerance", fmt.Sprintf("%s: %s (%s)", b.Words(), b.Reason, b.Source)})
	}
	for _, n := range r.Needs {
		facts = append(facts, fact{"A pass needs", fmt.Sprintf("%d %s", n.Least, n.What)})
	}
	return facts
}

func (s *maker) onTarget(at string, t *Target, id requirement.ID) requirementTarget {
	c := s.model.Cell(t, id)
	out := requirementTarget{Anchor: anchorOf(t), Href: href(at, targetPage(t)), Title: t.Title, Class: class(c.Verdict), Word: c.Word(), Counts: sentence(c.inWords()), Why: c.Why}
	if c.Verdict == "" {
		out.Word, out.Counts = "not judged", "No run on this target judged it."
	}
	if t.Campaign != nil {
		out.Why, out.Breaches = s.breaches(at, t, id, c.Why)
	} else if !t.alone {
		out.Scenarios = t.scenariosOf(id)
	}
	if c.Verdict != "" && t.Campaign == nil {
		out.Why = nil // the scenarios and the bundles below say it
	}
	for _, run := range t.Runs {
		if res, there := run.result(id); there {
			out.Runs = append(out.Runs, runCard(at, run, res))
		}
	}
	return out
}

// scenariosOf are the runs of each scenario that says something of a requirement.
func (t *Target) scenariosOf(id requirement.ID) []scenarioRow {
	var out []scenarioRow
	for _, sc := range t.Results.Scenarios {
		for _, o := range sc.Results {
			if o.ID == id {
				out = append(out, scenarioRow{sc.Name, o.Unlisted, countsOf(o.Verdicts), o.Observations, o.Reason})
			}
		}
	}
	return out
}

// breaches are those that a campaign's report has, with links into the runs that are at hand,
// and the reasons that are no breaches.
func (s *maker) breaches(at string, t *Target, id requirement.ID, why []string) (reasons []string, out []violationRow) {
	for _, r := range t.Campaign.Requirements {
		if r.ID != id {
			continue
		}
		for _, b := range r.Breaches {
			row := violationRow{Text: b.String()}
			if run := s.model.byEvidence(b.Bundle); run != nil {
				row.Run, row.Events = href(at, runPage(run)), eventsOf(at, run, b.Events)
			}
			out = append(out, row)
		}
		return r.Reasons, out
	}
	return why, nil
}

func runCard(at string, run *Run, res checked) runRow {
	row := runRow{
		Class: class(res.Verdict), Href: href(at, runPage(run)), Path: run.stem(), Word: string(res.Verdict), Scenario: run.Report.Scenario,
		Timeline: href(at, timelinePage(run)), Unlisted: res.Unlisted, Reasons: res.Reasons, Violations: violations(at, run, res),
	}
	if res.Obligations != nil {
		row.Obligations = res.Obligations.Words()
	}
	if more := res.ViolationCount - int64(len(res.Violations)); more > 0 {
		row.More = fmt.Sprintf("And %d more.", more)
	}
	if len(row.Violations) > 0 {
		row.Timeline = href(at, timelinePage(run))
		if first := row.Violations[0].Events; len(first) > 0 {
			row.Timeline = first[len(first)-1].Href
		}
	}
	return row
}

// violations are the breaches and the documented deviations of a result.
func violations(at string, run *Run, res checked) []violationRow {
	var out []violationRow
	for _, v := range res.Violations {
		out = append(out, violationRow{Text: v.Message, Events: eventsOf(at, run, v.Evidence)})
	}
	for _, d := range res.Deviations {
		for _, v := range d.Examples {
			out = append(out, violationRow{Text: d.Differs + " " + v.Message, Events: eventsOf(at, run, v.Evidence)})
		}
	}
	return out
}

func eventsOf(at string, run *Run, events []int64) []link {
	var out []link
	for _, seq := range events {
		out = append(out, link{Href: event(at, run, seq), Text: fmt.Sprint(seq)})
	}
	return out
}

// sentence begins with a capital letter and ends with a period.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
