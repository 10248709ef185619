package report

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
)

// A part without a requirement is not told of, and a part in which nothing was judged is.
func TestProfile_InWords(t *testing.T) {
	core := Part{Success, map[check.Verdict]int{check.Pass: 1, check.Skipped: 2}}
	for want, extended := range map[string]Part{
		"core *success* (1 pass, 2 skipped)":                                 {Success, map[check.Verdict]int{}},
		"core *success* (1 pass, 2 skipped), extended *partial* (2 skipped)": {Partial, map[check.Verdict]int{check.Skipped: 2}},
	} {
		if got := (Profile{Core: core, Extended: extended}).InWords("*"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
