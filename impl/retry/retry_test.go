package retry

import (
	"errors"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

type shown map[string]time.Duration

func (s shown) Set(what string, tried time.Duration) { s[what] = tried }
func (s shown) Delete(what string)                   { delete(s, what) }

func TestTroubles_TellWhatHasFailedForTheLongestTime(t *testing.T) {
	c, gauge := clocktesting.NewFakePassiveClock(time.Unix(0, 0)), shown{}
	troubles := New(c, gauge)
	if err := troubles.Longest(); err != nil {
		t.Errorf("nothing has failed, and it tells %v", err)
	}
	refused := errors.New("refused")
	troubles.Failed("join", refused)
	c.SetTime(time.Unix(3, 0))
	troubles.Failed("publish", errors.New("other"))
	if n := troubles.Failed("join", refused); n != 2 || gauge["join"] != 3*time.Second || gauge["publish"] != 0 {
		t.Errorf("%d attempts, shown as %v", n, gauge)
	}
	if err := troubles.Longest(); !errors.Is(err, refused) || err.Error() != "join has failed 2 times in 3s: refused" {
		t.Errorf("got %v", err)
	}
	troubles.Over("join")
	troubles.Over("join")
	if _, still := gauge["join"]; still || errors.Is(troubles.Longest(), refused) {
		t.Error("what is over is shown")
	}
}
