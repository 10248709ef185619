package site

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/evenkeel/evenkeel/pkg/regular"
	"github.com/evenkeel/evenkeel/pkg/report/style"
	"github.com/evenkeel/evenkeel/pkg/report/timeline"
)

// Options of a site.
type Options struct {
	// Out is the folder of the site. It must be missing, empty or an earlier site.
	Out string
	// WithoutBundles leaves the files of bundles out, so that the site is small and nothing
	// on it can be judged again.
	WithoutBundles bool
}

// markFile says that a folder is a site, which another may take the place of.
const markFile = ".evenkeel-site"

// maker makes the pages of a model.
type maker struct {
	model   *Model
	options Options
	sheet   string
	// folder that the site is made in, and pages are those that are written.
	folder string
	pages  map[string]bool
}

// Make writes the site of a model, and returns how many pages it has. A site that is there
// already is replaced when the new one is whole.
func Make(ctx context.Context, m *Model, o Options) (pages int, err error) {
	if err := replaceable(m.Dir, o.Out); err != nil {
		return 0, err
	}
	out := filepath.Clean(o.Out)
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return 0, fmt.Errorf("make the folder of the site: %w", err)
	}
	temporary, err := os.MkdirTemp(filepath.Dir(out), ".site-")
	if err != nil {
		return 0, fmt.Errorf("make the folder of the site: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	folder := filepath.Join(temporary, "site")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return 0, fmt.Errorf("make the folder of the site: %w", err)
	}
	s := &maker{model: m, options: o, sheet: style.Sheet(siteCSS), folder: folder, pages: map[string]bool{}}
	if err := s.all(ctx); err != nil {
		return 0, err
	}
	if err := os.WriteFile(filepath.Join(folder, markFile), nil, 0o644); err != nil {
		return 0, fmt.Errorf("write the site: %w", err)
	}
	if err := errors.Join(os.RemoveAll(out), os.Rename(folder, out)); err != nil {
		return 0, fmt.Errorf("put the site in its place: %w", err)
	}
	return len(s.pages), nil
}

// replaceable is whether a site may be written there.
func replaceable(dir, out string) error {
	if out == "" {
		return errors.New("--out is empty: name the folder of the site")
	}
	from, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("find %s: %w", dir, err)
	}
	to, err := filepath.Abs(out)
	if err != nil {
		return fmt.Errorf("find %s: %w", out, err)
	}
	if within(from, to) || within(to, from) {
		return fmt.Errorf("--out %s and the reports %s are one in the other: name a folder apart from them", out, dir)
	}
	entries, err := os.ReadDir(to)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("--out cannot be used: %w", err)
	}
	if _, err := os.Stat(filepath.Join(to, markFile)); err != nil {
		return fmt.Errorf("--out %s holds something else than a site: name a folder that is missing or empty", out)
	}
	return nil
}

// within is whether a folder is the other or below it.
func within(folder, other string) bool {
	rel, err := filepath.Rel(folder, other)
	return err == nil && filepath.IsLocal(rel)
}

// all writes all pages and copies all files.
func (s *maker) all(ctx context.Context) error {
	steps := []func() error{s.index, s.runs, s.figures}
	for _, r := range s.model.Requirements {
		steps = append(steps, func() error { return s.requirement(r) })
	}
	for _, t := range s.model.Targets {
		steps = append(steps, func() error { return s.target(t) })
	}
	for _, d := range s.model.Documents {
		steps = append(steps, func() error { return s.document(d) })
	}
	for _, r := range s.model.Runs {
		steps = append(steps, func() error { return s.run(r) }, func() error { return s.timeline(ctx, r) })
	}
	for file := range s.model.files {
		if s.copied(file) {
			steps = append(steps, func() error { return s.copy(file) })
		}
	}
	for _, step := range steps {
		if err := errors.Join(ctx.Err(), step()); err != nil {
			return err
		}
	}
	return nil
}

