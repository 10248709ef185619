package site

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

type resultRow struct {
	Href        string
	ID          requirement.ID
	Class, Word string
	Promise     string
	Why         []violationRow
}

// run writes the page of a bundle.
func (s *maker) run(r *Run) error {
	at, rep := runPage(r), r.Report
	data := struct {
		Verdict                            check.Verdict
		Path, Timeline, Target, TargetHref string
		Facts                              []fact
		Doubts                             []string
		Rows                               []resultRow
		Files                              []link
	}{Verdict: rep.Verdict, Path: r.stem(), Timeline: href(at, timelinePage(r)), Facts: append(factsOfRun(rep), s.model.signer(r.Path)...), Doubts: rep.Doubts}
	anchor := ""
	if r.Target != nil {
		data.Target, data.TargetHref, anchor = r.Target.Title, href(at, targetPage(r.Target)), "#"+anchorOf(r.Target)
	}
	for _, res := range rep.Results {
		row := resultRow{Href: href(at, requirementPage(res.ID)) + anchor, ID: res.ID, Class: class(res.Verdict), Word: string(res.Verdict), Promise: res.Promise}
		for _, reason := range res.Reasons {
			row.Why = append(row.Why, violationRow{Text: reason})
		}
		row.Why = append(row.Why, violations(at, r, res)...)
		data.Rows = append(data.Rows, row)
	}
	data.Rows = slices.DeleteFunc(data.Rows, func(row resultRow) bool { return !s.known(row.ID) })
	for file := range s.model.files {
		if s.copied(file) && s.model.bundleOf(file) == r {
			data.Files = append(data.Files, link{Href: href(at, file), Text: path.Base(file)})
		}
	}
	slices.SortFunc(data.Files, func(a, b link) int { return strings.Compare(a.Href, b.Href) })
	return s.page(at, r.stem(), "run", data)
}

// known is whether the requirement has a page: a bundle may be of an evenkeel that had others.
func (s *maker) known(id requirement.ID) bool {
	return slices.ContainsFunc(s.model.Requirements, func(r requirement.Requirement) bool { return r.ID == id })
}

func factsOfRun(rep *report.ConformanceReport) []fact {
	facts := []fact{
		{"Scenario", rep.Scenario}, {"Seed", fmt.Sprint(rep.Seed)}, {"Began", rep.Date}, {"Provider", rep.Target.Provider},
		{"Distribution", rep.Target.Distribution}, {"Releases", strings.Join(rep.Target.Releases, ", ")}, {"Members", fmt.Sprint(len(rep.Target.Members))},
		{"Harness", rep.Harness.Version}, {"Suite", short(rep.Harness.Suite)}, {"Events", fmt.Sprint(rep.Events)}, {"Evidence", short(rep.Digests.Evidence())},
	}
	if rep.Defect != "" {
		facts = append(facts, fact{"Planted defect", rep.Defect})
	}
	return facts
}
