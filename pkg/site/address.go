package site

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/conformance"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// The pages that there is one of. Paths of pages are below the site, with slashes.
const (
	indexPage   = "index.html"
	figuresPage = "figures.html"
	runsPage    = "bundles.html"
)

func requirementPage(id requirement.ID) string { return "requirements/" + string(id) + ".html" }

func targetPage(t *Target) string { return "targets/" + t.Name + ".html" }

func runPage(r *Run) string { return r.stem() + ".html" }

func timelinePage(r *Run) string { return r.stem() + ".timeline.html" }

// stem is where the pages of a run begin. A folder that is a bundle itself has no name below
// itself. The folder of a campaign's bundles stays as it is, so that the campaign can be verified
// on the site: there the pages lie beside it.
func (r *Run) stem() string {
	dir, name := path.Split(r.Path)
	switch dir = path.Clean(dir); {
	case r.Path == ".":
		return "run"
	case path.Base(dir) == conformance.RunsDir:
		return path.Join(path.Dir(dir), "pages", name)
	}
	return r.Path
}

func documentPage(d *Document) string {
	page := strings.TrimSuffix(d.Path, ".md") + ".html"
	if page == indexPage || page == figuresPage || page == runsPage {
		return d.Path + ".html"
	}
	return page
}

// anchorOf is the section of a target on the page of a requirement.
func anchorOf(t *Target) string { return "on-" + t.Name }

// href is the address of a page, or of a file, as a page of the site has it.
func href(from, to string) string {
	up := strings.Repeat("../", strings.Count(from, "/"))
	if up == "" {
		up = "./" // a colon in the name is no scheme
	}
	segments := strings.Split(to, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return up + strings.Join(segments, "/")
}

// event is the address of an event of a run's history.
func event(from string, r *Run, seq int64) string {
	return href(from, timelinePage(r)) + fmt.Sprintf("#event=%d", seq)
}

// linkOf gives the address of what a link of a document leads to; "" where the site has none.
func (s *maker) linkOf(d *Document, target string) string {
	file, fragment, external := d.resolve(target)
	if external {
		return target
	}
	page := s.pageFor(file)
	if page == "" {
		return ""
	}
	to := href(documentPage(d), page)
	if fragment != "" {
		to += "#" + fragment
	}
	return to
}

// pageFor is the page about a file or folder of the reports, or the copy of the file; "" if
// there is none.
func (s *maker) pageFor(file string) string {
	if file == TableFile {
		return indexPage
	}
	for _, d := range s.model.Documents {
		if d.Path == file {
			return documentPage(d)
		}
	}
	if path.Base(file) == bundle.ReportFile {
		file = path.Dir(file)
	}
	if r := s.model.runAt(file); r != nil {
		return runPage(r)
	}
	for _, t := range s.model.Targets {
		if t.Campaign != nil && (file == t.CampaignDir || file == path.Join(t.CampaignDir, conformance.ReportFile)) {
			return targetPage(t)
		}
	}
	if s.copied(file) {
		return file
	}
	return ""
}