// timeline writes the page of a run's course.
func (s *maker) timeline(ctx context.Context, r *Run) error {
	page, err := timeline.Bundle(ctx, s.model.on(r.Path), r.Report)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Path, err)
	}
	return s.write(timelinePage(r), page)
}

// copied is whether a file of the reports is on the site as it is.
func (s *maker) copied(file string) bool {
	if !s.model.files[file] || path.Ext(file) == ".md" {
		return false
	}
	return !s.options.WithoutBundles || s.model.bundleOf(file) == nil
}

// bundleOf is the bundle that a file is part of; nil if it is part of none.
func (m *Model) bundleOf(file string) *Run {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if r := m.runAt(dir); r != nil {
			return r
		}
		if dir == "." || dir == "/" {
			return nil
		}
	}
}

func (s *maker) copy(file string) (err error) {
	in, err := regular.Open(s.model.on(file))
	if err != nil {
		return fmt.Errorf("copy %s: %w", file, err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	to, err := s.place(file)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("copy %s: a page of the site has that name too: %w", file, err)
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("copy %s: %w", file, err)
	}
	return nil
}

// place is where a page or file goes, in a folder that is there.
func (s *maker) place(file string) (string, error) {
	to := filepath.Join(s.folder, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return "", fmt.Errorf("write the site: %w", err)
	}
	return to, nil
}

// write writes a page.
func (s *maker) write(page string, content []byte) error {
	if s.pages[page] {
		return fmt.Errorf("two pages of the site would be %s: rename a document or a bundle", page)
	}
	s.pages[page] = true
	to, err := s.place(page)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, content, 0o644); err != nil {
		return fmt.Errorf("write the site: %w", err)
	}
	return nil
}

var (
	//go:embed site.css
	siteCSS string
	//go:embed pages/*.html
	pageFiles embed.FS

	templates = template.Must(template.New("").Funcs(template.FuncMap{
		// px is a position in a chart.
		"px": func(at float64) string { return strconv.FormatFloat(at, 'f', 1, 64) },
		// columns is how many columns the matrix has, with that of the requirements.
		"columns": func(targets int) int { return targets + 1 },
	}).ParseFS(pageFiles, "pages/*.html"))
)

// link is a link with its text.
type link struct {
	Href, Text string
	Current    bool
}

// page renders the named template in the frame that all pages have, and writes it.
func (s *maker) page(at, title, name string, data any) error {
	body, err := s.part(name, data)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	err = templates.ExecuteTemplate(&out, "layout.html", struct {
		Title, Policy string
		Style         template.CSS
		Nav           []link
		Body          template.HTML
	}{
		Title: title + " – Evenkeel", Policy: style.Policy(s.sheet, ""),
		//nolint:gosec // G203: the style sheet is of this program.
		Style: template.CSS(s.sheet), Nav: s.nav(at), Body: body,
	})
	if err != nil {
		return fmt.Errorf("render %s: %w", at, err)
	}
	return s.write(at, out.Bytes())
}

// part renders a template.
func (s *maker) part(name string, data any) (template.HTML, error) {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, data); err != nil {
		return "", fmt.Errorf("render a page: %w", err)
	}
	//nolint:gosec // G203: html/template has escaped it.
	return template.HTML(out.String()), nil
}

// nav are the pages that each page leads to.
func (s *maker) nav(at string) []link {
	links := []link{{Text: "Matrix", Href: indexPage}}
	if i := slices.IndexFunc(s.model.Documents, func(d *Document) bool { return d.Path == FindingsFile }); i >= 0 {
		links = append(links, link{Text: "Findings", Href: documentPage(s.model.Documents[i])})
	}
	if len(s.charts()) > 0 {
		links = append(links, link{Text: "Figures", Href: figuresPage})
	}
	if len(s.model.Runs) > 0 {
		links = append(links, link{Text: "Bundles", Href: runsPage})
	}
	for i := range links {
		links[i].Current = links[i].Href == at
		links[i].Href = href(at, links[i].Href)
	}
	return links
}
