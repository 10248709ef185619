package site

import (
	"html/template"
	"path"
	"strconv"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// document writes the page of a Markdown file.
func (s *maker) document(d *Document) error {
	body, err := d.html(s)
	if err != nil {
		return err
	}
	return s.page(documentPage(d), d.Title, "document", body)
}

// mention implements surroundings.
func (s *maker) mention(d *Document, id string) string {
	if !s.known(requirement.ID(id)) {
		return ""
	}
	return href(documentPage(d), requirementPage(requirement.ID(id)))
}

// eventOf implements surroundings.
func (s *maker) eventOf(d *Document, target, number string) string {
	file, _, _ := d.resolve(target)
	seq, err := strconv.ParseInt(number, 10, 64)
	r := s.model.runAt(path.Dir(file))
	if err != nil || r == nil {
		return ""
	}
	return event(documentPage(d), r, seq)
}

// chartBefore implements surroundings.
func (s *maker) chartBefore(t Table) (template.HTML, error) {
	chart := chartOf(t)
	if chart == nil {
		return "", nil
	}
	return s.part("chart", chart)
}

type (
	figures struct {
		Anchor, Href, Title string
		Charts              []figure
	}
	figure struct {
		Under string
		Chart *Chart
	}
)

// charts are those of all documents, and that of the recorded skew.
func (s *maker) charts() []figures {
	var out []figures
	for _, d := range s.model.Documents {
		f := figures{Anchor: anchor(d.Title), Href: href(figuresPage, documentPage(d)), Title: d.Title}
		under := ""
		for _, t := range d.Tables {
			chart := chartOf(t)
			if chart == nil {
				continue
			}
			told := figure{Chart: chart}
			if t.Under != under && t.Under != d.Title {
				told.Under = t.Under
			}
			under = t.Under
			f.Charts = append(f.Charts, told)
		}
		if len(f.Charts) > 0 {
			out = append(out, f)
		}
	}
	if s.model.Skew != nil {
		out = append(out, figures{
			Anchor: "recorded-skew", Href: href(figuresPage, SkewFile), Title: "Recorded version skew",
			Charts: []figure{{Chart: s.model.Skew.chart()}},
		})
	}
	return out
}

// figures writes the page with all charts.
func (s *maker) figures() error {
	all := s.charts()
	if len(all) == 0 {
		return nil
	}
	return s.page(figuresPage, "Figures", "figures", all)
}
