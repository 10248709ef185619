// Package browsertest opens pages in a headless Chromium, for tests of what is made for a
// browser.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
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
)

const (
	// patience is how long a test waits for the browser.
	patience = 2 * time.Minute
	// PhoneWidth is that of a phone, in CSS pixels.
	PhoneWidth = 390
	// PhoneHeight is that of a phone, in CSS pixels.
	PhoneHeight = 844
	// Settle is how long a page has to react to a key.
	Settle = 300 * time.Millisecond
)

// Browser is a headless one, and what it complained of.
type Browser struct {
	ctx context.Context

	mu         sync.Mutex
	complaints []string
}

// Browse starts a browser. A machine without one skips the test, and says so.
func Browse(t *testing.T) *Browser {
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
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	b := &Browser{}
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
	b.Do(t, command(network.Enable, network.EnableParams{}), command(log.Enable, cdp.Empty{}))
	return b
}

func (b *Browser) complain(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, what)
}

// Quiet demands that there were no errors, and no requests to anywhere.
func (b *Browser) Quiet(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		t.Error(c)
	}
}

// Do acts in the page.
func (b *Browser) Do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// Ask gets a value from the page.
func Ask[T any](t *testing.T, b *Browser, action chromedp.Action[T]) T {
	t.Helper()
	value, err := chromedp.Run(b.ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, target, c, params)
		return chromedp.Void{}, err
	}
}

// Colors has the page think that the user prefers light or dark colors.
func Colors(scheme string) chromedp.Action[chromedp.Void] {
	return command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}
