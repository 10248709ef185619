package history

import (
	"testing"
	"time"
)

func TestNotReached_Sentence(t *testing.T) {
	for _, tc := range []struct {
		of     NotReached
		member string
		want   string
	}{
		{NotReached{Step: 4, Action: "upgrade", Awaited: AwaitedReady, Component: ComponentAPIServer, Bound: int64(3 * time.Minute), Message: "/readyz answered 500"}, "cp2",
			"step 4 (upgrade): cp2 apiserver ready not reached within 3m0s: /readyz answered 500"},
		{NotReached{Action: "boot", Awaited: AwaitedService, Message: "no member serves"}, "", "boot: service not reached: no member serves"},
	} {
		if got := tc.of.Sentence(tc.member); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}
