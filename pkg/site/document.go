package site

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Document is a Markdown file.
type Document struct {
	// Path below the folder, with slashes.
	Path string
	// Title is its first heading, or else its path.
	Title string
	// Tables in their order.
	Tables []Table

	source []byte
}

// Table is a table of a document.
type Table struct {
	// Under is the heading above it.
	Under  string
	Header []string
	Rows   [][]string
}

// markdown reads the dialect of GitHub. Cells are aligned by attributes, since the policy of
// the pages allows no styles in elements. It renders no raw HTML, since a document may come
// from an unknown source.
var markdown = goldmark.New(goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))), goldmark.WithParserOptions(parser.WithAutoHeadingID()), withPieces())

func (m *Model) readDocuments() error {
	var files []string
	for file := range m.files {
		if path.Ext(file) == ".md" && file != TableFile {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	for _, file := range files {
		raw, err := m.readFile(file)
		if err != nil {
			return err
		}
		d := &Document{Path: file, Title: file, source: raw}
		d.scan()
		m.Documents = append(m.Documents, d)
		if file == FindingsFile {
			m.Findings = findings(string(raw))
		}
	}
	return nil
}

// parse gives the tree of a document. The anchors of headings are those of GitHub.
func (d *Document) parse() ast.Node {
	return markdown.Parser().Parse(text.NewReader(d.source), parser.WithContext(parser.NewContext(parser.WithIDs(&anchors{given: map[string]int{}}))))
}

// scan finds title and tables.
func (d *Document) scan() {
	under := ""
	for node := d.parse().FirstChild(); node != nil; node = node.NextSibling() {
		switch n := node.(type) {
		case *ast.Heading:
			under = d.textOf(n)
			if d.Title == d.Path {
				d.Title = under
			}
		case *extast.Table:
			t := Table{Under: under}
			for row := n.FirstChild(); row != nil; row = row.NextSibling() {
				var cells []string
				for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
					cells = append(cells, strings.TrimSpace(d.textOf(cell)))
				}
				if row.Kind() == extast.KindTableHeader {
					t.Header = cells
				} else {
					t.Rows = append(t.Rows, cells)
				}
			}
			d.Tables = append(d.Tables, t)
		}
	}
}

// textOf is the text below a node, without marks.
func (d *Document) textOf(node ast.Node) string {
	var b strings.Builder
	// The walker returns no error of its own.
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(d.source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// surroundings are what a document is rendered into.
type surroundings interface {
	// linkOf gives the address of a target of the document, or "" where the site has none:
	// then the text stays without a link.
	linkOf(d *Document, target string) string
	// mention gives the address of the page about a requirement, or "".
	mention(d *Document, id string) string
	// eventOf gives the address of an event of the history of the bundle that a target leads to,
	// or "".
	eventOf(d *Document, target, number string) string
	// chartBefore gives what stands before a table.
	chartBefore(t Table) (template.HTML, error)
}

// html renders the document.
func (d *Document) html(in surroundings) (template.HTML, error) {
	tree := d.parse()
	d.enrich(tree, in)
	var links []ast.Node
	var tables []ast.Node
	// The walker returns no error of its own.
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n.Kind() {
			case ast.KindLink, ast.KindImage:
				if _, ready := n.AttributeString("class"); !ready {
					links = append(links, n)
				}
			case extast.KindTable:
				tables = append(tables, n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, n := range links {
		relink(n, func(target string) string { return in.linkOf(d, target) })
	}
	topLevel := 0
	for _, n := range tables {
		before := template.HTML(`<div class="scroll" tabindex="0" role="region" aria-label="table">`)
		if n.Parent() == tree {
			drawn, err := in.chartBefore(d.Tables[topLevel])
			if err != nil {
				return "", err
			}
			before = drawn + before
			topLevel++
		}
		n.Parent().InsertBefore(n.Parent(), n, &piece{html: before})
		n.Parent().InsertAfter(n.Parent(), n, &piece{html: `</div>`})
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, d.source, tree); err != nil {
		return "", fmt.Errorf("render %s: %w", d.Path, err)
	}
	//nolint:gosec // G203: the renderer escapes text and leaves raw HTML out.
	return template.HTML(b.String()), nil
}

// relink gives a link its address on the site. Where there is none, and for a picture, which
// the page would have to load, its text takes its place.
func relink(n ast.Node, link func(string) string) {
	if l, is := n.(*ast.Link); is {
		if to := link(string(l.Destination)); to != "" {
			l.Destination = []byte(to)
			return
		}
	}
	parent := n.Parent()
	for child := n.FirstChild(); child != nil; {
		next := child.NextSibling()
		parent.InsertBefore(parent, n, child)
		child = next
	}
	parent.RemoveChild(parent, n)
}

// resolve gives the path below the folder that a link of a document leads to, with its
// fragment. External says that it is an address of the web.
func (d *Document) resolve(target string) (file, fragment string, external bool) {
	at, err := url.Parse(target)
	switch {
	case err != nil:
		return "", "", false
	case at.Scheme == "https" || at.Scheme == "http":
		return "", "", true
	case at.Scheme != "" || at.Host != "":
		return "", "", false
	case at.Path == "":
		return d.Path, at.Fragment, false
	}
	return path.Join(path.Dir(d.Path), at.Path), at.Fragment, false
}

// anchors gives headings the anchors that GitHub gives them.
type anchors struct{ given map[string]int }

// Generate implements parser.IDs.
func (a *anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	id := anchor(strings.TrimSpace(string(value)))
	n := a.given[id]
	a.given[id]++
	if n > 0 {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	return []byte(id)
}

// Put implements parser.IDs.
func (a *anchors) Put(value []byte) { a.given[string(value)]++ }
