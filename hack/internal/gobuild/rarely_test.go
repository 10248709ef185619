package gobuild

import (
	"slices"
	"testing"
)

func TestRarelyKeepsWhatIsSet(t *testing.T) {
	for _, tc := range []struct{ given, want []string }{
		{nil, []string{"GOGC=800", "GOMEMLIMIT=4GiB"}},
		{[]string{"GOGC=50", "X=1"}, []string{"GOGC=50", "X=1", "GOMEMLIMIT=4GiB"}},
		{[]string{"GOGCX=1", "GOMEMLIMIT=off"}, []string{"GOGCX=1", "GOMEMLIMIT=off", "GOGC=800"}},
	} {
		if got := Rarely(tc.given); !slices.Equal(got, tc.want) {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
