package site

import "testing"

// No page lies in the folder of a campaign's bundles, or the campaign would not verify on the site.
func TestPagesOfACampaignsRunsLieBesideThem(t *testing.T) {
	for path, want := range map[string]string{
		".": "run.html", "kubernetes/local": "kubernetes/local.html", "runs/00001-quick-1": "pages/00001-quick-1.html",
		"vendor/plane/runs/00001-quick-1": "vendor/plane/pages/00001-quick-1.html",
	} {
		if got := runPage(&Run{Path: path}); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
