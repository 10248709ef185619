package site

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/conformance"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

type (
	playedRow struct{ Name, Played, Refused string }
	lineRow   struct {
		Line     int
		Scenario string
		Seed     int64
		Verdict  check.Verdict
		Tries    []tryRow
	}
	tryRow struct {
		Verdict          check.Verdict
		Bundle, Run, Why string
	}
	verdictRow struct {
		Href               string
		ID                 requirement.ID
		Class, Word, Share string
		Promise            string
		Why                []string
	}
	runLine struct {
		Href, Path, Scenario, Releases, Date, Timeline string
		Verdict                                        check.Verdict
		Counts                                         []verdictCount
	}
)

// shownDigest is how much of a digest a page shows.
const shownDigest = 12

// target writes the page of a target.
func (s *maker) target(t *Target) error {
	at := targetPage(t)
	data := struct {
		Title     string
		Facts     []fact
		Counts    []verdictCount
		Runs      []runLine
		Scenarios []playedRow
		Lines     []lineRow
		Rows      []verdictRow
		Files     []link
	}{Title: t.Title, Facts: t.facts(), Counts: s.model.counts(t), Runs: runLines(at, t.Runs), Lines: s.lines(at, t)}
	if t.Campaign != nil {
		data.Facts = append(data.Facts, s.model.signer(t.CampaignDir)...)
		data.Files = s.filesOfCampaign(at, t)
	}
	for _, name := range t.scenarioNames() {
		p := t.Played(name)
		data.Scenarios = append(data.Scenarios, playedRow{name, p.String(), p.Refused})
	}
	for _, r := range s.model.Requirements {
		c := s.model.Cell(t, r.ID)
		data.Rows = append(data.Rows, verdictRow{
			href(at, requirementPage(r.ID)) + "#" + anchorOf(t), r.ID, class(c.Verdict), c.Word(), strings.TrimSpace(c.Share() + " " + c.bound()), r.Promise, c.Why,
		})
	}
	// What no run judged stands at the end, in its order.
	slices.SortStableFunc(data.Rows, func(a, b verdictRow) int { return cmp.Compare(empty(a), empty(b)) })
	return s.page(at, t.Title, "target", data)
}

// filesOfCampaign are those that lie beside its bundles.
func (s *maker) filesOfCampaign(at string, t *Target) []link {
	var out []link
	for _, name := range conformance.Files {
		if file := path.Join(t.CampaignDir, name); s.copied(file) {
			out = append(out, link{Href: href(at, file), Text: name})
		}
	}
	return out
}

// empty is 1 for a row without a verdict, and 0 for any other.
func empty(row verdictRow) int {
	if row.Class == class("") {
		return 1
	}
	return 0
}

func (t *Target) facts() []fact {
	if t.Campaign == nil {
		facts := []fact{{"Topology", t.Results.Topology}}
		if t.Results.Release != "" {
			facts = append(facts, fact{"Release at which members begin", t.Results.Release})
		}
		return append(facts, fact{"Runs", fmt.Sprint(t.runs())})
	}
	rep := t.Campaign
	facts := []fact{
		{"Topology", path.Base(rep.Target.Topology)}, {"Provider", rep.Target.Provider}, {"Distribution", rep.Target.Distribution},
		{"Members", strings.Join(rep.Target.Members, ", ")}, {"Releases", strings.Join(rep.Target.Releases, ", ")},
		{"Runs", rep.Runs.String()}, {"Verdict", string(rep.Verdict)}, {"Harness", rep.Harness.Version},
		{"Suite", short(rep.Suite)}, {"Plan", short(rep.Plan)}, {"Journal", short(rep.Journal)},
	}
	if i := rep.Implementation; i != nil {
		facts = append(facts, fact{"Implementation", fmt.Sprintf("%s %s of %s", i.Project, i.Version, i.Organization)})
	}
	if rep.Holds.Until != "" {
		facts = append(facts, fact{"Meant to hold until", rep.Holds.Until + ", unless " + strings.Join(rep.Holds.Unless, " or ") + " before"})
	}
	for _, p := range rep.Profiles {
		facts = append(facts, fact{"Profile " + p.Name, p.InWords("")})
	}
	return facts
}

func short(digest string) string { return digest[:min(len(digest), shownDigest)] }

// lines are the runs of a campaign with all tries.
func (s *maker) lines(at string, t *Target) []lineRow {
	if t.Campaign == nil {
		return nil
	}
	var out []lineRow
	for _, l := range t.Campaign.Lines {
		row := lineRow{Line: l.Line, Scenario: l.Scenario, Seed: l.Seed, Verdict: l.Verdict}
		for _, try := range l.Tries {
			told := tryRow{Verdict: try.Verdict, Bundle: short(try.Bundle), Why: try.Why}
			if run := s.model.byEvidence(try.Bundle); run != nil {
				told.Run = href(at, runPage(run))
			}
			row.Tries = append(row.Tries, told)
		}
		out = append(out, row)
	}
	return out
}

func runLines(at string, runs []*Run) []runLine {
	var out []runLine
	for _, r := range runs {
		out = append(out, runLine{
			Href: href(at, runPage(r)), Path: r.stem(), Scenario: r.Report.Scenario, Releases: strings.Join(r.Report.Target.Releases, " → "),
			Date: r.Report.Date, Timeline: href(at, timelinePage(r)), Verdict: r.Report.Verdict, Counts: countsOf(r.Report.Statistics.Counts),
		})
	}
	return out
}

// runs writes the list of all bundles.
func (s *maker) runs() error {
	if len(s.model.Runs) == 0 {
		return nil
	}
	return s.page(runsPage, "Bundles", "runs", runLines(runsPage, s.model.Runs))
}
