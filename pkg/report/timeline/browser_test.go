package timeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/evenkeel/evenkeel/pkg/report/browsertest"
)

// openWithin is how long a page of 10^5 events may take to be drawn. A machine that
// has nothing else to do needs less than a fifth of it, which the test prints.
const openWithin = 10 * time.Second

// wideWidth is the width of a window on a laptop, in CSS pixels.
const wideWidth = 1400

// A browser draws the page of a long run in time, from the file alone. A user can read it
// by keyboard, on a phone and in the dark color scheme.
func TestInBrowser(t *testing.T) {
	b := browsertest.Browse(t)
	file := filepath.Join(t.TempDir(), "timeline.html")
	if err := os.WriteFile(file, page(t, write(t, longTale(100_000))), 0o600); err != nil {
		t.Fatal(err)
	}

	// The best of three, since other load on the machine is not a property of the page.
	best := time.Hour
	for range 3 {
		open(t, b, file)
		took := browsertest.Ask(t, b, chromedp.Evaluate[float64](`performance.getEntriesByName("drawn")[0].startTime`))
		best = min(best, time.Duration(took*float64(time.Millisecond)))
	}
	t.Logf("drawn %s after the page was asked for", best.Round(time.Millisecond))
	if best > openWithin {
		t.Errorf("it took %s, more than %s", best, openWithin)
	}

	b.Do(t, chromedp.KeyEvent("n"), chromedp.Sleep(browsertest.Settle))
	told, text, place := browsertest.Ask(t, b, chromedp.Text("#told")), browsertest.Ask(t, b, chromedp.Text("#text")), browsertest.Ask(t, b, chromedp.Location())
	if !strings.Contains(told, "event 21,") || !strings.Contains(text, `"seq":21,`) || !strings.HasSuffix(place, "#event=21") {
		t.Errorf("n goes to %s and tells %q of\n%s", place, told, text)
	}
	if focused := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.activeElement.getAttribute("aria-label")`)); focused != "Findings, SV-06" {
		t.Errorf("the focus is on %q", focused)
	}
	b.Do(t, chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowRight))
	first := browsertest.Ask(t, b, chromedp.Text("#told"))
	b.Do(t, chromedp.KeyEvent(kb.ArrowRight))
	second := browsertest.Ask(t, b, chromedp.Text("#told"))
	if first == second || !strings.Contains(first, "The run, steps") || !strings.Contains(second, "The run, steps") {
		t.Errorf("the arrow keys tell %q and then %q", first, second)
	}

	b.Do(t, chromedp.EmulateViewport(browsertest.PhoneWidth, browsertest.PhoneHeight), chromedp.Sleep(browsertest.Settle))
	wide := browsertest.Ask(t, b, chromedp.Evaluate[int](`document.documentElement.scrollWidth`))
	lanes := browsertest.Ask(t, b, chromedp.Evaluate[int](`document.querySelectorAll(".lane").length`))
	if wide > browsertest.PhoneWidth || lanes < 10 {
		t.Errorf("on a phone the page is %d wide, with %d lanes", wide, lanes)
	}
	open(t, b, file)
	b.Do(t, chromedp.KeyEvent("n"), chromedp.Sleep(browsertest.Settle))
	const covered = `document.getElementById("detail").getBoundingClientRect().height`
	if high := browsertest.Ask(t, b, chromedp.Evaluate[float64](covered)); high == 0 || high > browsertest.PhoneHeight/6 {
		t.Errorf("on a phone the event covers %v of %d", high, browsertest.PhoneHeight)
	}
	b.Do(t, chromedp.Click("#close"), chromedp.Sleep(browsertest.Settle))
	if high := browsertest.Ask(t, b, chromedp.Evaluate[float64](covered)); high != 0 {
		t.Errorf("the event was closed, and covers %v", high)
	}
	const ground = `getComputedStyle(document.body).backgroundColor`
	b.Do(t, browsertest.Colors("light"))
	light := browsertest.Ask(t, b, chromedp.Evaluate[string](ground))
	b.Do(t, browsertest.Colors("dark"))
	if dark := browsertest.Ask(t, b, chromedp.Evaluate[string](ground)); light == dark {
		t.Errorf("in the dark the page is %s too", dark)
	}
	b.Quiet(t)
}

// TestPictures takes several pictures of each page in the folder that EVENKEEL_PICTURES
// names, for a reviewer to look at.
func TestPictures(t *testing.T) {
	dir := os.Getenv("EVENKEEL_PICTURES")
	if dir == "" {
		t.Skip("EVENKEEL_PICTURES names no folder with pages to take pictures of")
	}
	b := browsertest.Browse(t)
	pages, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("there are no pages in %s: %v", dir, err)
	}
	for _, file := range pages {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{wideWidth, browsertest.PhoneWidth} {
				b.Do(t, chromedp.EmulateViewport(width, 1100), browsertest.Colors(scheme))
				open(t, b, file)
				name := strings.TrimSuffix(file, ".html") + fmt.Sprintf("-%s-%d", scheme, width)
				save(t, name+".png", browsertest.Ask(t, b, chromedp.FullScreenshot(100)))
				browsertest.Ask(t, b, chromedp.Evaluate[bool](`document.getElementById("chart").scrollIntoView(), true`))
				b.Do(t, chromedp.Sleep(browsertest.Settle))
				save(t, name+"-chart.png", browsertest.Ask(t, b, chromedp.CaptureScreenshot()))
				b.Do(t, chromedp.KeyEvent("n"), chromedp.Sleep(browsertest.Settle))
				save(t, name+"-n.png", browsertest.Ask(t, b, chromedp.CaptureScreenshot()))
			}
		}
	}
	b.Quiet(t)
}

// open opens a page anew and waits until its chart is drawn.
func open(t *testing.T, b *browsertest.Browser, file string) {
	t.Helper()
	b.Do(t, chromedp.Navigate("about:blank"), chromedp.Navigate("file://"+file), chromedp.WaitReady(`html[data-drawn="yes"]`))
}

func save(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
