package site

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// evidenceHeading begins the heading of a column with requirements and, in brackets, events of
// the history of the bundle in the first column. hack/docs writes such tables.
const evidenceHeading = "requirement (events"

var (
	mentions = regexp.MustCompile(`\b[A-Z]{2,4}-\d{2}\b`)
	evidence = regexp.MustCompile(`\b[A-Z]{2,4}-\d{2}\b|\b\d+\b`)
)

// enrich makes links of the requirements that the text names, and in tables of evidence of the
// events of the histories.
func (d *Document) enrich(tree ast.Node, in surroundings) {
	var texts []*ast.Text
	// The walker returns no error of its own.
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n.Kind() {
		case ast.KindLink, ast.KindHeading, ast.KindCodeSpan, ast.KindImage, ast.KindAutoLink:
			return ast.WalkSkipChildren, nil
		}
		if t, is := n.(*ast.Text); is && entering {
			texts = append(texts, t)
		}
		return ast.WalkContinue, nil
	})
	for _, t := range texts {
		bundle := d.bundleOfRow(t)
		pattern := mentions
		if bundle != "" {
			pattern = evidence
		}
		d.split(t, pattern, func(word string) string {
			if strings.Contains(word, "-") {
				return in.mention(d, word)
			}
			return in.eventOf(d, bundle, word)
		})
	}
}

// bundleOfRow is where the first cell of a row of evidence leads to; empty outside of one.
func (d *Document) bundleOfRow(t *ast.Text) string {
	row := ast.Node(t)
	for row != nil && row.Kind() != extast.KindTableRow {
		row = row.Parent()
	}
	if row == nil || row.Parent() == nil {
		return ""
	}
	heading := row.Parent().FirstChild().LastChild()
	if heading == nil || !strings.HasPrefix(d.textOf(heading), evidenceHeading) || row.FirstChild() == nil {
		return ""
	}
	if first, is := row.FirstChild().FirstChild().(*ast.Link); is {
		return string(first.Destination)
	}
	return ""
}

// split puts links in the place of the words that the pattern matches.
func (d *Document) split(t *ast.Text, pattern *regexp.Regexp, address func(word string) string) {
	parent, value, start := t.Parent(), t.Segment.Value(d.source), t.Segment.Start
	if t.Segment.Padding > 0 {
		return
	}
	from := 0
	for _, at := range pattern.FindAllIndex(value, -1) {
		to := address(string(value[at[0]:at[1]]))
		if to == "" {
			continue
		}
		if at[0] > from {
			parent.InsertBefore(parent, t, ast.NewTextSegment(text.NewSegment(start+from, start+at[0])))
		}
		link := ast.NewLink()
		link.Destination = []byte(to)
		link.SetAttributeString("class", []byte("mention"))
		link.AppendChild(link, ast.NewTextSegment(text.NewSegment(start+at[0], start+at[1])))
		parent.InsertBefore(parent, t, link)
		from = at[1]
	}
	t.Segment = text.NewSegment(start+from, t.Segment.Stop)
}
