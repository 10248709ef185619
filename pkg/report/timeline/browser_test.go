package timeline

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	// openWithin is how long a page of 10^5 events may take to be drawn. A machine that
	// has nothing else to do needs less than a fifth of it, which the test prints.
	openWithin = 10 * time.Second
	// browserPatience is how long the test waits for the browser.
	browserPatience = 2 * time.Minute
	// phoneWidth and phoneHeight are those of a phone, in CSS pixels.
	phoneWidth, phoneHeight = 390, 844
	// settle is how long a page has to react to a key.
	settle = 300 * time.Millisecond
)

// A browser draws the page of a long run in time, from the file alone. A user can read it
// by keyboard, on a phone and in the dark color scheme.
func TestInBrowser(t *testing.T) {
	b := browse(t)
	file := filepath.Join(t.TempDir(), "timeline.html")
	if err := os.WriteFile(file, page(t, write(t, longTale(100_000))), 0o600); err != nil {
		t.Fatal(err)
	}

	// The best of three, since other load on the machine is not a property of the page.
	best := time.Hour
	for range 3 {
		b.open(t, file)
		took := ask(t, b, chromedp.Evaluate[float64](`performance.getEntriesByName("drawn")[0].startTime`))
		best = min(best, time.Duration(took*float64(time.Millisecond)))
	}
	t.Logf("drawn %s after the page was asked for", best.Round(time.Millisecond))
	if best > openWithin {
		t.Errorf("it took %s, more than %s", best, openWithin)
	}

	b.do(t, chromedp.KeyEvent("n"), chromedp.Sleep(settle))
	told, text, place := ask(t, b, chromedp.Text("#told")), ask(t, b, chromedp.Text("#text")), ask(t, b, chromedp.Location())
	if !strings.Contains(told, "line 21,") || !strings.Contains(text, `"seq":21,`) || !strings.HasSuffix(place, "#line=21") {
		t.Errorf("n goes to %s and tells %q of\n%s", place, told, text)
	}
	if focused := ask(t, b, chromedp.Evaluate[string](`document.activeElement.getAttribute("aria-label")`)); focused != "Findings, SV-06" {
		t.Errorf("the focus is on %q", focused)
	}
	b.do(t, chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowRight))
	first := ask(t, b, chromedp.Text("#told"))
	b.do(t, chromedp.KeyEvent(kb.ArrowRight))
	second := ask(t, b, chromedp.Text("#told"))
	if first == second || !strings.Contains(first, "The run, steps") || !strings.Contains(second, "The run, steps") {
		t.Errorf("the arrow keys tell %q and then %q", first, second)
	}

	b.do(t, chromedp.EmulateViewport(phoneWidth, phoneHeight), chromedp.Sleep(settle))
	wide := ask(t, b, chromedp.Evaluate[int](`document.documentElement.scrollWidth`))
	lanes := ask(t, b, chromedp.Evaluate[int](`document.querySelectorAll(".lane").length`))
	if wide > phoneWidth || lanes < 10 {
		t.Errorf("on a phone the page is %d wide, with %d lanes", wide, lanes)
	}
	const ground = `getComputedStyle(document.body).backgroundColor`
	b.do(t, colors("light"))
	light := ask(t, b, chromedp.Evaluate[string](ground))
	b.do(t, colors("dark"))
	if dark := ask(t, b, chromedp.Evaluate[string](ground)); light == dark {
		t.Errorf("in the dark the page is %s too", dark)
	}
	b.quiet(t)
}

// TestPictures takes several pictures of each page in the folder that EVENKEEL_PICTURES
// names, for a reviewer to look at.
func TestPictures(t *testing.T) {
	dir := os.Getenv("EVENKEEL_PICTURES")
	if dir == "" {
		t.Skip("EVENKEEL_PICTURES names no folder with pages to take pictures of")
	}
	b := browse(t)
	pages, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("there are no pages in %s: %v", dir, err)
	}
	for _, file := range pages {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{1280, phoneWidth} {
				b.do(t, chromedp.EmulateViewport(width, 1100), colors(scheme))
				b.open(t, file)
				name := strings.TrimSuffix(file, ".html") + fmt.Sprintf("-%s-%d", scheme, width)
				save(t, name+".png", ask(t, b, chromedp.FullScreenshot(100)))
				ask(t, b, chromedp.Evaluate[bool](`document.getElementById("chart").scrollIntoView(), true`))
				b.do(t, chromedp.Sleep(settle))
				save(t, name+"-chart.png", ask(t, b, chromedp.CaptureScreenshot()))
				b.do(t, chromedp.KeyEvent("n"), chromedp.Sleep(settle))
				save(t, name+"-n.png", ask(t, b, chromedp.CaptureScreenshot()))
			}
		}
	}
	b.quiet(t)
}

// browser is a headless one, and what it complained of.
type browser struct {
	ctx context.Context

	mu         sync.Mutex
	complaints []string
}

func browse(t *testing.T) *browser {
	t.Helper()
	found := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell", "chrome-headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			found = path
			break
		}
	}
	if found == "" {
		t.Skip("there is no Chromium on this machine to open the page in (on Debian: apt-get install chromium)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(found), chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(time.Minute))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which Chromium demands of root
	}
	ctx, cancel := context.WithTimeout(t.Context(), browserPatience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	b := &browser{}
	b.ctx, cancel = chromedp.NewContext(ctx, chromedp.WithListener(func(ev any) {
		switch e := ev.(type) {
		case *network.EventRequestWillBeSent:
			if url := e.Request.URL; !strings.HasPrefix(url, "file:") && !strings.HasPrefix(url, "data:") {
				b.complain("it asked for " + url)
			}
		case *runtime.EventExceptionThrown:
			b.complain(fmt.Sprintf("%+v", e.ExceptionDetails))
		case *log.EventEntryAdded:
			b.complain(e.Entry.Text)
		}
	}))
	t.Cleanup(cancel)
	b.do(t, command(network.Enable, network.EnableParams{}), command(log.Enable, cdp.Empty{}))
	return b
}

func (b *browser) complain(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, what)
}

// quiet is that there were no errors, and no requests to anywhere.
func (b *browser) quiet(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		t.Error(c)
	}
}

func (b *browser) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// open opens a page anew and waits until its chart is drawn.
func (b *browser) open(t *testing.T, file string) {
	t.Helper()
	b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate("file://"+file), chromedp.WaitReady(`html[data-drawn="yes"]`))
}

// ask gets a value from the page.
func ask[T any](t *testing.T, b *browser, action chromedp.Action[T]) T {
	t.Helper()
	value, err := chromedp.Run(b.ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func save(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, target, c, params)
		return chromedp.Void{}, err
	}
}

func colors(scheme string) chromedp.Action[chromedp.Void] {
	return command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}
