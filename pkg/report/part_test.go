package report

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
)

// A part without a requirement is told apart from one in which nothing was judged.
func TestPart_InWords(t *testing.T) {
	for want, counts := range map[string]map[check.Verdict]int{
		"no requirement has this level": {},
		"2 skipped":                     {check.Skipped: 2},
		"1 pass, 2 skipped":             {check.Pass: 1, check.Skipped: 2},
	} {
		if got := (Part{Counts: counts}).InWords(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
