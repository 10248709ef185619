package main

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

func setMedia(ctx context.Context, target *chromedp.Target, params emulation.SetEmulatedMediaParams) (chromedp.Void, error) {
	_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, params)
	return chromedp.Void{}, err
}
