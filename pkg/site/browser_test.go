package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/evenkeel/evenkeel/pkg/report/browsertest"
)

// wide is the width of a screen, in CSS pixels.
const wide = 1280

// pagesInBrowser are one of each kind, by the heading that it has.
var pagesInBrowser = map[string]string{
	indexPage: "Evenkeel reports", "requirements/CLE-23.html": "CLE-23: ", "targets/local-kubernetes-v1.36.3.html": "Kubernetes v1.36.3 → v1.37.1, local",
	"kubernetes/local-v1.36.3-odd-lease.html": "kubernetes/local-v1.36.3-odd-lease", runsPage: "Bundles", figuresPage: "Figures", "FINDINGS.html": "What Evenkeel found",
	"benchmarks/election.html": "Coordinated leader election",
}

// A user can read the published site on a phone and on a screen, in light and dark colors, and
// come from the matrix to a line of a timeline by keyboard. No page asks the network for anything.
func TestInBrowser(t *testing.T) {
	_, out := published(t)
	out, err := filepath.Abs(out)
	if err != nil {
		t.Fatal(err)
	}
	b := browsertest.Browse(t)
	for page, heading := range pagesInBrowser {
		b.Do(t, chromedp.Navigate("file://"+filepath.Join(out, filepath.FromSlash(page))))
		if got := browsertest.Ask(t, b, chromedp.Text("h1")); !strings.HasPrefix(got, heading) {
			t.Errorf("the heading of %s is %q", page, got)
		}
		for _, width := range []int64{browsertest.PhoneWidth, wide} {
			b.Do(t, chromedp.EmulateViewport(width, browsertest.PhoneHeight), chromedp.Sleep(browsertest.Settle))
			if got := browsertest.Ask(t, b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); got > width {
				t.Errorf("%s is %d wide on a screen of %d", page, got, width)
			}
		}
		const ground = `getComputedStyle(document.body).backgroundColor + getComputedStyle(document.body).color`
		b.Do(t, browsertest.Colors("light"))
		light := browsertest.Ask(t, b, chromedp.Evaluate[string](ground))
		b.Do(t, browsertest.Colors("dark"))
		if dark := browsertest.Ask(t, b, chromedp.Evaluate[string](ground)); light == dark {
			t.Errorf("in the dark %s is %s too", page, dark)
		}
	}
	byKeyboard(t, b, out)
	b.Quiet(t)
}

// byKeyboard goes from the matrix to a line of a history.
func byKeyboard(t *testing.T, b *browsertest.Browser, out string) {
	t.Helper()
	b.Do(t, chromedp.Navigate("file://"+filepath.Join(out, indexPage)), chromedp.KeyEvent(kb.Tab))
	focused := func() string {
		return browsertest.Ask(t, b, chromedp.Evaluate[string](`document.activeElement.getAttribute("href") || document.activeElement.className`))
	}
	if got := focused(); got != "#content" {
		t.Errorf("the first Tab goes to %q, want the link to the content", got)
	}
	follow := func(to string) {
		t.Helper()
		for range 3000 {
			if strings.HasSuffix(focused(), to) {
				b.Do(t, chromedp.KeyEvent(kb.Enter), chromedp.Sleep(browsertest.Settle))
				return
			}
			b.Do(t, chromedp.KeyEvent(kb.Tab))
		}
		t.Fatalf("Tab never comes to %s", to)
	}
	follow("requirements/SV-01.html#on-local-kubernetes-v1.36.3")
	if place := browsertest.Ask(t, b, chromedp.Location()); !strings.HasSuffix(place, "/requirements/SV-01.html#on-local-kubernetes-v1.36.3") {
		t.Errorf("the cell leads to %s", place)
	}
	follow("local-v1.36.3-odd-lease.timeline.html#event=" + firstEvent(t, b))
	b.Do(t, chromedp.WaitReady(`html[data-drawn="yes"]`))
	if told := browsertest.Ask(t, b, chromedp.Text("#told")); !strings.Contains(told, "event ") {
		t.Errorf("the timeline tells %q", told)
	}
}

// firstEvent is the first event of that bundle's history that the page leads to.
func firstEvent(t *testing.T, b *browsertest.Browser) string {
	t.Helper()
	at := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector("a.event[href*='local-v1.36.3-odd-lease']").getAttribute("href")`))
	_, event, _ := strings.Cut(at, "#event=")
	return event
}

// TestPictures takes pictures of a page of each kind into the folder that EVENKEEL_PICTURES
// names, for a reviewer to look at.
func TestPictures(t *testing.T) {
	dir := os.Getenv("EVENKEEL_PICTURES")
	if dir == "" {
		t.Skip("EVENKEEL_PICTURES names no folder to put pictures into")
	}
	_, out := published(t)
	b := browsertest.Browse(t)
	for page := range pagesInBrowser {
		for _, scheme := range []string{"light", "dark"} {
			for name, width := range map[string]int64{"phone": browsertest.PhoneWidth, "wide": wide} {
				b.Do(t, chromedp.EmulateViewport(width, browsertest.PhoneHeight), browsertest.Colors(scheme),
					chromedp.Navigate("file://"+filepath.Join(out, filepath.FromSlash(page))))
				file := strings.NewReplacer("/", "-", ".html", "").Replace(page) + "-" + scheme + "-" + name + ".png"
				if err := os.WriteFile(filepath.Join(dir, file), browsertest.Ask(t, b, chromedp.CaptureScreenshot()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
