package site

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// verdictCount is how many requirements have a verdict.
type verdictCount struct {
	N           int
	Word, Class string
}

// class is the verdict in the style sheet.
func class(v check.Verdict) string { return cmp.Or(string(v), "none") }

// countsOf puts numbers by verdict in the order of reports; "" are those without a verdict.
func countsOf(of map[check.Verdict]int) []verdictCount {
	var out []verdictCount
	for _, v := range append(append([]check.Verdict{}, check.Verdicts...), "") {
		if of[v] > 0 {
			out = append(out, verdictCount{of[v], cmp.Or(string(v), "not judged"), class(v)})
		}
	}
	return out
}

// counts of a target's requirements.
func (m *Model) counts(t *Target) []verdictCount {
	of := map[check.Verdict]int{}
	for _, r := range m.Requirements {
		of[m.Cell(t, r.ID).Verdict]++
	}
	return countsOf(of)
}

type (
	matrixTarget struct {
		Href, Title   string
		Counts        []verdictCount
		Runs, Bundles int
	}
	matrixGroup struct {
		Title string
		Rows  []matrixRow
	}
	matrixRow struct {
		Href, Level, Promise string
		ID                   requirement.ID
		Cells                []matrixCell
	}
	matrixCell struct {
		Class, Href, Title, Word, Share string
		Seen                            int64
	}
)

// groups are the headings of the catalog's parts, by the letters that IDs begin with.
var groups = map[string]string{
	"SV":  "KEP-2339: storage versions of highly available API servers",
	"AD":  "KEP-3352: aggregated discovery",
	"CLE": "KEP-4355: coordinated leader election",
	"SVM": "KEP-25: storage version migration",
	"EV":  "KEP-4330: emulated versions",
	"RO":  "What holds in every run",
}

// group is the heading that a requirement stands under.
func group(id requirement.ID) string {
	letters, _, _ := strings.Cut(string(id), "-")
	return cmp.Or(groups[letters], letters)
}

// index writes the page with the matrix.
func (s *maker) index() error {
	m := s.model
	data := struct {
		Legend    string
		Targets   []matrixTarget
		Groups    []matrixGroup
		Documents []link
	}{Legend: strings.Join(strings.Fields(legend), " ")}
	for _, t := range m.Targets {
		data.Targets = append(data.Targets, matrixTarget{href(indexPage, targetPage(t)), t.Title, m.counts(t), t.runs(), len(t.Runs)})
	}
	for _, r := range m.Requirements {
		if title := group(r.ID); len(data.Groups) == 0 || data.Groups[len(data.Groups)-1].Title != title {
			data.Groups = append(data.Groups, matrixGroup{Title: title})
		}
		row := matrixRow{Href: href(indexPage, requirementPage(r.ID)), Level: level(r), Promise: r.Promise, ID: r.ID}
		for _, t := range m.Targets {
			c := m.Cell(t, r.ID)
			row.Cells = append(row.Cells, matrixCell{
				Class: class(c.Verdict), Href: row.Href + "#" + anchorOf(t), Title: fmt.Sprintf("%s on %s: %s", r.ID, t.Title, c.inWords()),
				Word: c.Word(), Share: strings.TrimSpace(c.Share() + " " + c.bound()), Seen: c.Cases,
			})
		}
		last := &data.Groups[len(data.Groups)-1]
		last.Rows = append(last.Rows, row)
	}
	for _, d := range m.Documents {
		data.Documents = append(data.Documents, link{Href: href(indexPage, documentPage(d)), Text: fmt.Sprintf("%s (%s)", d.Title, d.Path)})
	}
	return s.page(indexPage, "Reports", "index", data)
}

// runs is how many runs stand behind a target.
func (t *Target) runs() int {
	if t.Campaign != nil {
		return t.Campaign.Runs.Planned - t.Campaign.Runs.Unplayed - t.Campaign.Runs.Refused
	}
	n := 0
	for _, s := range t.Results.Scenarios {
		n += s.Runs
	}
	return n
}

// inWords is the cell in a sentence.
func (c Cell) inWords() string {
	if c.Verdict == "" {
		return "not judged: " + strings.Join(c.Why, "; ")
	}
	text := fmt.Sprintf("%s in %d of %d runs, %d cases that tested it", c.Verdict, c.Said, c.Runs, c.Cases)
	if c.AtMost != "" {
		text += "; it may fail in at most " + c.AtMost + " of runs"
	}
	return text
}
