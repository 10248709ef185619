package site

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/evenkeel/evenkeel/pkg/attest"
	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/conformance"
	"github.com/evenkeel/evenkeel/pkg/report/results"
)

// published makes the site of the reports of this repository.
func published(t *testing.T) (m *Model, out string) {
	t.Helper()
	return made(t, filepath.Join("..", "..", "reports"), Options{})
}

func made(t *testing.T, dir string, o Options) (m *Model, out string) {
	t.Helper()
	m = read(t, dir)
	o.Out = filepath.Join(t.TempDir(), "site")
	if _, err := Make(t.Context(), m, o); err != nil {
		t.Fatal(err)
	}
	return m, o.Out
}

// files are all of a site, by their paths with slashes.
func files(t *testing.T, out string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(out), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		all[name], err = os.ReadFile(filepath.Join(out, filepath.FromSlash(name)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// parsed is what a page has: where it leads to, what may be led to, and which elements.
type parsed struct {
	links    []string
	ids      map[string]bool
	elements map[string]int
	loads    []string
}

func parse(t *testing.T, content []byte) parsed {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	p := parsed{ids: map[string]bool{}, elements: map[string]int{}}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		p.elements[n.Data]++
		for _, a := range n.Attr {
			switch {
			case a.Key == "id":
				p.ids[a.Val] = true
			case a.Key == "href" && n.Data == "a":
				p.links = append(p.links, a.Val)
			case a.Key == "href" && a.Val != "data:,", a.Key == "src", a.Key == "srcset", a.Key == "action", a.Key == "data", a.Key == "style", strings.HasPrefix(a.Key, "on"):
				p.loads = append(p.loads, n.Data+" "+a.Key+"="+a.Val)
			}
		}
	}
	return p
}

// pagesOf parses all pages but timelines, which have tests of their own.
func pagesOf(t *testing.T, all map[string][]byte) map[string]parsed {
	t.Helper()
	pages := map[string]parsed{}
	for name, content := range all {
		if path.Ext(name) == ".html" && !strings.HasSuffix(name, ".timeline.html") {
			pages[name] = parse(t, content)
		}
	}
	return pages
}

// unresolved are the links that lead nowhere.
func unresolved(pages map[string]parsed, all map[string][]byte) []string {
	var out []string
	for name, page := range pages {
		for _, link := range page.links {
			to, err := url.Parse(link)
			if err != nil {
				out = append(out, fmt.Sprintf("%s: %q: %v", name, link, err))
				continue
			}
			if to.Scheme == "https" || to.Scheme == "http" {
				continue
			}
			target := path.Join(path.Dir(name), to.Path)
			if to.Path == "" {
				target = name
			}
			_, there := all[target]
			fragment := to.Fragment == "" || pages[target].ids[to.Fragment] || strings.HasSuffix(target, ".timeline.html") && strings.HasPrefix(to.Fragment, "event=")
			if !there || !fragment {
				out = append(out, fmt.Sprintf("%s leads to %q, which is not there", name, link))
			}
		}
	}
	slices.Sort(out)
	return out
}

// Every link of the published site leads somewhere, no page loads anything, and each can be
// read without JavaScript.
func TestMake_LinksOfThePublishedReportsResolve(t *testing.T) {
	m, out := published(t)
	all := files(t, out)
	pages := pagesOf(t, all)
	for _, problem := range unresolved(pages, all) {
		t.Error(problem)
	}
	links := 0
	for name, page := range pages {
		links += len(page.links)
		for _, load := range page.loads {
			t.Errorf("%s loads %s", name, load)
		}
		if page.elements["script"] > 0 || page.elements["h1"] != 1 || page.elements["main"] != 1 {
			t.Errorf("%s: %d scripts, %d headings of the first level, %d main elements", name, page.elements["script"], page.elements["h1"], page.elements["main"])
		}
		for _, sheet := range []string{"url(", "@import", "@font-face"} {
			if bytes.Contains(between(all[name], "<style>", "</style>"), []byte(sheet)) {
				t.Errorf("the style of %s has %s", name, sheet)
			}
		}
	}
	if len(m.Runs) < 20 || len(m.Findings) < 20 || links < 5000 {
		t.Errorf("%d bundles, %d findings and %d links: the site is not that of the reports", len(m.Runs), len(m.Findings), links)
	}
	// Each cell leads to its section, and each bundle has its page and its timeline.
	for _, target := range m.Targets {
		for _, r := range m.Requirements {
			if to := "./" + requirementPage(r.ID) + "#" + anchorOf(target); !slices.Contains(pages[indexPage].links, to) {
				t.Errorf("the matrix has no link to %s", to)
			}
		}
	}
	for _, r := range m.Runs {
		if all[runPage(r)] == nil || all[timelinePage(r)] == nil {
			t.Errorf("%s has no page or no timeline", r.Path)
		}
	}
	// A bundle can be judged again from the site.
	if problems, _, err := bundle.Audit(t.Context(), filepath.Join(out, "reference", "local")); err != nil || len(problems) > 0 {
		t.Errorf("a bundle on the site: %v, %v", problems, err)
	}
}

func between(text []byte, from, to string) []byte {
	_, rest, _ := bytes.Cut(text, []byte(from))
	found, _, _ := bytes.Cut(rest, []byte(to))
	return found
}

// small is a folder with a bundle that has a history, and texts of a stranger everywhere.
func small(t *testing.T) string {
	t.Helper()
	const nasty = `<script>alert(1)</script><img src=x onerror=alert(1)>`
	res := result("SV-01", check.Fail, 2)
	res.Violations[0].Message = nasty
	rep := reportOf(nasty, nasty, nasty, res)
	theirs := campaign()
	theirs.Requirements[1].Breaches[0].Message = nasty
	theirs.LeftOut[0].Reason = nasty
	theirs.Lines[0].Tries[0].Bundle = rep.Digests.Evidence()
	history, err := os.ReadFile(filepath.Join("..", "..", "reports", "reference", "kind", bundle.HistoryFile+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	return folder(t, map[string]any{
		"odd #1?/report.yaml": rep, "odd #1?/SHA256SUMS": "", "odd #1?/" + bundle.HistoryFile + ".gz": string(history),
		"theirs/conformance.yaml": theirs,
		"results/ours.yaml":       results.Target{Target: nasty, Topology: nasty, Scenarios: []results.Scenario{scenarioOf(nasty, reportOf("reference", "1.2", nasty, result("SV-01", check.Fail, 1)))}},
		"FINDINGS.md": "# Found\n\n## Group\n\n### 1. A `thing`, here: it & that\n\n- **Requirements:** SV-01, SV-06\n- **Versions:** v1 " + nasty + "\n\n" + nasty + "\n\n" +
			"[in the web](https://example.org/x) [a script](javascript:alert(1)) [outside](../secret.txt) [no file](nothing.txt) ![picture](x.png)\n\n" +
			"[the run](odd%20%231%3F/report.yaml) [below](#1-a-thing-here-it--that) [the table](results.md) [theirs](theirs/conformance.yaml)\n\n" +
			"| bundle | requirement (events that show it first) |\n|---|---|\n| [odd](odd%20%231%3F/report.yaml) | SV-01 (3, 4) |\n",
		".secret": "x",
	})
}

func TestMake_EscapesWhatStrangersSay(t *testing.T) {
	_, out := made(t, small(t), Options{})
	all := files(t, out)
	pages := pagesOf(t, all)
	for _, problem := range unresolved(pages, all) {
		t.Error(problem)
	}
	for name, page := range pages {
		if page.elements["script"]+page.elements["img"] > 0 || len(page.loads) > 0 {
			t.Errorf("%s has an element of a stranger's: %v, %v", name, page.elements, page.loads)
		}
		for _, link := range page.links {
			if strings.Contains(link, "javascript") || strings.Contains(link, "secret") || strings.Contains(link, "nothing") {
				t.Errorf("%s leads to %s", name, link)
			}
		}
	}
	found := pages["FINDINGS.html"].links
	for _, want := range []string{
		"https://example.org/x", "./odd%20%231%3F.html", "#1-a-thing-here-it--that", "./index.html", "./targets/theirs.html",
		"./requirements/SV-01.html", "./requirements/SV-06.html", "./odd%20%231%3F.timeline.html#event=3", "./odd%20%231%3F.timeline.html#event=4",
	} {
		if !slices.ContainsFunc(found, func(link string) bool { return link == want || link == "./FINDINGS.html"+want }) {
			t.Errorf("the findings do not lead to %s: %q", want, found)
		}
	}
	if !slices.Contains(pages["requirements/SV-06.html"].links, "../FINDINGS.html#1-a-thing-here-it--that") {
		t.Errorf("SV-06 does not lead to its finding: %q", pages["requirements/SV-06.html"].links)
	}
	if !slices.Contains(pages["targets/theirs.html"].links, "../odd%20%231%3F.html") {
		t.Errorf("the campaign does not lead to its bundle: %q", pages["targets/theirs.html"].links)
	}
	if all[".secret"] != nil {
		t.Error("a hidden file is on the site")
	}
}

// The page of a campaign leads to its files, with which it can be verified. It names the key of the
// signature without saying that it is right, and so does the page of a bundle.
func TestMake_LinksTheFilesOfACampaign(t *testing.T) {
	dir := small(t)
	for _, name := range []string{conformance.PlanFile, conformance.JournalFile, "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, "theirs", name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	key := filepath.Join(t.TempDir(), "key")
	id, err := attest.GenerateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, signed := range []string{"theirs", "odd #1?"} {
		if _, err := attest.Sign(t.Context(), filepath.Join(dir, signed), key, attest.NewCampaignStatement(nil, attest.Predicate{})); err != nil {
			t.Fatal(err)
		}
	}
	_, out := made(t, dir, Options{})
	all := files(t, out)
	links := parse(t, all["targets/theirs.html"]).links
	for _, name := range conformance.Files {
		if want := "../theirs/" + name; slices.Contains(links, want) != (name != conformance.RunsDir) {
			t.Errorf("%s: links are %q", name, links)
		}
	}
	if slices.Contains(links, "../theirs/notes.txt") {
		t.Error("what is no part of the campaign is linked as one")
	}
	for _, page := range []string{"targets/theirs.html", "odd #1?.html"} {
		if !strings.Contains(html.UnescapeString(string(all[page])), "names the key "+id+",") {
			t.Errorf("%s does not name the key %s", page, id)
		}
	}
}

// The same reports give the same bytes, and an earlier site gives way to the new one as a whole.
func TestMake_ReplacesAnEarlierSite(t *testing.T) {
	dir := small(t)
	m, out := made(t, dir, Options{})
	first := files(t, out)
	if err := os.WriteFile(filepath.Join(out, "stale.html"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(t.Context(), m, Options{Out: out}); err != nil {
		t.Fatal(err)
	}
	second := files(t, out)
	if len(second) != len(first) {
		t.Errorf("%d files, and %d before", len(second), len(first))
	}
	for name, content := range first {
		if !bytes.Equal(second[name], content) {
			t.Errorf("%s is another one", name)
		}
	}
	if _, err := Make(t.Context(), m, Options{Out: out, WithoutBundles: true}); err != nil {
		t.Fatal(err)
	}
	third := files(t, out)
	for name := range third {
		if path.Base(name) == bundle.ReportFile {
			t.Errorf("%s is there, and bundles were to be left out", name)
		}
	}
	for _, problem := range unresolved(pagesOf(t, third), third) {
		t.Error(problem)
	}
}

func TestMake_KeepsWhatIsNoSite(t *testing.T) {
	dir := folder(t, map[string]any{"README.md": "# Read me\n"})
	m := read(t, dir)
	other := filepath.Join(t.TempDir(), "other")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "precious"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ out, want string }{
		"a folder with something else": {other, "holds something else than a site"},
		"below the reports":            {filepath.Join(dir, "site"), "one in the other"},
		"above the reports":            {filepath.Dir(dir), "one in the other"},
		"nothing":                      {"", "--out is empty"},
	} {
		if _, err := Make(t.Context(), m, Options{Out: tc.out}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error = %v, want one with %q", name, err, tc.want)
		}
	}
	if _, err := os.Stat(filepath.Join(other, "precious")); err != nil {
		t.Error(err)
	}
}

// The table that is committed is the one that the model gives.
func TestMarkdown_IsThePublishedTable(t *testing.T) {
	dir := filepath.Join("..", "..", "reports")
	want := read(t, dir).Markdown()
	got, err := os.ReadFile(filepath.Join(dir, TableFile))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("reports/%s is not the table of the reports: `make reports` writes it again", TableFile)
	}
}
