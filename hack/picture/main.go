// Command picture takes the picture of README.md: the page that a run leaves, made from a
// published bundle, with the browser that hack/chromium.sh installs.
//
//	go run ./hack/picture -bundle reports/kubernetes/local-v1.35.4-to-v1.36.3 -out reports/page.png
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

const (
	// width of the picture in CSS pixels; README.md is about as wide on a large screen.
	width = 1280
	// height is how much of the page is shown, from its top.
	height = 1150
	// sizeBound is how large README.md may make its picture, in bytes.
	sizeBound = 200_000
	// drawWithin is when a browser that does not draw the page is given up.
	drawWithin = 2 * time.Minute
)

// browsers are the programs that hack/chromium.sh accepts.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "headless-shell", "chrome-headless-shell"}

// closeCards folds all requirements, so that the chart comes into the picture.
const closeCards = `document.querySelectorAll("details.card").forEach(card => card.open = false), true`

func main() {
	bundle := flag.String("bundle", "reports/kubernetes/local-v1.35.4-to-v1.36.3", "the bundle whose page is shown")
	out := flag.String("out", "reports/page.png", "the picture to write")
	evenkeel := flag.String("evenkeel", "bin/evenkeel", "the evenkeel that makes the page")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), drawWithin)
	defer cancel()
	if err := run(ctx, *evenkeel, *bundle, *out); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, evenkeel, bundle, out string) (err error) {
	browser, err := find()
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "evenkeel-picture-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	page := filepath.Join(work, "page.html")
	if said, err := exec.CommandContext(ctx, evenkeel, "timeline", bundle, "--out", page).CombinedOutput(); err != nil {
		return fmt.Errorf("%s timeline %s: %w: %s (run `make build` first)", evenkeel, bundle, err, said)
	}
	shot, err := capture(ctx, browser, work, page)
	if err != nil {
		return err
	}
	picture, err := shrink(shot)
	if err != nil {
		return err
	}
	if len(picture) > sizeBound {
		return fmt.Errorf("the picture of %s takes %d bytes, and may take %d: show less of the page", bundle, len(picture), sizeBound)
	}
	if err := os.WriteFile(out, picture, 0o600); err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes\n", out, len(picture))
	return nil
}

func find() (string, error) {
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no Chromium on this machine: run hack/chromium.sh as root on Debian, or install one")
}

// capture gives the top of the page in light colors, as PNG.
func capture(ctx context.Context, browser, work, page string) ([]byte, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.UserDataDir(filepath.Join(work, "profile")))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which Chromium demands of root
	}
	ctx, end := chromedp.NewExecAllocator(ctx, options...)
	defer end()
	ctx, end = chromedp.NewContext(ctx)
	defer end()
	if err := chromedp.Do(ctx,
		chromedp.EmulateViewport(width, height),
		light(),
		chromedp.Navigate("file://"+page),
		chromedp.WaitReady(`html[data-drawn="yes"]`),
	); err != nil {
		return nil, err
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](closeCards)); err != nil {
		return nil, err
	}
	return chromedp.Run(ctx, chromedp.CaptureScreenshot())
}

// light has the page drawn in light colors, whatever the machine prefers.
func light() chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		return setMedia(ctx, target, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}},
		})
	}
}
